r"""The Unicode properties of ECMA-262, `\p{...}`, by the names it has for them and no others.

The data are those of the `regex` package, whatever Python compiles: the same definitions give the same artifact.
Nothing of `regex` but its table of characters is used, and only when a pattern names a property.
"""

from __future__ import annotations

import importlib
import re
from array import array
from functools import cache

from mcpc.schema.ecma_sets import LAST, Ranges

PROPERTY = re.compile(r"\{(?:(\w+)=)?(\w+)\}", re.ASCII)

CATEGORIES = (
    "L=Letter Lu=Uppercase_Letter Ll=Lowercase_Letter Lt=Titlecase_Letter LC=Cased_Letter Lm=Modifier_Letter "
    "Lo=Other_Letter M=Mark=Combining_Mark Mn=Nonspacing_Mark Mc=Spacing_Mark Me=Enclosing_Mark N=Number "
    "Nd=Decimal_Number=digit Nl=Letter_Number No=Other_Number P=Punctuation=punct Pc=Connector_Punctuation "
    "Pd=Dash_Punctuation Ps=Open_Punctuation Pe=Close_Punctuation Pi=Initial_Punctuation Pf=Final_Punctuation "
    "Po=Other_Punctuation S=Symbol Sm=Math_Symbol Sc=Currency_Symbol Sk=Modifier_Symbol So=Other_Symbol Z=Separator "
    "Zs=Space_Separator Zl=Line_Separator Zp=Paragraph_Separator C=Other Cc=Control=cntrl Cf=Format Cs=Surrogate "
    "Co=Private_Use Cn=Unassigned"
)
BINARY = (
    "ASCII ASCII_Hex_Digit=AHex Alphabetic=Alpha Any Assigned Bidi_Control=Bidi_C Bidi_Mirrored=Bidi_M "
    "Case_Ignorable=CI Cased Changes_When_Casefolded=CWCF Changes_When_Casemapped=CWCM Changes_When_Lowercased=CWL "
    "Changes_When_Titlecased=CWT Changes_When_Uppercased=CWU Dash Default_Ignorable_Code_Point=DI Deprecated=Dep "
    "Diacritic=Dia Emoji Emoji_Component=EComp Emoji_Modifier=EMod Emoji_Modifier_Base=EBase "
    "Emoji_Presentation=EPres Extended_Pictographic=ExtPict Extender=Ext Grapheme_Base=Gr_Base "
    "Grapheme_Extend=Gr_Ext Hex_Digit=Hex IDS_Binary_Operator=IDSB IDS_Trinary_Operator=IDST ID_Continue=IDC "
    "ID_Start=IDS Ideographic=Ideo Join_Control=Join_C Logical_Order_Exception=LOE Lowercase=Lower Math "
    "Noncharacter_Code_Point=NChar Pattern_Syntax=Pat_Syn Pattern_White_Space=Pat_WS Quotation_Mark=QMark Radical "
    "Regional_Indicator=RI Sentence_Terminal=STerm Soft_Dotted=SD Terminal_Punctuation=Term "
    "Unified_Ideograph=UIdeo Uppercase=Upper Variation_Selector=VS White_Space=space XID_Continue=XIDC "
    "XID_Start=XIDS"
)
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


def _names(rows: str) -> dict[str, str]:
    return {name: names.partition("=")[0] for names in rows.split() for name in names.split("=")}


TABLES: dict[str | None, tuple[str, dict[str, str]]] = {
    "General_Category": ("gc=", _names(CATEGORIES)),
    "gc": ("gc=", _names(CATEGORIES)),
    "Script": ("sc=", _names(SCRIPTS)),
    "sc": ("sc=", _names(SCRIPTS)),
    "Script_Extensions": ("scx=", _names(SCRIPTS)),
    "scx": ("scx=", _names(SCRIPTS)),
    None: ("", {**_names(CATEGORIES), **_names(BINARY)}),
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
