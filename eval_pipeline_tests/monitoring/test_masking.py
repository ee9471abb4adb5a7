from __future__ import annotations

import json
import random

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdnum import iban as oracle

from eval_pipeline.monitoring.ibans import FEWEST_DIGITS, STRUCTURES, is_iban
from eval_pipeline.monitoring.masking import (
    CARD,
    EMAIL,
    IBAN,
    PHONE,
    cut_before,
    is_card,
    mask_column,
    mask_text,
)
from eval_pipeline.monitoring.people import pseudonyms
from eval_pipeline.monitoring.suspects import holds_any

MASKED = [
    ("Write to jane.doe+news@mail.example.co.uk today.", f"Write to {EMAIL} today."),
    ("<jane@example.com>", f"<{EMAIL}>"),
    ("jané@exämple.de", EMAIL),
    ("jane＠example.com", EMAIL),
    ("Call +31 20 123 4567 now", f"Call {PHONE} now"),
    ("Call +31(0)20-1234567", f"Call {PHONE}"),
    ("0031 6 12345678", PHONE),
    ("06-12345678 or 020 123 4567", f"{PHONE} or {PHONE}"),
    ("(020) 123 4567", PHONE),
    ("555-123-4567", PHONE),
    ("1-555-123-4567", PHONE),
    ("٠٦١٢٣٤٥٦٧٨", PHONE),  # 0612345678 in Arabic-Indic digits
    ("+３１ ２０ １２３ ４５６７", PHONE),
    ("Pay to NL91 ABNA 0417 1643 00.", f"Pay to {IBAN}."),
    ("nl91abna0417164300", IBAN),
    ("GB82-WEST-1234-5698-7654-32", IBAN),
    ("FR14 2004 1010 0505 0001 3M02 606", IBAN),
    ("MT84MALT011000012345MTLCAST001S", IBAN),
    ("KZ730828EILBOAUYUR1S and é KZ73 0828 EILB OAUY UR1S", f"{IBAN} and é {IBAN}"),
    ("4111 1111 1111 1111", CARD),
    ("4111-1111-1111-1111 12/26", f"{CARD} 12/26"),
    ("card 5500005555555559, thanks", f"card {CARD}, thanks"),
    ("378282246310005", CARD),
    ("4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", CARD),
    ("４１１１１１１１１１１１１１１１", CARD),
    ("4111\u00a01111\u00a01111\u00a01111", CARD),
    ("ref 77 4111111111111111", f"ref 77 {CARD}"),
    (
        "We paid 1234567 to NL91 ABNA 0417 1643 00 and 4111 1111 1111 1111; call 020 123 4567 or a@b.co",
        f"We paid 1234567 to {IBAN} and {CARD}; call {PHONE} or {EMAIL}",
    ),
    (
        r'{"to": "Bel:\n0612345678\nNL91ABNA0417164300\t+31687654321"}',
        rf'{{"to": "Bel:\n{PHONE}\n{IBAN}\t{PHONE}"}}',
    ),
    (r'"jan\u0040example.com 4111\u00a01111\u00a01111\u00a01111"', f'"{EMAIL} {CARD}"'),
    (json.dumps(json.dumps({"to": "x\n0612345678"})), json.dumps(json.dumps({"to": f"x\n{PHONE}"}))),
    ("jose\u0301@example.com", EMAIL),
    ("tel 2 0612345678", f"tel 2 {PHONE}"),
    ("bel 0612345678 12:00, of 06-12345678 10 uur", f"bel {PHONE} 12:00, of {PHONE} 10 uur"),
    ("Room 5 (020) 123 4567", f"Room 5 {PHONE}"),
    ("3. 0612345678", f"3. {PHONE}"),
    ("+31612345678 2026-03-02", f"{PHONE} 2026-03-02"),
    *((f"1234567{'x ' * gap}4111 1111 1111 1111", f"1234567{'x ' * gap}{CARD}") for gap in range(10, 30, 3)),
]
KEPT = [
    "order 4111111111111112",  # looks like a card, and its check digit is wrong
    "order 1234567812345670",  # right check digit, and no card begins so
    "order 9999999999999995",
    "id 41111111111111111111111",  # too long
    "0000000000000000",
    "NL91ABNA0417164301",  # wrong check digits
    "XX91ABNA0417164300",  # no such country
    "2026-03-02 10:30:00.123456",
    "02-03-2026 10:30",
    "02.03.2026 1030 12",
    "3.14159265358979",
    "0.123456789",
    "invoice 20260302001",
    "0001234567",
    "550e8400-e29b-41d4-a716-446655440000",
    "192.168.100.200",
    "1,234,567,890.12",
    "a@b",
    "@here and user@ and @example.com",
    "ratio 12:34:56:78:90",
    "1772409600000000000",
    "BG45UOJ\u017f952525XQTYGB\u0131T",  # in capitals its letters are ours
]


