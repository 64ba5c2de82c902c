r"""Unicode properties of ECMA-262, `\p{...}`, by the names it has for them and no others.

The data are those of the `regex` package, whatever Python compiles: the same definitions give the same artifact.
Nothing of `regex` but its table of characters is used, and only when a pattern names a property.
"""

from __future__ import annotations

import importlib
from array import array
from functools import cache

from mcpc.schema.ecma.code_point_sets import LAST, Ranges
from mcpc_runtime.protocol.validation.formats.ecma_regex import CATEGORY_NAMES, PROPERTY_NAMES

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
    runs = importlib.import_module("regex").finditer(rf"\p{{{name}}}+", _characters())
    return tuple((run.start(), run.end() - 1) for run in runs)


@cache
def _characters() -> str:
    return array("I", range(LAST + 1)).tobytes().decode("utf-32", "surrogatepass")
