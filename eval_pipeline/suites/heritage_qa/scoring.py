"""Scoring an answer: how close it is to the golden one, whether its context supports it, and its truth."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

import eval_pipeline.suite as kit
from eval_pipeline.language.accuracy import default_accuracy
from eval_pipeline.language.embedder import default_embedder, similarity
from eval_pipeline.metrics.rates import ratio
from eval_pipeline.metrics.rouge import Rouge, rouge
from eval_pipeline.metrics.text import normalize, word_count
from eval_pipeline.suites.heritage_qa.cases import QuestionCase, QuestionExpected
from eval_pipeline.suites.heritage_qa.claims import (
    ENOUGH,
    MOST_SENTENCES,
    Claim,
    Evidence,
    affirms,
    agrees,
    capitalized_inside,
    claims_in,
    joined_names,
    kept_pairs,
    read,
)
from eval_pipeline.suites.heritage_qa.lexicon import is_refusal

FAITHFUL = 0.8
"""From here on a case counts as faithful."""
CLAIMS = "claims"
CLAIM_KINDS = ("correct", "incorrect", "unverifiable", "supported", "unsupported")
ORDERED = 0.5
"""Below it the words of an answer are scrambled: of right paraphrases none is, of shuffled answers 98 %."""


class Answered(msgspec.Struct, frozen=True):
    """The output contract."""

    answer: str
    context: list[str] | None = None
    """The passages that the answer was written from; the case's own where it is left out."""


class Similarities(NamedTuple):
    """What the embedder says of a batch: one value for each item."""

    to_golden: kit.Values
    to_question: kit.Values
    golden_to_question: kit.Values


def annotate(items: Sequence[kit.Item], context: kit.Context) -> Similarities:
    """Similarity of every answer, golden answer and question to each other, from one batch of vectors."""
    answers = [item.output.answer for item in items]
    golden = [item.case.expected.answer for item in items]
    questions = [item.case.input.question for item in items]
    vectors = default_embedder().embed([*answers, *golden, *questions])
    given, wanted, asked = np.split(vectors, 3)
    return Similarities(similarity(given, wanted), similarity(given, asked), similarity(wanted, asked))


def is_answerable(case: kit.Case[Any, Any]) -> bool:
    """Whether the context holds the answer."""
    return bool(case.expected.answerable)


of_answerable = partial(kit.mean, population=is_answerable)

METRICS = (
    kit.mean("rouge1", "F1 of the words that answer and golden answer share."),
    kit.mean("rouge2", "F1 of the pairs of neighbouring words that both share."),
    kit.mean("rougeL", "F1 of the longest sequence of words that both share."),
    kit.mean(
        "semantic_similarity", "Cosine of the embeddings of answer and golden answer, clipped to [0, 1]."
    ),
    kit.mean(
        "faithfulness",
        "Sentences of the answer that one passage supports (60 % of the content words, every number, date "
        "and name, and nothing denied that it affirms) ÷ sentences; one that restates the golden answer is "
        "supported by the passages that this was drawn from. Null for a correct refusal, 0 for a wrong one.",
        explained_by="unsupported",
    ),
    of_answerable(
        "relevance",
        "Cosine of the embeddings of question and answer, clipped to [0, 1]; 0 for a refusal. "
        "Over answerable questions.",
    ),
    of_answerable(
        "relevance_index",
        "Relevance ÷ the relevance of the golden answer, at most 1; 1 for an answer that is no longer than "
        "the golden one and holds 60 % of what that adds to the question. Over answerable questions.",
    ),
    kit.mean(
        "factual_accuracy",
        "Claims that add something to the question and that a golden fact (with question and golden answer) "
        "bears out ÷ verifiable claims; 0 without any. A refusal is right where the question is "
        "unanswerable, and nowhere else.",
        explained_by="incorrect",
    ),
    kit.mean(
        "word_order",
        "Neighbouring words that stand side by side in question, golden answer, facts or a passage ÷ those "
        "of which both words stand there; undefined without any. Shuffled words have about 0.2.",
        explained_by="scrambled",
    ),
    kit.mean(
        "refusal_accuracy",
        "Unanswerable questions refused and answerable ones answered ÷ questions; a blank answer is neither.",
        explained_by="refusal",
    ),
)

EMBEDDER = kit.Model(
    default_embedder().name,
    ("semantic_similarity", "relevance", "relevance_index"),
    lambda: kit.Measured(default_accuracy().accuracy, default_accuracy().told),
)


class Judgement(NamedTuple):
    """What can be said of an answer without a model."""

    refused: bool
    faithfulness: float | None
    factual_accuracy: float
    diagnoses: list[kit.Diagnosis]
    answers: bool = False
    """Whether it holds most of what the golden answer adds to the question, in no more words."""
    word_order: float | None = None
    claims: Mapping[str, int] = {}
    """How many there are of each kind."""


