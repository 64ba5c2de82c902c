r"""Sets of code points, as sorted ranges that neither overlap nor touch, and how `re` writes them.

`\d` and `\w` mean the same in `re.ASCII`; everything else is written out as ranges.  The classes of several sets are
the groups of code points that no set distinguishes: a few, however many code points there are.

The data are those of the `regex` package, whatever Python compiles: the same definitions give the same artifact.
Nothing of `regex` but its table of characters is used, and only when a pattern names a property.
"""

from __future__ import annotations

import importlib
from array import array
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from mcpc_runtime.protocol.validation.formats.ecma_regex import CATEGORY_NAMES, PROPERTY_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Ranges = tuple[tuple[int, int], ...]

LAST = 0x10FFFF
EVERYTHING: Ranges = ((0, LAST),)
DIGITS: Ranges = ((0x30, 0x39),)
WORD: Ranges = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
WHITE_SPACE: Ranges = (
    (0x09, 0x0D),
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
)
r"""WhiteSpace and LineTerminator of ECMA-262: what `\s` matches."""


def complement(ranges: Ranges) -> Ranges:
    """Return every code point that is not in `ranges`."""
    starts = (0, *(end + 1 for _, end in ranges))
    ends = (*(start - 1 for start, _ in ranges), LAST)
    return tuple((start, end) for start, end in zip(starts, ends, strict=True) if start <= end)