@pytest.mark.parametrize(("text", "expected"), MASKED)
def test_what_is_masked(text: str, expected: str) -> None:
    assert mask_text(text) == expected


@pytest.mark.parametrize("text", KEPT)
def test_what_only_looks_alike_stays(text: str) -> None:
    assert mask_text(text) == text


def test_a_column_is_masked_as_its_texts_are() -> None:
    texts = [text for text, _ in MASKED] + KEPT + [None, "", "x" * 5000 + " jane@example.com " + "y" * 5000]
    random.Random(7).shuffle(texts)
    expected = [text if text is None else mask_text(text) for text in texts]
    for column in (pa.chunked_array([texts]), pa.chunked_array([texts[:9], [], texts[9:]])):
        assert mask_column(column).to_pylist() == expected
    assert mask_column(pa.chunked_array([pa.array(["x", *texts]).slice(1)])).to_pylist() == expected
    assert mask_column(pa.chunked_array([], pa.string())).to_pylist() == []


@given(st.text(alphabet=st.sampled_from(list("0123456789 -+()@.,abNLx٠１é＠\n")), max_size=80))
def test_the_quick_look_misses_nothing(text: str) -> None:
    assert mask_column(pa.chunked_array([[text]])).to_pylist() == [mask_text(text)]


PARTS = st.one_of(
    st.sampled_from([text for text, _ in MASKED] + KEPT),
    st.text(alphabet=st.sampled_from(list("0123456789 -+()@.,/_abNLnl\u00a0\u2010é٠１＠")), max_size=6),
)


@given(st.lists(st.lists(PARTS, max_size=4).map("".join), max_size=6))
def test_the_quick_look_keeps_rows_apart(texts: list[str]) -> None:
    """What one text ends with says nothing about the next, though their bytes are neighbours."""
    assert mask_column(pa.chunked_array([pa.array(texts, pa.string())])).to_pylist() == [
        mask_text(text) for text in texts
    ]


@given(st.text(max_size=300))
def test_masking_twice_is_masking_once_and_never_much_longer(text: str) -> None:
    masked = mask_text(text)
    assert mask_text(masked) == masked
    assert len(masked) <= len(text) * 2 + 10


@given(st.text(alphabet="0123456789", min_size=12, max_size=18))
def test_luhn_against_the_plain_rule(digits: str) -> None:
    """Independently: exactly one last digit makes a number pass."""
    valid = [last for last in "0123456789" if luhn(digits + last)]
    assert len(valid) == 1
    for last in "0123456789":
        if is_card(digits + last):
            assert last == valid[0]


def luhn(digits: str) -> bool:
    doubled = {each: sum(map(int, str(2 * int(each)))) for each in "0123456789"}
    places = digits[::-1]
    return (sum(map(int, places[::2])) + sum(doubled[each] for each in places[1::2])) % 10 == 0


@given(st.integers(0, 10**10 - 1), st.integers(1, 96))
def test_an_iban_with_other_check_digits_is_none(account: int, shift: int) -> None:
    number = f"ABNA{account:010d}"
    check = 98 - int("".join(str(int(each, 36)) for each in f"{number}NL00")) % 97
    assert is_iban(f"NL{check:02d}{number}")
    assert not is_iban(f"NL{(check + shift) % 97:02d}{number}")


@st.composite
def written_ibans(draw: st.DrawFn) -> str:
    """Numbers with right check digits, most of them made up as their country's are."""
    country = draw(st.sampled_from(sorted(STRUCTURES)))
    kinds = {"n": "0123456789", "a": "ABCXYZ", "c": "0123456789ABCXYZ"}
    parts = [
        draw(st.text(alphabet=kinds[draw(st.sampled_from([kind] * 9 + ["c"]))], min_size=size, max_size=size))
        for size, kind in ((int(count), kind) for count, kind in STRUCTURES[country])
    ]
    account = "".join(parts) + draw(st.sampled_from(["", "", "", "7"]))
    check = 98 - int("".join(str(int(each, 36)) for each in f"{account}{country}00")) % 97
    return f"{country}{check:02d}{account}"


@given(written_ibans())
def test_ibans_are_those_of_the_registry(number: str) -> None:
    digits = sum(each.isdigit() for each in number)
    assert is_iban(number) == (digits >= FEWEST_DIGITS and oracle.is_valid(number, check_country=False))