def score(items: Sequence[kit.Item], context: kit.Context) -> kit.Batch:
    """The counts of a batch."""
    judged = [judge(item.case, item.output, _is_founded(item.case, item.output)) for item in items]
    return counted(items, judged, context)


def counted(items: Sequence[kit.Item], judgements: Sequence[Judgement], context: kit.Context) -> kit.Batch:
    """The counts of a batch of answers that were judged."""
    likeness: Similarities = context.annotations
    overlap = rouge([item.output.answer for item in items], [item.case.expected.answer for item in items])
    rows: list[dict[str, float]] = []
    diagnoses: list[tuple[int, kit.Diagnosis]] = []
    keyed: list[tuple[int, kit.KeyedCount]] = []
    for index, (item, judged) in enumerate(zip(items, judgements, strict=True)):
        asked = item.case.attributes.get("question_type", "")
        keyed += [
            (index, kit.KeyedCount(CLAIMS, asked, kind, count)) for kind, count in judged.claims.items()
        ]
        answerable, said = is_answerable(item.case), bool(item.output.answer.strip())
        relevance = 0.0 if judged.refused else float(likeness.to_question[index])
        compared = ratio(relevance, float(likeness.golden_to_question[index])) or 0.0
        relative = 1.0 if judged.answers else min(1.0, compared)
        rows.append(
            kit.mean_counts(
                {
                    **{name: float(getattr(overlap, name)[index]) for name in Rouge._fields},
                    "semantic_similarity": float(likeness.to_golden[index]),
                    "faithfulness": judged.faithfulness,
                    "relevance": relevance if answerable else None,
                    "relevance_index": relative if answerable else None,
                    "factual_accuracy": judged.factual_accuracy,
                    "word_order": judged.word_order,
                    "refusal_accuracy": float(said and judged.refused != answerable),
                }
            )
        )
        diagnoses += [(index, each) for each in judged.diagnoses]
    counts = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return kit.Batch(counts, keyed, diagnoses)


def judge(case: QuestionCase, output: Answered, founded: bool) -> Judgement:
    """Check every sentence of an answer against its context and the golden facts.

    `founded` says whether the passages that the golden answer was drawn from are among those of the context.
    """
    expected = case.expected
    if is_refusal(output.answer):
        if not expected.answerable:
            return Judgement(True, None, 1.0, [])
        return Judgement(True, 0.0, 0.0, [kit.Diagnosis("refusal", expected.answer, output.answer)])
    context = case.input.context if output.context is None else output.context
    claims = _claims_of(case, output.answer)
    if len(claims) > MOST_SENTENCES:
        return Judgement(False, 0.0, 0.0, [kit.Diagnosis("too_long", expected.answer, output.answer)])
    unsupported = _unsupported(case, claims, context, founded)
    verifiable, incorrect = _check_facts(case, claims)
    diagnoses = [kit.Diagnosis("unsupported", "", claim.text) for claim in unsupported]
    diagnoses += [kit.Diagnosis("incorrect", expected.answer, claim.text) for claim in incorrect]
    if not expected.answerable:
        diagnoses.append(kit.Diagnosis("refusal", expected.answer, output.answer))
    sources = [case.input.question, expected.answer, *expected.facts, *context]
    word_order = kept_pairs(output.answer, sources, case.input.language)
    if word_order is not None and word_order < ORDERED:
        diagnoses.append(kit.Diagnosis("scrambled", expected.answer, output.answer))
    return Judgement(
        False,
        ratio(len(claims) - len(unsupported), len(claims)) or 0.0,
        ratio(len(verifiable) - len(incorrect), len(verifiable)) or 0.0,
        diagnoses,
        expected.answerable and _answers(case, output.answer),
        word_order,
        {
            "correct": len(verifiable) - len(incorrect),
            "incorrect": len(incorrect),
            "unverifiable": len(claims) - len(verifiable),
            "supported": len(claims) - len(unsupported),
            "unsupported": len(unsupported),
        },
    )


def claim_rows(table: kit.KeyedSums) -> kit.Rows:
    """How many claims of each kind there are, by what was asked, and all together."""
    kinds = {name: table.column(name)[0].tolist() for name in CLAIM_KINDS}

    def told(name: str, counts: Mapping[str, float]) -> dict[str, str | int]:
        total = int(counts["supported"] + counts["unsupported"])
        return {"question_type": name, "claims": total, **{kind: int(counts[kind]) for kind in CLAIM_KINDS}}

    by_question = [
        told(name, {kind: values[row] for kind, values in kinds.items()})
        for row, name in enumerate(table.row_keys)
    ]
    return [*by_question, told("all", {kind: sum(values) for kind, values in kinds.items()})]