def union(parts: Iterable[Ranges]) -> Ranges:
    """Return every code point that is in one of `parts`."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(pair for ranges in parts for pair in ranges):
        if merged and start <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return tuple(merged)


def intersection(one: Ranges, other: Ranges) -> Ranges:
    """Return every code point that is in both."""
    return complement(union((complement(one), complement(other))))


def contains(ranges: Ranges, point: int) -> bool:
    """Tell whether `ranges` has the code point."""
    row = bisect_right(ranges, (point, LAST)) - 1
    return row >= 0 and ranges[row][1] >= point


def written_set(ranges: Ranges) -> str:
    """Return the pattern of one character of `ranges`."""
    if ranges in SHORT:
        return SHORT[ranges]
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return escaped(ranges[0][0])
    others = complement(ranges)
    return f"[^{ranges_text(others)}]" if len(others) < len(ranges) else f"[{ranges_text(ranges)}]"


SHORT: dict[Ranges, str] = {
    (): "(?!)",
    EVERYTHING: "(?s:.)",
    DIGITS: r"\d",
    complement(DIGITS): r"\D",
    WORD: r"\w",
    complement(WORD): r"\W",
}


def ranges_text(ranges: Ranges) -> str:
    """Return `ranges` as the inside of a character class."""
    return "".join(escaped(start) + (f"-{escaped(end)}" if end > start else "") for start, end in ranges)


def escaped(point: int) -> str:
    """Return the pattern of one code point, inside a class and outside."""
    character = chr(point)
    if point > 0x7E or character.isalnum() or character == "_":
        return character
    return f"\\{character}" if character.isprintable() else f"\\x{point:02x}"


@dataclass(frozen=True, slots=True)
class Classes:
    """Classes of code points: those from `starts[n]` on, up to the next start, are of the class `numbers[n]`.

    `members[c]` are the sets that contain the class c, as bits.
    """

    starts: tuple[int, ...]
    numbers: tuple[int, ...]
    members: tuple[int, ...]


def classes(sets: Sequence[Ranges]) -> Classes:
    """Return the classes, numbered in the order of their first code points."""
    changes: dict[int, int] = {0: 0}
    for number, ranges in enumerate(sets):
        for first, last in ranges:
            # A set starts or ends here: its bit changes.
            changes[first] = changes.get(first, 0) ^ 1 << number
            changes[last + 1] = changes.get(last + 1, 0) ^ 1 << number
    known: dict[int, int] = {}
    starts: list[int] = []
    numbers: list[int] = []
    members = 0
    for point in sorted(changes):
        members ^= changes[point]
        number = known.setdefault(members, len(known))
        if not numbers or numbers[-1] != number:
            starts.append(point)
            numbers.append(number)
    return Classes(tuple(starts), tuple(numbers), tuple(known))


SCRIPTS = (
    "Adlam=Adlm Ahom Anatolian_Hieroglyphs=Hluw Arabic=Arab Armenian=Armn Avestan=Avst Balinese=Bali Bamum=Bamu "
    "Bassa_Vah=Bass Batak=Batk Bengali=Beng Beria_Erfe=Berf Bhaiksuki=Bhks Bopomofo=Bopo Brahmi=Brah Braille=Brai "
    "Buginese=Bugi Buhid=Buhd Canadian_Aboriginal=Cans Carian=Cari Caucasian_Albanian=Aghb Chakma=Cakm Cham "
    "Cherokee=Cher Chorasmian=Chrs Common=Zyyy Coptic=Copt=Qaac Cuneiform=Xsux Cypriot=Cprt Cypro_Minoan=Cpmn "
    "Cyrillic=Cyrl Deseret=Dsrt Devanagari=Deva Dives_Akuru=Diak Dogra=Dogr Duployan=Dupl Egyptian_Hieroglyphs=Egyp "
    "Elbasan=Elba Elymaic=Elym Ethiopic=Ethi Garay=Gara Georgian=Geor Glagolitic=Glag Gothic=Goth Grantha=Gran "
    "Greek=Grek Gujarati=Gujr Gunjala_Gondi=Gong Gurmukhi=Guru Gurung_Khema=Gukh Han=Hani Hangul=Hang "
    "Hanifi_Rohingya=Rohg Hanunoo=Hano Hatran=Hatr Hebrew=Hebr Hiragana=Hira Imperial_Aramaic=Armi "
    "Inherited=Qaai=Zinh Inscriptional_Pahlavi=Phli Inscriptional_Parthian=Prti Javanese=Java Kaithi=Kthi "
    "Kannada=Knda Katakana=Kana Kawi Kayah_Li=Kali Kharoshthi=Khar Khitan_Small_Script=Kits Khmer=Khmr Khojki=Khoj "
    "Khudawadi=Sind Kirat_Rai=Krai Lao=Laoo Latin=Latn Lepcha=Lepc Limbu=Limb Linear_A=Lina Linear_B=Linb Lisu "
    "Lycian=Lyci Lydian=Lydi Mahajani=Mahj Makasar=Maka Malayalam=Mlym Mandaic=Mand Manichaean=Mani Marchen=Marc "
    "Masaram_Gondi=Gonm Medefaidrin=Medf Meetei_Mayek=Mtei Mende_Kikakui=Mend Meroitic_Cursive=Merc "
    "Meroitic_Hieroglyphs=Mero Miao=Plrd Modi Mongolian=Mong Mro=Mroo Multani=Mult Myanmar=Mymr Nabataean=Nbat "
    "Nag_Mundari=Nagm Nandinagari=Nand New_Tai_Lue=Talu Newa Nko=Nkoo Nushu=Nshu Nyiakeng_Puachue_Hmong=Hmnp "
    "Ogham=Ogam Ol_Chiki=Olck Ol_Onal=Onao Old_Hungarian=Hung Old_Italic=Ital Old_North_Arabian=Narb Old_Permic=Perm "
    "Old_Persian=Xpeo Old_Sogdian=Sogo Old_South_Arabian=Sarb Old_Turkic=Orkh Old_Uyghur=Ougr Oriya=Orya Osage=Osge "
    "Osmanya=Osma Pahawh_Hmong=Hmng Palmyrene=Palm Pau_Cin_Hau=Pauc Phags_Pa=Phag Phoenician=Phnx "
    "Psalter_Pahlavi=Phlp Rejang=Rjng Runic=Runr Samaritan=Samr Saurashtra=Saur Sharada=Shrd Shavian=Shaw "
    "Siddham=Sidd Sidetic=Sidt SignWriting=Sgnw Sinhala=Sinh Sogdian=Sogd Sora_Sompeng=Sora Soyombo=Soyo "
    "Sundanese=Sund Sunuwar=Sunu Syloti_Nagri=Sylo Syriac=Syrc Tagalog=Tglg Tagbanwa=Tagb Tai_Le=Tale Tai_Tham=Lana "
    "Tai_Viet=Tavt Tai_Yo=Tayo Takri=Takr Tamil=Taml Tangsa=Tnsa Tangut=Tang Telugu=Telu Thaana=Thaa Thai "
    "Tibetan=Tibt Tifinagh=Tfng Tirhuta=Tirh Todhri=Todr Tolong_Siki=Tols Toto Tulu_Tigalari=Tutg Ugaritic=Ugar "
    "Unknown=Zzzz Vai=Vaii Vithkuqi=Vith Wancho=Wcho Warang_Citi=Wara Yezidi=Yezi Yi=Yiii Zanabazar_Square=Zanb"
)
"""Each with its other names behind `=`; the first is the one that `regex` is asked by."""


WITHOUT_DATA = ("Changes_When_NFKC_Casefolded", "CWKCF")
"""Properties of which `regex` has no table."""


def _names(rows: str) -> dict[str, str]:
    return {
        name: names.partition("=")[0] for names in rows.split() for name in names.split("=") if name not in WITHOUT_DATA
    }


TABLES: dict[str | None, tuple[str, dict[str, str]]] = {
    "General_Category": ("gc=", _names(CATEGORY_NAMES)),
    "gc": ("gc=", _names(CATEGORY_NAMES)),
    "Script": ("sc=", _names(SCRIPTS)),
    "sc": ("sc=", _names(SCRIPTS)),
    "Script_Extensions": ("scx=", _names(SCRIPTS)),
    "scx": ("scx=", _names(SCRIPTS)),
    None: ("", {**_names(CATEGORY_NAMES), **_names(PROPERTY_NAMES)}),
}
"""What may stand before `=`, how `regex` calls it, and the values there may be."""


def code_points(name: str | None, value: str) -> Ranges | None:
    r"""Return the code points of `\p{name=value}`, or of `\p{value}`; None if ECMA-262 has no such property."""
    prefix, names = TABLES.get(name, ("", {}))
    return _looked_up(prefix + names[value]) if value in names else None


@cache
def _looked_up(name: str) -> Ranges:
    # In the text of all characters a place is a code point.
    runs = importlib.import_module("regex").finditer(rf"\p{{{name}}}+", _characters())
    return tuple((run.start(), run.end() - 1) for run in runs)


@cache
def _characters() -> str:
    # The first character is U+0000 and no byte order mark, so that `utf-32` takes the byte order of this machine.
    return array("I", range(LAST + 1)).tobytes().decode("utf-32", "surrogatepass")