@given(
    st.one_of(
        st.tuples(written_ibans().filter(is_iban), st.just((2, 1))),
        st.tuples(st.sampled_from(["4111111111111111", "378282246310005"]), st.just((1, 1))),
        st.tuples(st.sampled_from(["0201234567", "00316123456", "+3120123456"]), st.just((3, 3))),
    ),
    st.sampled_from(["", " ", "-", "\u2009", "\u2010"]),
    st.integers(0, 70),
    st.sampled_from(["", "é"]),
)
def test_the_quick_look_reaches_as_far_as_numbers_do(
    number: tuple[str, tuple[int, int]], gap: str, before: int, behind: str
) -> None:
    """However widely they are written, and wherever in the bytes they begin."""
    characters, (together, most) = number
    written = (gap * most).join([characters[:together], *characters[together:]])
    text = f"{'x' * before} {written} {behind}"
    masked = mask_text(text)
    assert masked != text
    assert mask_column(pa.chunked_array([[text]])).to_pylist() == [masked]


@pytest.mark.parametrize("before", ["", "é "])
@pytest.mark.parametrize("number", ["+12345678", "012345678", "(12)34567", "0123456789", "+1 234 567 890"])
def test_the_quick_look_goes_on_to_the_end(before: str, number: str) -> None:
    """Digits are looked for in words of 64 bytes, and nothing stands behind the last."""
    texts = [f"{'x' * length} {before}{number}" for length in range(140)]
    for text in texts:
        assert mask_column(pa.chunked_array([[text]])).to_pylist() == [mask_text(text)]
        assert mask_text(text).endswith("[phone]")


def test_prose_with_the_check_digits_of_an_iban_is_none() -> None:
    """One text in 97 has them by chance."""
    texts = [f"We met at {number} 3000 the first of 17 and of 2500 more." for number in range(10, 100)]
    assert [mask_text(text) for text in texts] == texts


def test_rows_that_change_stand_where_they_stood() -> None:
    rows = ["plain", "a@b.co", "c@d.co", None, "plain", None, "e@f.co"]
    expected = ["plain", EMAIL, EMAIL, None, "plain", None, EMAIL]
    for start in range(len(rows)):
        column = pa.chunked_array([pa.array(rows, pa.string()).slice(start)])
        assert mask_column(column).to_pylist() == expected[start:]
        assert mask_column(column, names=True).to_pylist() == expected[start:]


def test_a_byte_is_looked_for_in_nothing() -> None:
    nothing = pa.StringArray.from_buffers(0, pa.py_buffer(b""), pa.py_buffer(b""))
    assert not holds_any(nothing, b"@")
    assert holds_any(pa.array(["a", "@"]), b"@")
    assert not holds_any(pa.array(["@", "a"]).slice(1), b"@")
    assert holds_any(pa.array(["x" * 300_000, "+"]), b"@+")


@pytest.mark.parametrize("secret", ["jan@example.com", "4111 1111 1111 1111", "+31 6 12345678"])
def test_nothing_personal_is_cut_in_two(secret: str) -> None:
    for limit in range(100, 130):
        cut = cut_before(f"{'x' * 99} {secret} and more", limit)
        assert cut in ("x" * 99 + " ", f"{'x' * 99} {secret} and more"[:limit])
        assert not 0 < len(cut) - 100 < len(secret)
    assert cut_before("short", 100) == "short"


def test_json_stays_json() -> None:
    assert mask_text('{"card": 4111111111111111, "to": "a@b.co"}') == f'{{"card": "{CARD}", "to": "{EMAIL}"}}'
    assert mask_text("[4111111111111111]") == f'["{CARD}"]'


def test_names_are_masked_where_that_is_asked_for() -> None:
    text = "My name is Jan de Vries and I saw Dr. Müller in Paris."
    assert mask_text(text) == text
    assert mask_text(text, names=True) == "My name is [name] and I saw Dr. [name] in Paris."


def test_hostile_texts_take_no_time_to_speak_of() -> None:
    for text in (
        "1 " * 50_000,
        "a" * 100_000 + "@",
        "@" * 100_000,
        "+1" * 50_000,
        "NL91 " * 20_000,
        "\\u0040" * 20_000,
        "1 0 " * 30_000,
        "\\\\" * 50_000,
        "(" * 100_000,
    ):
        assert len(mask_text(text)) <= 2 * len(text)


def test_pseudonyms_tell_people_apart_and_nothing_else() -> None:
    column = pa.chunked_array([["jane", None], ["joe", "jane"]])
    first, nobody, second, again = pseudonyms(column, "k" * 64).to_pylist()
    assert nobody is None
    assert first == again != second
    assert "jane" not in first
    assert pseudonyms(column, "l" * 64).to_pylist()[0] != first