def _is_founded(case: QuestionCase, output: Answered) -> bool:
    """Whether an answer was given the passages of the case, or others in which every golden fact stands."""
    if output.context is None:
        return True
    passages = [normalize(passage) for passage in output.context]
    return all(any(normalize(fact) in passage for passage in passages) for fact in case.expected.facts)


def _claims_of(case: QuestionCase, answer: str) -> Sequence[Claim]:
    texts = [case.input.question, case.expected.answer, *case.expected.facts, *case.input.context]
    return claims_in(answer, case.input.language, capitalized_inside(texts, case.input.language))


def rests_on_context(case: QuestionCase, answer: str, founded: bool) -> bool:
    """Whether the passages of a case support every sentence of an answer."""
    claims = _claims_of(case, answer)
    return bool(claims) and not _unsupported(case, claims, case.input.context, founded)


def _unsupported(
    case: QuestionCase, claims: Sequence[Claim], context: Sequence[str], founded: bool
) -> list[Claim]:
    """The claims that no passage bears out.

    What the golden answer infers from its passages, such as a sum or a translation, stands in none of them.
    Where they were given, a claim that restates a sentence of it is supported as well, if it says more than
    the question, and if nothing in the answer speaks against the golden one.
    """
    language, golden = case.input.language, case.expected.answer
    left = [claim for claim in claims if not any(_bears_out(passage, claim, language) for passage in context)]
    if not (left and founded and case.expected.answerable):
        return left
    inferred = _claims_of(case, golden)
    if not all(agrees(claim, inferred) for claim in claims):
        return left
    question = Evidence.of(case.input.question, language)
    news = Evidence.of(golden, language).terms - question.terms
    return [
        claim
        for claim in left
        if not (any(map(claim.restates, inferred)) and _adds(claim, case, golden, news))
    ]


def _bears_out(passage: str, claim: Claim, language: str) -> bool:
    """Whether a passage supports a claim and does not say the opposite where it speaks of the same."""
    return Evidence.of(passage, language).supports(claim) and agrees(claim, claims_in(passage, language))


def _check_facts(case: QuestionCase, claims: Sequence[Claim]) -> tuple[list[Claim], list[Claim]]:
    """The claims that can be verified, and those of them that no golden fact bears out."""
    language, expected = case.input.language, case.expected
    if not expected.answerable:
        return list(claims), list(claims)
    known = _golden_claims(expected, language)
    topics = frozenset().union(*(each.content for each in known))
    verifiable = [claim for claim in claims if claim.anchors or claim.content & topics]
    question, golden = (Evidence.of(text, language) for text in (case.input.question, expected.answer))
    told = [(fact, golden | Evidence.of(fact, language)) for fact in expected.facts]
    evidence = [(fact, each | question, each.terms - question.terms) for fact, each in told]
    incorrect = [
        claim
        for claim in verifiable
        if not any(whole.supports(claim) and _adds(claim, case, fact, news) for fact, whole, news in evidence)
        or not agrees(claim, known)
    ]
    return verifiable, incorrect


def _adds(claim: Claim, case: QuestionCase, fact: str, news: frozenset[str]) -> bool:
    """Whether a claim says more than its question.

    That is something of the fact, a name made of the question's own words, a yes where that is the answer,
    or a no.
    """
    question, answer, language = case.input.question, case.expected.answer, case.input.language
    if not claim.terms.isdisjoint(news) or claim.negated != read(question, language).denies:
        return True
    named = joined_names(claim.text) & (joined_names(fact) | joined_names(answer))
    return bool(named - joined_names(question)) or (
        affirms(claim.text, language) and affirms(answer, language)
    )


def _answers(case: QuestionCase, answer: str) -> bool:
    """Whether an answer holds most of what the golden one adds to the question, in no more words."""
    language = case.input.language
    if word_count(answer) > word_count(case.expected.answer):
        return False
    golden = frozenset().union(*(claim.terms for claim in claims_in(case.expected.answer, language)))
    wanted = golden - Evidence.of(case.input.question, language).terms
    held = wanted & Evidence.of(answer, language).terms
    return bool(wanted) and len(held) >= ENOUGH * len(wanted)


def _golden_claims(expected: QuestionExpected, language: str) -> list[Claim]:
    return [claim for text in (expected.answer, *expected.facts) for claim in claims_in(text, language)]


def case_passes(sums: kit.Sums) -> NDArray[np.bool_]:
    """A case passes when its claims are true, supported and in order, or when it rightly refuses."""
    faithful = (sums[kit.defined("faithfulness")] == 0) | (sums["faithfulness"] >= FAITHFUL)
    ordered = (sums[kit.defined("word_order")] == 0) | (sums["word_order"] >= ORDERED)
    return np.asarray((sums["factual_accuracy"] >= 1) & faithful & ordered, dtype=np.bool_)
