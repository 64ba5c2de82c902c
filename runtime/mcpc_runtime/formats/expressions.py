"""Regular expressions of ECMA-262, as with the `u` flag: the grammar of section 22.2.1 and its early errors.

Scripts are not looked up: their names become more every year, and any well-formed one is taken for one.
"""

from __future__ import annotations

from mcpc_runtime.formats.characters import DIGITS, HEXADECIMAL, LETTERS, LETTERS_AND_DIGITS

SYNTAX = frozenset("^$\\.*+?()[]{}|/")
CONTROLS = {"f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
SETS = frozenset("dDsSwW")
WORD = LETTERS_AND_DIGITS | {"_"}
SET = -1
"""What a class escape for a set of characters returns in place of a code point."""
LAST = 0x10FFFF
ASSERTIONS = ("(?=", "(?!", "(?<=", "(?<!")
CATEGORY_NAMES = (
    "L Letter Lu Uppercase_Letter Ll Lowercase_Letter Lt Titlecase_Letter LC Cased_Letter Lm Modifier_Letter Lo "
    "Other_Letter M Mark Combining_Mark Mn Nonspacing_Mark Mc Spacing_Mark Me Enclosing_Mark N Number Nd "
    "Decimal_Number digit Nl Letter_Number No Other_Number P Punctuation punct Pc Connector_Punctuation Pd "
    "Dash_Punctuation Ps Open_Punctuation Pe Close_Punctuation Pi Initial_Punctuation Pf Final_Punctuation Po "
    "Other_Punctuation S Symbol Sm Math_Symbol Sc Currency_Symbol Sk Modifier_Symbol So Other_Symbol Z Separator Zs "
    "Space_Separator Zl Line_Separator Zp Paragraph_Separator C Other Cc Control cntrl Cf Format Cs Surrogate Co "
    "Private_Use Cn Unassigned"
)
PROPERTY_NAMES = (
    "ASCII ASCII_Hex_Digit AHex Alphabetic Alpha Any Assigned Bidi_Control Bidi_C Bidi_Mirrored Bidi_M "
    "Case_Ignorable CI Cased Changes_When_Casefolded CWCF Changes_When_Casemapped CWCM Changes_When_Lowercased CWL "
    "Changes_When_NFKC_Casefolded CWKCF Changes_When_Titlecased CWT Changes_When_Uppercased CWU Dash "
    "Default_Ignorable_Code_Point DI Deprecated Dep Diacritic Dia Emoji Emoji_Component EComp Emoji_Modifier EMod "
    "Emoji_Modifier_Base EBase Emoji_Presentation EPres Extended_Pictographic ExtPict Extender Ext Grapheme_Base "
    "Gr_Base Grapheme_Extend Gr_Ext Hex_Digit Hex IDS_Binary_Operator IDSB IDS_Trinary_Operator IDST ID_Continue IDC "
    "ID_Start IDS Ideographic Ideo Join_Control Join_C Logical_Order_Exception LOE Lowercase Lower Math "
    "Noncharacter_Code_Point NChar Pattern_Syntax Pat_Syn Pattern_White_Space Pat_WS Quotation_Mark QMark Radical "
    "Regional_Indicator RI Sentence_Terminal STerm Soft_Dotted SD Terminal_Punctuation Term Unified_Ideograph UIdeo "
    "Uppercase Upper Variation_Selector VS White_Space space XID_Continue XIDC XID_Start XIDS"
)
CATEGORIES = frozenset(CATEGORY_NAMES.split())
PROPERTIES = CATEGORIES.union(PROPERTY_NAMES.split())


class MalformedError(Exception):
    """The text is no regular expression."""


def is_regex(text: str) -> bool:
    """Say whether JavaScript's `new RegExp(text, "u")` succeeds."""
    try:
        _Reader(text).read()
    except MalformedError:
        return False
    return True


class _Reader:
    """The state of reading one expression from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.groups = 0
        self.names: set[str] = set()
        self.asked_number = 0
        self.asked_names: set[str] = set()
        self.open: list[bool] = []

    def read(self) -> None:
        """Read the whole expression; `self.open` says of each open group whether it may be repeated."""
        while self.at < len(self.text):
            character = self.text[self.at]
            if character in "|^$":
                self.at += 1
            elif character == "(":
                self.enter()
            elif character == ")":
                self.leave()
            else:
                self.atom(character)
        if self.open or self.asked_number > self.groups or not self.asked_names <= self.names:
            raise MalformedError

    def atom(self, character: str) -> None:
        r"""Read what matches a character, or `\b` or a reference, and its repetition."""
        if character == "[":
            self.brackets()
        elif character == "\\":
            if self.text[self.at + 1 : self.at + 2] in ("b", "B"):
                self.at += 2
                return
            self.escape()
        elif character == "." or character not in SYNTAX or character == "/":
            self.at += 1
        else:
            raise MalformedError
        self.quantifier()

    def enter(self) -> None:
        """Read the start of a group."""
        assertion = next((start for start in ASSERTIONS if self.text.startswith(start, self.at)), "")
        self.open.append(not assertion)
        if assertion:
            self.at += len(assertion)
        elif self.text.startswith("(?:", self.at):
            self.at += 3
        else:
            self.groups += 1
            self.at += 1
            if self.text.startswith("?", self.at):
                self.at += 1
                name = self.name()
                if name in self.names:
                    raise MalformedError
                self.names.add(name)

    def leave(self) -> None:
        """Read the end of a group."""
        if not self.open:
            raise MalformedError
        self.at += 1
        if self.open.pop():
            self.quantifier()

    def name(self) -> str:
        """Read the name of a group in angle brackets."""
        end = self.text.find(">", self.at)
        if not self.text.startswith("<", self.at) or end < 0:
            raise MalformedError
        written, self.at = self.text[self.at + 1 : end], end + 1
        name = _without_escapes(written) if "\\" in written else written
        if not name.replace("$", "_").replace("\u200c", "1").replace("\u200d", "1").isidentifier():
            raise MalformedError
        return name

    def quantifier(self) -> None:
        """Read a repetition, if there is one."""
        character = self.text[self.at : self.at + 1]
        if character == "{":
            least = self.digits(self.at + 1)
            most = least
            if self.text.startswith(",", self.at):
                most = self.digits(self.at + 1, may_be_none=True)
            if not self.text.startswith("}", self.at) or (most and (len(most), most) < (len(least), least)):
                raise MalformedError
        elif not character or character not in "*+?":
            return
        self.at += 1
        if self.text.startswith("?", self.at):
            self.at += 1

    def digits(self, start: int, may_be_none: bool = False) -> str:
        """Read a decimal number of any length; return it without leading zeros, but "" only if there is none."""
        end = start
        while self.text[end : end + 1] in DIGITS:
            end += 1
        self.at = end
        if end == start and not may_be_none:
            raise MalformedError
        return self.text[start:end].lstrip("0") or self.text[start:end][:1]

    def escape(self) -> None:
        """Read a backslash outside of a class, and what it gives a meaning to."""
        following = self.text[self.at + 1 : self.at + 2]
        if following == "k":
            self.at += 2
            self.asked_names.add(self.name())
        elif following in DIGITS and following != "0":
            number = self.digits(self.at + 1)
            self.asked_number = max(self.asked_number, int(number) if len(number) < 10 else len(self.text))
        else:
            self.class_escape()

    def class_escape(self) -> int:
        """Read an escape that may stand anywhere; return its code point, or SET."""
        following = self.text[self.at + 1 : self.at + 2]
        self.at += 2
        if following in SETS:
            return SET
        if following in ("p", "P"):
            return self.property()
        if following in CONTROLS:
            return CONTROLS[following]
        if following == "c" and self.text[self.at : self.at + 1] in LETTERS:
            self.at += 1
            return ord(self.text[self.at - 1]) % 32
        if following in ("x", "u"):
            return self.code_point(following)
        is_zero = following == "0" and self.text[self.at : self.at + 1] not in DIGITS
        if not is_zero and following not in SYNTAX:
            raise MalformedError
        return 0 if is_zero else ord(following)

    def code_point(self, kind: str) -> int:
        r"""Read what follows `\x` or `\u`; two halves of a surrogate pair are one code point."""
        if kind == "u" and self.text.startswith("{", self.at):
            end = self.text.find("}", self.at)
            digits = self.text[self.at + 1 : max(end, 0)]
            self.at = end + 1
            return _hexadecimal(digits.lstrip("0") or digits[:1])
        length = 4 if kind == "u" else 2
        point = _hexadecimal(self.text[self.at : self.at + length], length)
        self.at += length
        if kind == "u" and 0xD800 <= point < 0xDC00 and self.text.startswith("\\u", self.at):
            low = self.text[self.at + 2 : self.at + 6]
            if len(low) == 4 and HEXADECIMAL.issuperset(low) and 0xDC00 <= int(low, 16) < 0xE000:
                self.at += 6
                return 0x10000 + ((point - 0xD800) << 10) + int(low, 16) - 0xDC00
        return point

    def property(self) -> int:
        r"""Read what follows `\p`."""
        end = self.text.find("}", self.at, self.at + 80)
        if not self.text.startswith("{", self.at) or end < 0:
            raise MalformedError
        name, equals, value = self.text[self.at + 1 : end].partition("=")
        self.at = end + 1
        if equals and name in ("Script", "sc", "Script_Extensions", "scx"):
            is_known = bool(value) and WORD.issuperset(value)
        elif equals:
            is_known = name in ("General_Category", "gc") and value in CATEGORIES
        else:
            is_known = name in PROPERTIES
        if not is_known:
            raise MalformedError
        return SET

    def brackets(self) -> None:
        """Read a character class."""
        self.at += 2 if self.text.startswith("^", self.at + 1) else 1
        while not self.text.startswith("]", self.at):
            first = self.class_atom()
            if not self.text.startswith("-", self.at) or self.text.startswith("-]", self.at):
                continue
            self.at += 1
            last = self.class_atom()
            if SET in (first, last) or last < first:
                raise MalformedError
        self.at += 1

    def class_atom(self) -> int:
        """Read what may be one end of a range."""
        character = self.text[self.at : self.at + 1]
        if not character:
            raise MalformedError
        if character != "\\":
            self.at += 1
            return ord(character)
        escaped = self.text[self.at + 1 : self.at + 2]
        if escaped in ("b", "-"):
            self.at += 2
            return 8 if escaped == "b" else ord("-")
        return self.class_escape()


def _without_escapes(name: str) -> str:
    reader = _Reader(name)
    characters = []
    while reader.at < len(name):
        if name.startswith("\\u", reader.at):
            reader.at += 2
            characters.append(chr(reader.code_point("u")))
        else:
            characters.append(name[reader.at])
            reader.at += 1
    return "".join(characters)


def _hexadecimal(digits: str, length: int = 0) -> int:
    if not digits or not HEXADECIMAL.issuperset(digits) or (length and len(digits) != length) or len(digits) > 6:
        raise MalformedError
    point = int(digits, 16)
    if point > LAST:
        raise MalformedError
    return point
