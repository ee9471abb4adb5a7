"""Words of the four languages that claims are read with: function words, negations, months, refusals."""

from __future__ import annotations

from eval_pipeline.metrics.text import normalize

_FUNCTION_WORDS = {
    "nl": """
        aan al alle als bij bijna dan dat de deze die dit door een en er eén geen haar had hebben heeft
        het hij hoe hun in is ja je kan kon kunnen maar meer men met na naar niet nog nu of om onder ook
        op over reeds sinds te tegen ten ter toen tot tussen uit uw van vanaf veel via voor waar waarin
        waarom wanneer want waren was wat we wel welk welke werd werden wie wij worden wordt ze zich zij
        zijn zo zoals zou zowel
    """,
    "en": """
        a about after all also although an and any are as at be became because been before being both
        but by can could did do does during each for from had has have he her his how i if in into is it
        its more most much no not of on once only or other our out over own she so some such than that
        the their them then there these they this those to under until up was we were what when where
        which while who whom whose why will with would yes you your
        d ll m re s t ve aren couldn didn doesn don hadn hasn haven isn shouldn wasn weren won wouldn
    """,
    "de": """
        ab aber alle als also am an auch auf aus bei beim bis da damit dann das dass dem den der deren
        des dessen die dies diese diesem diesen dieser dieses doch durch ein eine einem einen einer
        eines er es etwa für gegen haben hat hatte hatten ihr ihre ihrem ihren ihrer im in ist ja kann
        kein keine konnte man mehr mit nach nicht noch nun nur ob oder ohne schon sein seine seinem
        seinen seiner seit sich sie sind so sondern sowie um und unter viel vom von vor wann war waren
        warum was weil welche welchem welchen welcher welches wem wen wer werden wie wird wo worin wurde
        wurden zu zum zur zwischen über
    """,
    "fr": """
        a afin ainsi alors après au aucun aucune aussi autre aux avait avant avec avoir c ce cela celle
        celui ces cet cette chez comme comment d dans de depuis des dont du elle elles en encore entre
        est et eut fut il ils j jusqu l la le les leur leurs lors lui mais même n ne ni non nous on ont
        ou oui où par pas pendant peu plus pour pourquoi près puis qu quand que quel quelle quelles
        quels qui quoi s sa sans se ses si son sont sous sur t tout toute très un une vers y à étaient
        était été être m
    """,
}
_NEGATIONS = {
    "nl": "niet geen nooit niemand niets nergens noch",
    "en": "not no never none nobody nothing nowhere neither nor cannot without",
    "de": "nicht nie niemals niemand nichts nirgends kein keine keinem keinen keiner keines weder ohne",
    "fr": "pas jamais aucun aucune ni rien nulle non sans",
}
_MONTHS = {
    "nl": "januari februari maart april mei juni juli augustus september oktober november december",
    "de": "januar jänner februar märz april mai juni juli august september oktober november dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
}

FUNCTION_WORDS = {name: frozenset(listed.split()) for name, listed in _FUNCTION_WORDS.items()}
NEGATIONS = {name: frozenset(listed.split()) for name, listed in _NEGATIONS.items()}
MONTHS = {name: frozenset(listed.split()) for name, listed in _MONTHS.items()}
"""English ones are written with a capital, and so are names; without one, `may` and `march` are none."""
STEMMERS = {"nl": "dutch", "en": "english", "de": "german", "fr": "french"}
NAMES_AFTER = frozenset(["in", "aus", "nach", "von", "bei"])
"""German writes every noun with a capital; after these words, without an article, it is mostly a name."""

REFUSALS = {
    "nl": "Dat staat niet in de bronnen.",
    "en": "The sources do not say.",
    "de": "Das geht aus den Quellen nicht hervor.",
    "fr": "Les sources ne le disent pas.",
}
"""How an answer says that the context does not hold it."""
_OTHER_REFUSALS = (
    "Dat blijkt niet uit de bronnen.",
    "De bronnen zeggen dat niet.",
    "That is not in the sources.",
    "The sources do not tell.",
    "Not in context.",
    "NOT_IN_CONTEXT",
    "Das steht nicht in den Quellen.",
    "Die Quellen sagen das nicht.",
    "Cela ne figure pas dans les sources.",
    "Les sources ne le précisent pas.",
)


def _bare(text: str) -> str:
    return normalize(text).strip(" .!\"'«»“”")


_KNOWN_REFUSALS = frozenset(_bare(text) for text in (*REFUSALS.values(), *_OTHER_REFUSALS))


def is_refusal(answer: str) -> bool:
    """Whether an answer says that the context does not hold it, and nothing else."""
    return _bare(answer) in _KNOWN_REFUSALS
