"""Stems: forms of a word have the same one, and words are taken apart at hyphens."""

from eval_pipeline.language.stems import stem, stem_in, word_parts


def test_forms_of_a_word_share_a_stem() -> None:
    assert stem("Learnings") == stem("learned") == stem("learn")
    assert stem("dog") != stem("cat")


def test_every_language_has_its_own_stems() -> None:
    assert stem_in("nl", "boeken") == stem_in("nl", "boek") != stem_in("en", "boeken")
    assert stem_in("fr", "musées") == stem_in("fr", "musée")
    assert stem_in("xx", "boeken") == "boeken"


def test_hyphenated_words_are_taken_apart() -> None:
    assert word_parts("Cross-Validation,  of MODELS") == ["cross", "validation", "of", "models"]
