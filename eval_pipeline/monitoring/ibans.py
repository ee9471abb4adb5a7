"""International bank account numbers: what they consist of, and which are right.

An IBAN has the letters of a country, two check digits, and what the registry (ISO 13616) says of that
country: so many digits (n), letters (a), or either (c).
"""

from __future__ import annotations

import re
import string

FEWEST_DIGITS = 7
"""No account number is written with so few that an IBAN has fewer."""
STRUCTURES = {
    country: re.findall(r"(\d+)([nac])", structure)
    for structure, countries in (
        line.split(": ")
        for line in """11n: NO
12n: BE
14n: DK FI FO GL SD
2a12n: FK
4a10n: NL
15n: SI
3n10c2n: MK
16n: AT BA EE LT MN XK
3n13c: KZ LU
17n: HR
4a13c: LV
5n12c: CH LI
18n: CR DE ME RS VA
2a16n: GE
4a14c: BH
4a14n: GB IE
4a6n8c: BG
19n: AE IL SO TL
3n16c: OM
4a15c: GI
4a15n: IQ
20c: MD
20n: CZ ES SE SK TN
2n18c: SA
4a16c: PK RO
4a16n: VG
8n12c: AD
21n: LY PT ST
22n: IS
6n16c: TR
10n11c2n: FR MC
1a10n12c: IT SM
23n: BI DJ MR
7n16c: GR
24c: GT
24n: HU PL
4a20c: AZ
4a20n: HN NI SV
4c20n: DO
4c4n16c: BY
4n20c: LB
8n16c: AL CY
23n1a1c: BR
25n: EG
4a21c: PS QA
6n19c: UA
4a19n3a: MU
4a22c: KW
4a4n18c: JO YE
4a20n3a: SC
4a5n18c: MT
4a24c: LC
14n15c: RU""".splitlines()
    )
    for country in countries.split()
}
"""What follows the check digits, by country: how many of which kind."""
IBAN_LENGTHS = {country: 4 + sum(int(count) for count, _ in parts) for country, parts in STRUCTURES.items()}
"""Characters of an IBAN by country."""
IBAN_DIGITS = {
    country: max(2 + sum(int(count) for count, kind in parts if kind == "n"), FEWEST_DIGITS)
    for country, parts in STRUCTURES.items()
}
"""Digits that an IBAN has at least, by country."""
_KINDS = {"n": r"\d", "a": "[A-Z]", "c": r"[A-Z\d]"}
_WRITTEN = re.compile(
    "|".join(
        rf"{country}\d\d" + "".join(f"{_KINDS[kind]}{{{count}}}" for count, kind in parts)
        for country, parts in STRUCTURES.items()
    )
)
_VALUES = {ord(letter): str(int(letter, 36)) for letter in string.ascii_uppercase}


def is_iban(characters: str) -> bool:
    """Whether characters are made up as an IBAN is, and its check digits are right: modulo 97 it is 1."""
    written = characters.upper()
    if sum(map(str.isdigit, written)) < FEWEST_DIGITS or not _WRITTEN.fullmatch(written):
        return False
    if not all(each.isascii() or each.isdigit() for each in characters):
        return False  # some letters of others become ours in capitals
    return int((written[4:] + written[:4]).translate(_VALUES)) % 97 == 1
