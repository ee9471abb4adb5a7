"""International bank account numbers: how long they are, and which are right."""

from __future__ import annotations

import string

FEWEST_DIGITS = 7
"""No account number is written with so few that an IBAN has fewer."""
IBAN_LENGTHS = {
    country: int(length)
    for length, countries in (
        line.split(": ")
        for line in """15: NO
16: BE
18: DK FO FI GL NL SD FK
19: MK SI
20: AT BA EE KZ LT LU XK MN
21: CH HR LI LV
22: BG BH CR DE GB GE IE ME RS VA
23: AE GI IL IQ OM SO TL
24: AD CZ ES MD PK RO SA SE SK TN VG
25: LY PT ST
26: IS TR
27: BI DJ FR GR IT MC MR SM
28: AL AZ BY CY DO GT HU LB NI PL SV
29: BR EG PS QA UA
30: JO KW MU YE
31: MT SC
32: LC
33: RU""".splitlines()
    )
    for country in countries.split()
}
"""Characters of an IBAN by country."""
_VALUES = {ord(letter): str(int(letter, 36)) for letter in string.ascii_uppercase}


def is_iban(characters: str) -> bool:
    """Whether characters have the digits of an IBAN, and its check digits are right: modulo 97 it is 1."""
    if sum(map(str.isdigit, characters)) < FEWEST_DIGITS:
        return False
    moved = characters[4:] + characters[:4]
    try:
        return int(moved.upper().translate(_VALUES)) % 97 == 1
    except ValueError:  # letters of other alphabets
        return False
