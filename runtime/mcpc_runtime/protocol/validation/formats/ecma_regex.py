"""The grammar of ECMA-262's regular expressions with the `u` flag: section 22.2.1 and its early errors.

A `PatternReader` reads from left to right and calls a method for each construct. Here these methods do nothing, which
is enough to validate an expression; the compiler's subclass builds a tree in them. Scripts are not looked up here: new
ones are added every year, and any well-formed name is accepted.
"""

from __future__ import annotations

from collections.abc import Callable

from mcpc_runtime.protocol.validation.formats.characters import ASCII, DIGITS, HEXADECIMAL, LETTERS, LETTERS_AND_DIGITS

Ranges = tuple[tuple[int, int], ...]


# The syntax characters of ECMA-262, and `/`, which may be escaped like them.
SYNTAX = frozenset("^$\\.*+?()[]{}|/")
BRACES = frozenset("{}]")
"""Syntax characters that web browsers accept as themselves where they have no other meaning."""
PUNCTUATION = ASCII - LETTERS_AND_DIGITS - frozenset(map(chr, (*range(0x21), 0x7F)))
CONTROLS = {"f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
SETS = frozenset("dDsSwW")
WORD = LETTERS_AND_DIGITS | {"_"}
LAST_CODE_POINT = 0x10FFFF
LINE_ENDS: Ranges = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))
FIRST_HIGH, FIRST_LOW, AFTER_LOW = 0xD800, 0xDC00, 0xE000
GROUPS = ("(?:", "(?=", "(?!", "(?<=", "(?<!")
"""The prefixes of groups without capture; all but the first are look-arounds, which cannot be repeated."""
MAX_DIGITS = 9
"""A number with more digits exceeds the number of groups of any expression."""
MAX_PROPERTY_LENGTH = 80
BOUNDS = {"*": ("0", ""), "+": ("1", ""), "?": ("0", "1")}
CATEGORY_NAMES = (
    "L=Letter Lu=Uppercase_Letter Ll=Lowercase_Letter Lt=Titlecase_Letter LC=Cased_Letter Lm=Modifier_Letter "
    "Lo=Other_Letter M=Mark=Combining_Mark Mn=Nonspacing_Mark Mc=Spacing_Mark Me=Enclosing_Mark N=Number "
    "Nd=Decimal_Number=digit Nl=Letter_Number No=Other_Number P=Punctuation=punct Pc=Connector_Punctuation "
    "Pd=Dash_Punctuation Ps=Open_Punctuation Pe=Close_Punctuation Pi=Initial_Punctuation Pf=Final_Punctuation "
    "Po=Other_Punctuation S=Symbol Sm=Math_Symbol Sc=Currency_Symbol Sk=Modifier_Symbol So=Other_Symbol Z=Separator "
    "Zs=Space_Separator Zl=Line_Separator Zp=Paragraph_Separator C=Other Cc=Control=cntrl Cf=Format Cs=Surrogate "
    "Co=Private_Use Cn=Unassigned"
)
PROPERTY_NAMES = (
    "ASCII ASCII_Hex_Digit=AHex Alphabetic=Alpha Any Assigned Bidi_Control=Bidi_C Bidi_Mirrored=Bidi_M "
    "Case_Ignorable=CI Cased Changes_When_Casefolded=CWCF Changes_When_Casemapped=CWCM Changes_When_Lowercased=CWL "
    "Changes_When_NFKC_Casefolded=CWKCF Changes_When_Titlecased=CWT Changes_When_Uppercased=CWU Dash "
    "Default_Ignorable_Code_Point=DI Deprecated=Dep Diacritic=Dia Emoji Emoji_Component=EComp Emoji_Modifier=EMod "
    "Emoji_Modifier_Base=EBase Emoji_Presentation=EPres Extended_Pictographic=ExtPict Extender=Ext "
    "Grapheme_Base=Gr_Base Grapheme_Extend=Gr_Ext Hex_Digit=Hex IDS_Binary_Operator=IDSB IDS_Trinary_Operator=IDST "
    "ID_Continue=IDC ID_Start=IDS Ideographic=Ideo Join_Control=Join_C Logical_Order_Exception=LOE Lowercase=Lower "
    "Math Noncharacter_Code_Point=NChar Pattern_Syntax=Pat_Syn Pattern_White_Space=Pat_WS Quotation_Mark=QMark "
    "Radical Regional_Indicator=RI Sentence_Terminal=STerm Soft_Dotted=SD Terminal_Punctuation=Term "
    "Unified_Ideograph=UIdeo Uppercase=Upper Variation_Selector=VS White_Space=space XID_Continue=XIDC "
    "XID_Start=XIDS"
)
"""Each with its other names behind `=`."""
CATEGORIES = frozenset(CATEGORY_NAMES.replace("=", " ").split())
PROPERTIES = CATEGORIES.union(PROPERTY_NAMES.replace("=", " ").split())


