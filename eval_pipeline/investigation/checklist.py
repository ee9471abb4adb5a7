"""The checklist: every question that somebody who investigates would ask, answered from the data."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from eval_pipeline.investigation.circumstances import Found, circumstances_of, concentrations
from eval_pipeline.investigation.hypotheses import (
    Material,
    counts_text,
    failing_cases,
    failing_everywhere,
    shown_p,
)
from eval_pipeline.investigation.observations import Diagnosed, Observation
from eval_pipeline.investigation.records import (
    GROUP,
    LABEL,
    LENGTH,
    POSITION,
    TRIAL,
    Hypothesis,
    Question,
    Section,
)
from eval_pipeline.investigation.vocabulary import kind_of, role_of
from eval_pipeline.metrics.text import normalize, occurs_as_words, words
from eval_pipeline.numbers import counted
from eval_pipeline.suite import Role

MOST_EXAMPLES = 6
MOST_KINDS = 6
LESS = 2 / 3
"""Another version that makes so much less of a mistake knows something that this one does not."""
LONGEST_LABEL = 4
"""Words; what differs in more is no label."""
FEWEST = 5
"""From fewer mistakes nobody can tell."""
CANNOT_TELL = "Cannot tell"

WRONG: dict[str, Role] = {
    "Is the direction reversed?": "reversed",
    "Are the ends right, and only the label wrong?": "mislabelled",
}

Rows = Sequence[tuple[str, Diagnosed]]
"""Case and mistake."""


def checklist_of(material: Material, hypotheses: Sequence[Hypothesis]) -> list[Section]:
    """Every section whose questions arise in the suite."""
    made = _Made(material)
    sections = (
        ("Missing", _missing(made)),
        ("Invented", _invented(made)),
        ("Wrong label or direction", _wrong(made)),
        ("Quotes and evidence", _quotes(made)),
        ("Form", _form(made)),
        ("Golden cases", _golden(made)),
        ("What failures share", _shared(made, hypotheses)),
    )
    return [Section(title, questions) for title, each in sections if (questions := tuple(each))]


class _Made:
    """The mistakes of failing answers, by role."""

    def __init__(self, material: Material) -> None:
        self.material = material
        self.failing = [each for each in material.failing if not each.error]
        kinds = material.vocabulary.kinds.values()
        everything = [material.observations, *(other.observations for other in material.others)]
        self.roles = {kind.role for kind in kinds} | {
            role_of(material.vocabulary, row)
            for some in everything
            for each in some
            for row in each.diagnoses
        }

    def rows(self, *roles: Role) -> Rows:
        return [
            (each.case_id, row)
            for each in self.failing
            for row in each.diagnoses
            if role_of(self.material.vocabulary, row) in roles
        ]

    def arises(self, *roles: Role) -> bool:
        return bool(self.roles & {*roles})

    def which(self, *roles: Role) -> tuple[str, tuple[str, ...]]:
        """How many there are, of which kinds, and which were met in most cases."""
        rows = self.rows(*roles)
        if not rows:
            return "None, in the answers that fail.", ()
        kinds = Counter(row.kind for _, row in rows)
        answers = sum(any(row.kind in kinds for row in each.diagnoses) for each in self.failing)
        named = [
            f"{times:,} × {kind_of(self.material.vocabulary, kind).words}"
            for kind, times in kinds.most_common(MOST_KINDS)
        ]
        head = (
            f"{len(rows):,} in {answers:,} of {counted(len(self.failing), 'failing answer')} that can be read"
        )
        return f"{head}: {'; '.join(named)}.", _most_met(rows)

    def rate(self, observations: Iterable[Observation], *roles: Role) -> float | None:
        """How many there are in an answer, on average."""
        usable = [each for each in observations if not each.error]
        vocabulary = self.material.vocabulary
        total = sum(role_of(vocabulary, row) in roles for each in usable for row in each.diagnoses)
        return total / len(usable) if usable else None


def _most_met(rows: Rows) -> tuple[str, ...]:
    """The things that were met in most cases, with how many."""
    cases: dict[str, set[str]] = {}
    for case_id, row in rows:
        both = f"{row.expected} (got {row.got})" if row.expected and row.got else row.expected or row.got
        cases.setdefault(both, set()).add(case_id)
    ordered = sorted(cases.items(), key=lambda each: (-len(each[1]), each[0]))
    return tuple(
        f"{what} ({counted(len(some), 'case')})" if len(some) > 1 else f"{next(iter(some))}: {what}"
        for what, some in ordered[:MOST_EXAMPLES]
    )


def _missing(made: _Made) -> Iterator[Question]:
    if not made.arises("missed", "unlinked", "refused"):
        return
    yield Question("What was missed?", *made.which("missed", "unlinked", "refused"))
    if not made.rows("missed", "unlinked", "refused"):
        return
    rows = made.rows("missed")
    if rows and made.material.vocabulary.wanted:
        stated, unstated = _stated(made, rows)
        share = f"{len(stated):,} of {len(stated) + len(unstated):,}"
        yield Question("Does it stand in the text, word for word?", f"{share} do.", _most_met(stated)[:3])
        told = f"{len(unstated):,} do not stand there word for word, under no name that the golden set knows."
        yield Question("Is it implied, but not stated?", told, _most_met(unstated)[:3])
    yield Question(
        "Is the prompt too narrow?", _against_others(made, "miss", "missed", "unlinked", "refused")
    )
    several = [each for each in _most_met(made.rows("missed", "unlinked")) if each.endswith("cases)")]
    told = (
        "Perhaps: the same is missed in several cases."
        if several
        else "Cannot tell: nothing is missed twice."
    )
    yield Question("Would an example in the prompt help?", told, tuple(several[:3]))


def _stated(made: _Made, rows: Rows) -> tuple[Rows, Rows]:
    """What stands in the text of its case word for word, and what does not."""
    facts = made.material.facts
    forms = {
        (case_id, wanted.name): wanted.forms
        for case_id in {case_id for case_id, _ in rows}
        if case_id in facts
        for wanted in facts[case_id].wanted
    }
    texts = {case_id: normalize(facts[case_id].text) for case_id, _ in rows if case_id in facts}
    stated: list[tuple[str, Diagnosed]] = []
    unstated: list[tuple[str, Diagnosed]] = []
    for case_id, row in rows:
        known = forms.get((case_id, row.expected), (row.expected,))
        stands = any(occurs_as_words(normalize(form), texts.get(case_id, "")) for form in known if form)
        (stated if stands else unstated).append((case_id, row))
    return stated, unstated


def _against_others(made: _Made, verb: str, *roles: Role) -> str:
    """Whether other versions make less of a mistake."""
    own = made.rate(made.material.observations, *roles) or 0.0
    rates = [
        (rate, other.label)
        for other in made.material.others
        if (rate := made.rate(other.observations, *roles)) is not None
    ]
    if not rates:
        return f"{CANNOT_TELL}: no other version was evaluated on this golden set."
    if len(made.rows(*roles)) < FEWEST:
        return f"{CANNOT_TELL}: there are too few of them."
    told = ", ".join(f"{label} {rate:.1f}" for rate, label in sorted(rates))
    best = min(rate for rate, _ in rates)
    head = "No sign of it"
    if own > 0 and best <= LESS * own:
        head = f"Likely: others {verb} less"
    return f"{head}. In an answer on average: {own:.1f} here; {told}."


def _invented(made: _Made) -> Iterator[Question]:
    if not made.arises("invented", "forbidden"):
        return
    yield Question("What was invented?", *made.which("invented", "forbidden"))
    if not made.rows("invented", "forbidden"):
        return
    if made.arises("forbidden"):
        yield Question("Is it on the forbidden list?", *made.which("forbidden"))
    rows = made.rows("invented")
    if rows and made.material.vocabulary.text:
        yield Question("Is it a plausible inference from the text?", _plausible(made, rows))
    yield Question("Is the prompt too permissive?", _against_others(made, "invent", "invented", "forbidden"))
    yield Question("Is the temperature too high?", _temperature(made.material))


def _plausible(made: _Made, rows: Rows) -> str:
    """How much of what was invented is made of the words of the text."""
    facts = made.material.facts
    known = {facts[case_id].text for case_id, _ in rows if case_id in facts}
    words_of = {text: _distinct_words(text) for text in known}  # many cases may share a long text
    texts = {case_id: words_of[facts[case_id].text] for case_id, _ in rows if case_id in facts}
    shares = []
    for case_id, row in rows:
        own = _words(row.got)
        shares.append(sum(word in texts.get(case_id, ()) for word in own) / len(own) if own else 0.0)
    whole, none = sum(share == 1 for share in shares), sum(share == 0 for share in shares)
    rest = len(shares) - whole - none
    return (
        f"Of {len(shares):,}: {whole:,} use words of the text only, {rest:,} in part, {none:,} none of them."
    )


def _words(text: str) -> list[str]:
    return [normalize(word.text) for word in words(text)]


def _distinct_words(text: str) -> set[str]:
    return set(map(normalize, {word.text for word in words(text)}))


def _temperature(material: Material) -> str:
    trials = {each.trial for each in material.observations}
    if not material.varies:
        return "No: this engine gives the same answer every time."
    if len(trials) < 2:
        return f"{CANNOT_TELL} from one trial. Run it with --trials 3."
    failing = {each.case_id for each in material.failing}
    passing = {each.case_id for each in material.observations if not each.fails}
    both = len(failing & passing)
    head = "Perhaps" if 2 * both >= len(failing) else "No sign of it"
    return f"{head}: {both:,} of {counted(len(failing), 'failing case')} pass in another trial."


def _wrong(made: _Made) -> Iterator[Question]:
    if not made.arises("mislabelled", "reversed"):
        return
    yield Question("What was wrong?", *made.which("mislabelled", "reversed"))
    if not made.rows("mislabelled", "reversed"):
        return
    if made.arises("reversed"):
        for question, role in WRONG.items():
            told, examples = made.which(role)
            yield Question(question, told, examples[:3])
    rows = made.rows("mislabelled")
    pairs = Counter(pair for _, row in rows if (pair := _confusion(row)))
    if not pairs:
        return
    often = [f"{one} → {other}: {times:,} times" for (one, other), times in pairs.most_common(5) if times > 1]
    told = f"{CANNOT_TELL}: no two labels are confused twice."
    if often:
        told = "Look at those that are confused most; an example of each beside the other may help."
    yield Question("Are the definitions of labels clear enough? Would examples help?", told, tuple(often))


def _confusion(row: Diagnosed) -> tuple[str, str] | None:
    """The words in which what was expected and what was got differ, where these are few: the labels."""
    one, other = row.expected.split(), row.got.split()
    first = [word for word in one if word not in other]
    second = [word for word in other if word not in one]
    few = all(0 < len(each) <= LONGEST_LABEL for each in (first, second))
    return (" ".join(first), " ".join(second)) if few else None


def _quotes(made: _Made) -> Iterator[Question]:
    roles: tuple[Role, ...] = ("unquoted", "paraphrased", "made_up")
    if not made.arises(*roles):
        return
    yield Question("What lacks evidence?", *made.which("unquoted"))
    if not made.rows(*roles):
        return
    if made.arises("paraphrased", "made_up"):
        yield Question("Are quotes shortened or put in other words?", *made.which("paraphrased"))
        yield Question("Are quotes made up?", *made.which("made_up"))
    facts = made.material.facts
    lengths = {
        fails: [
            len(facts[each.case_id].text.split())
            for each in made.material.observations
            if each.fails == fails and each.case_id in facts
        ]
        for fails in (True, False)
    }
    if all(lengths.values()) and made.material.vocabulary.text:
        told = (
            f"The texts of failing answers have {median(lengths[True]):,.0f} words in the middle, those of "
            f"passing ones {median(lengths[False]):,.0f}."
        )
        yield Question("Is the text detailed enough?", told)
    yield Question("Is the instruction for quoting clear?", _against_others(made, "fail in that", *roles))


def _form(made: _Made) -> Iterator[Question]:
    if made.rows("form"):
        yield Question("Which rules of form are broken?", *made.which("form"))


def _golden(made: _Made) -> Iterator[Question]:
    material = made.material
    suspects = sorted(failing_everywhere(material))
    others = material.others
    engines = {material.engine, *(other.engine for other in others)}
    if len(others) < 2:
        told = (
            f"{CANNOT_TELL}: {counted(len(others), 'other evaluation')} of this golden set, two are needed."
        )
    else:
        all_ = counted(len(failing_cases(material.observations)), "failing case")
        told = f"{len(suspects):,} of {all_} fail in all of {counted(len(others), 'other evaluation')}, too"
        told += f" ({counted(len(engines), 'engine')} in all)."
    yield Question(
        "Does every version and engine fail the same cases?", told, tuple(suspects[:MOST_EXAMPLES])
    )
    if made.arises("alias"):
        answer, examples = made.which("alias")
        yield Question("Are names missing that should count, too?", answer, examples)
    alike = _agreed(made, suspects)
    told = f"In {len(alike):,} of {counted(len(suspects), 'suspect case')} all give the same other answer."
    if suspects:
        yield Question("Is the text ambiguous, or the expectation wrong?", told, tuple(alike[:MOST_EXAMPLES]))
    told = "Let a person decide on the cases above." if suspects and len(engines) > 1 else f"{CANNOT_TELL}."
    if len(engines) == 1:
        told = f"{CANNOT_TELL}: one engine only; a hard case and a wrong one look alike."
    yield Question("Should the golden set be changed?", told)


def _agreed(made: _Made, suspects: Sequence[str]) -> list[str]:
    """What all evaluations give instead of what the golden set expects."""
    everything = [made.material.observations, *(other.observations for other in made.material.others)]
    found = []
    for case_id in suspects:
        given = [
            {row.got for each in some if each.case_id == case_id for row in each.diagnoses if row.got}
            for some in everything
        ]
        if common := set.intersection(*given):
            found.append(f"{case_id}: {min(common)}")
    return found


def _shared(made: _Made, hypotheses: Sequence[Hypothesis]) -> Iterator[Question]:
    material = made.material
    places = circumstances_of(material.facts, material.observations)
    keys = frozenset((each.case_id, each.trial) for each in material.failing)
    found = concentrations(places, material.observations, keys)
    for name, begins in (("a group", GROUP), ("a length", LENGTH), ("a trial", TRIAL)):
        looked = [place for place in places if place.cause.startswith(begins)]
        own = [one for one in found if one.circumstance.cause.startswith(begins)]
        yield Question(f"Do failures share {name}?", _whether(own, len(looked)))
    for name, begins in (("position in the text", POSITION), ("label", LABEL)):
        parts = [line for each in hypotheses if each.cause.startswith(begins) for line in each.evidence]
        told = f"{'; '.join(parts)}." if parts else "No more than chance explains."
        if not material.vocabulary.wanted:
            told = "Does not apply: what is expected is no part of the text."
        yield Question(f"Does what was missed share a {name}?", told)
    errors = Counter(each.error for each in material.failing if each.error)
    told = "; ".join(f"{times:,} × {kind}" for kind, times in errors.most_common())
    yield Question("Do failures share an error?", f"{told}." if told else "No answer is an error.")


def _whether(found: Sequence[Found], looked: int) -> str:
    if not looked:
        return "Does not apply: there is no second one."
    if not found:
        return f"No more than chance explains ({looked:,} were looked at)."
    return "; ".join(f"{counts_text(one)} (p {shown_p(one)})" for one in found) + "."