class PatternError(ValueError):
    """Why an expression is refused. `position`: the invalid character, counted from 0."""

    def __init__(self, reason: str, position: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.position = position


def is_regex(text: str) -> bool:
    """Tell whether JavaScript's `new RegExp(text, "u")` succeeds."""
    try:
        PatternReader(text).read()
    except PatternError:
        return False
    return True


class PatternReader:
    """The state of reading one expression; each method reads the construct at `at`, and moves behind it.

    `is_lenient`: legacy forms with an unambiguous meaning, a lone brace and an escaped punctuation mark, are read as
    web browsers read them without the `u` flag.
    """

    is_lenient = False

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.captures = 0
        self.names: dict[str, int] = {}
        self.references: dict[int | str, int] = {}
        self.open: list[tuple[str, int]] = []
        self.is_repeatable = False

    def read(self) -> None:
        """Read the whole expression; raise PatternError if it is malformed."""
        while self.at < len(self.text):
            STEPS.get(self.text[self.at], PatternReader.read_character)(self)
        if self.open:
            raise PatternError("a group is not closed", self.open[-1][1])
        # At the end, because a reference may stand before its group.
        for group, position in self.references.items():
            if isinstance(group, str) and group not in self.names:
                raise PatternError(r"`\k` refers to no group", position)
            if not isinstance(group, str) and group > self.captures:
                raise PatternError(f"there is no group {group}", position)

    def take_set(self, ranges: Ranges, *, is_negative: bool = False) -> None:
        """Handle one character of a set, or of its complement."""

    def take_anchor(self, kind: str) -> None:
        """Handle an assertion: `^`, `$`, `b` or `B`."""

    def take_branch(self) -> None:
        """Handle the end of one alternative and the beginning of the next."""

    def take_repetition(self, least: str, most: str, *, is_lazy: bool) -> None:
        """Handle a repetition of the last construct, in decimal digits; `most` is empty if there is no bound."""

    def take_reference(self, number: int | None) -> None:
        """Handle a reference to a group by its number, None if the group begins after the reference."""

    def take_opening(self, kind: str) -> None:
        """Handle the beginning of a group: one of GROUPS, or `(`, which captures with the number `captures`."""

    def take_closing(self) -> None:
        """Handle the end of the innermost group."""

    def named_set(self, letter: str) -> Ranges:
        r"""Return the set of `\d` and similar escapes, by their letter."""
        return ()

    def property_set(self, name: str | None, value: str) -> Ranges | None:
        r"""Return the set of `\p{name=value}` or `\p{value}`, None if ECMA-262 has no such property."""
        if name in ("Script", "sc", "Script_Extensions", "scx"):
            is_known = bool(value) and WORD.issuperset(value)
        elif name is None:
            is_known = value in PROPERTIES
        else:
            is_known = name in ("General_Category", "gc") and value in CATEGORIES
        return () if is_known else None

    def refuse(self, reason: str) -> PatternError:
        """Return the error for the current position."""
        return PatternError(reason, self.at)

    def read_character(self) -> None:
        """Read a literal character."""
        character = self.text[self.at]
        if character in BRACES and not self.is_lenient:
            raise self.refuse(f"`{character}` means nothing here; write `\\{character}`")
        self.take_set(((ord(character), ord(character)),))
        self.at += 1
        self.is_repeatable = True

    def read_dot(self) -> None:
        """Read `.`: any character except the four line terminators."""
        self.take_set(LINE_ENDS, is_negative=True)
        self.at += 1
        self.is_repeatable = True

    def read_anchor(self) -> None:
        """Read `^` or `$`."""
        self.take_anchor(self.text[self.at])
        self.at += 1
        self.is_repeatable = False

    def read_branch(self) -> None:
        """Read `|`."""
        self.take_branch()
        self.at += 1
        self.is_repeatable = False

    def read_quantifier(self) -> None:
        """Read a repetition, or a lone brace that looks like its start."""
        end = self.at + 1
        least, most = BOUNDS.get(self.text[self.at], ("", ""))
        if self.text[self.at] == "{":
            least, end = self.digits(end)
            most = least
            if self.text.startswith(",", end):
                most, end = self.digits(end + 1)
            if not least or not self.text.startswith("}", end):
                if not least and most and self.text.startswith("}", end):
                    raise self.refuse("`{,n}` is not a repetition in ECMA-262; write `{0,n}`")
                self.read_character()
                return
            end += 1
        is_lazy = self.text.startswith("?", end)
        self.repetition(least, most, end + is_lazy, is_lazy=is_lazy)

    def repetition(self, least: str, most: str, end: int, *, is_lazy: bool) -> None:
        """Validate a repetition, and move to its end."""
        if not self.is_repeatable:
            raise self.refuse(f"there is nothing that `{self.text[self.at : end]}` could repeat")
        # Compared by length and as texts, without leading zeros: `int` refuses very long numbers.
        if most and (len(most), most) < (len(least), least):
            raise self.refuse(f"the bounds of `{self.text[self.at : end]}` are out of order")
        self.take_repetition(least, most, is_lazy=is_lazy)
        self.at = end
        self.is_repeatable = False

    def digits(self, start: int) -> tuple[str, int]:
        """Return the decimal number at `start` without leading zeros, "" if there is none, and its end."""
        end = start
        while self.text[end : end + 1] in DIGITS:
            end += 1
        return self.text[start:end].lstrip("0") or self.text[start:end][:1], end

    def read_opening(self) -> None:
        """Read the start of a group."""
        kind = next((start for start in GROUPS if self.text.startswith(start, self.at)), "(")
        end = self.at + len(kind)
        if kind == "(":
            self.captures += 1
            if self.text.startswith("?", end):
                name, end = self.name(end + 1)
                if name in self.names:
                    raise self.refuse("two groups have one name")
                self.names[name] = self.captures
        self.take_opening(kind)
        self.open.append((kind, self.at))
        self.at = end
        self.is_repeatable = False

    def read_closing(self) -> None:
        """Read the end of a group."""
        if not self.open:
            raise self.refuse("`)` closes no group")
        self.take_closing()
        kind, _ = self.open.pop()
        self.at += 1
        self.is_repeatable = kind in ("(", "(?:")

    def name(self, start: int) -> tuple[str, int]:
        """Return the name of a group in angle brackets at `start`, and its end."""
        end = self.text.find(">", start)
        if not self.text.startswith("<", start) or end < 0:
            raise self.refuse(f"`{self.text[self.at : self.at + 3]}` starts no group in ECMA-262")
        spelling = self.text[start + 1 : end]
        name = self.unescaped_name(spelling) if "\\" in spelling else spelling
        # Unlike Python's identifiers, these may contain `$`, and the two joiners behind the first character.
        if not name.replace("$", "_").replace("\u200c", "1").replace("\u200d", "1").isidentifier():
            raise self.refuse(f"`{spelling}` is not a group name")
        return name, end + 1

    def unescaped_name(self, name: str) -> str:
        r"""Return the name of a group without its escapes, which can only be `\u`."""
        reader = PatternReader(name)
        characters = []
        while reader.at < len(name):
            if name.startswith("\\u", reader.at):
                try:
                    characters.append(chr(reader.code_point()))
                except PatternError:
                    raise self.refuse(f"`{name}` is not a group name") from None
            else:
                characters.append(name[reader.at])
                reader.at += 1
        return "".join(characters)

    def read_escape(self) -> None:
        """Read a backslash outside of a class, and its construct."""
        following = self.text[self.at + 1 : self.at + 2]
        self.is_repeatable = True
        if following in ("b", "B"):
            self.take_anchor(following)
            self.at += 2
            self.is_repeatable = False
        elif following == "k" or (following in DIGITS and following != "0"):
            self.read_reference()
        else:
            escaped = self.class_escape()
            self.take_set(((escaped, escaped),) if isinstance(escaped, int) else escaped)

    def read_reference(self) -> None:
        r"""Read `\k` with its name, or a backslash and a number."""
        number: int | None
        if self.text.startswith("k", self.at + 1):
            end = self.text.find(">", self.at)
            if not self.text.startswith("<", self.at + 2) or end < 0:
                raise self.refuse(r"`\k` refers to no group")
            name, end = self.name(self.at + 2)
            self.references.setdefault(name, self.at)
            number = self.names.get(name)
        else:
            digits, end = self.digits(self.at + 1)
            if len(digits) > MAX_DIGITS:
                raise self.refuse(f"there is no group {digits[:MAX_DIGITS]}")
            number = int(digits)
            self.references.setdefault(number, self.at)
        self.take_reference(number)
        self.at = end

    def class_escape(self) -> int | Ranges:
        """Read an escape that is valid anywhere; return its code point, or its set."""
        following = self.text[self.at + 1 : self.at + 2]
        if following in SETS:
            self.at += 2
            return self.named_set(following)
        if following in ("p", "P"):
            return self.property()
        return self.code_point()

    def code_point(self) -> int:
        """Read an escape of one character."""
        following, after = self.text[self.at + 1 : self.at + 2], self.text[self.at + 2 : self.at + 3]
        point, length = -1, 2
        if following in ("x", "u"):
            point, length = self.hexadecimal(following)
        elif following in CONTROLS:
            point = CONTROLS[following]
        elif following == "c" and after in LETTERS:
            point, length = ord(after) % 32, 3
        # Before another digit it would be an octal escape, which the flag `u` forbids.
        elif following == "0" and after not in DIGITS:
            point = 0
        elif following in SYNTAX or (self.is_lenient and following in PUNCTUATION):
            point = ord(following)
        if point < 0:
            raise self.refuse(_unknown_escape(following))
        # Possible in `\u{…}` only, which may have any number of digits.
        if point > LAST_CODE_POINT:
            raise self.refuse(f"`{self.text[self.at : self.at + length]}` is not a code point")
        self.at += length
        return point

    def hexadecimal(self, kind: str) -> tuple[int, int]:
        r"""Return the code point of `\x` or `\u`, -1 if invalid, and its length; a surrogate pair is one code point."""
        start = self.at + 2
        if kind == "u" and self.text.startswith("{", start):
            end = self.text.find("}", start)
            digits = self.text[start + 1 : max(end, 0)]
            return _hexadecimal_number(digits.lstrip("0") or digits[:1]), end + 1 - self.at
        length = 4 if kind == "u" else 2
        point = _hexadecimal_number(self.text[start : start + length], length)
        if kind == "u" and FIRST_HIGH <= point < FIRST_LOW and self.text.startswith("\\u", start + 4):
            low = _hexadecimal_number(self.text[start + 6 : start + 10], 4)
            if FIRST_LOW <= low < AFTER_LOW:
                return 0x10000 + ((point - FIRST_HIGH) << 10) + low - FIRST_LOW, 12
        return point, 2 + length

    def property(self) -> Ranges:
        r"""Read `\p{...}` or `\P{...}`."""
        start = self.at + 2
        end = self.text.find("}", start, start + MAX_PROPERTY_LENGTH)
        is_complete = self.text.startswith("{", start) and end >= 0
        ranges = None
        if is_complete:
            name, equals, value = self.text[start + 1 : end].partition("=")
            ranges = self.property_set(name, value) if equals else self.property_set(None, name)
        if ranges is None:
            quoted = self.text[self.at : end + 1 if is_complete else start]
            raise self.refuse(
                f"`{quoted}` names no Unicode property of ECMA-262, such as `\\p{{L}}` or `\\p{{Script=Greek}}`"
            )
        self.at = end + 1
        return ranges

    def read_class(self) -> None:
        """Read a character class."""
        start = self.at
        is_negative = self.text.startswith("^", start + 1)
        self.at += 2 if is_negative else 1
        ranges: list[tuple[int, int]] = []
        while not self.text.startswith("]", self.at):
            if self.at >= len(self.text):
                raise PatternError("a character class is not closed", start)
            ranges += self.class_part()
        self.at += 1
        self.take_set(tuple(ranges), is_negative=is_negative)
        self.is_repeatable = True

    def class_part(self) -> Ranges:
        """Read one character, one range or one set of a class."""
        first = self.class_atom()
        if not self.text.startswith("-", self.at) or self.text.startswith("-]", self.at):
            return ((first, first),) if isinstance(first, int) else first
        self.at += 1
        last = self.class_atom()
        if not isinstance(first, int) or not isinstance(last, int):
            raise self.refuse("a range in a character class has a set as one of its ends")
        if last < first:
            raise self.refuse("a range in a character class is out of order")
        return ((first, last),)

    def class_atom(self) -> int | Ranges:
        """Read one end of a range."""
        character = self.text[self.at : self.at + 1]
        if not character:
            raise self.refuse("a character class is not closed")
        if character != "\\":
            self.at += 1
            return ord(character)
        escaped = self.text[self.at + 1 : self.at + 2]
        # In a class `\b` is a backspace, and only there may a hyphen be escaped.
        if escaped in ("b", "-"):
            self.at += 2
            return 8 if escaped == "b" else ord("-")
        return self.class_escape()


STEPS: dict[str, Callable[[PatternReader], None]] = {
    ".": PatternReader.read_dot,
    "^": PatternReader.read_anchor,
    "$": PatternReader.read_anchor,
    "|": PatternReader.read_branch,
    **dict.fromkeys("*+?{", PatternReader.read_quantifier),
    "(": PatternReader.read_opening,
    ")": PatternReader.read_closing,
    "\\": PatternReader.read_escape,
    "[": PatternReader.read_class,
}
PYTHON_ONLY = {"A": "^", "Z": "$", "z": "$", "a": r"\x07", "Q": "", "E": "", "h": r"[\t ]", "R": r"\r?\n", "e": r"\x1b"}
"""Escapes of other dialects, and their equivalents in ECMA-262."""


def _unknown_escape(following: str) -> str:
    if not following:
        return "the pattern ends with a backslash"
    equivalent = PYTHON_ONLY.get(following)
    return f"`\\{following}` is not an escape in ECMA-262" + (f"; write `{equivalent}`" if equivalent else "")


def _hexadecimal_number(digits: str, length: int = 0) -> int:
    """Return a hexadecimal number, -1 if it is invalid or has not the required length."""
    if not digits or not HEXADECIMAL.issuperset(digits) or (length and len(digits) != length):
        return -1
    return int(digits, 16) if len(digits) <= MAX_DIGITS else LAST_CODE_POINT + 1
