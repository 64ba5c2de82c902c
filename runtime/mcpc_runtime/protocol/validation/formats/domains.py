"""Internationalised domain names: the labels of RFC 5891, by the rules of RFC 5892 and 5893.

Characters that Python's Unicode data does not assign are disallowed. Scripts are derived from the names of characters,
which agree with the script property for every character that a label may contain.

Joining types of letters (`Joining_Type` of Unicode), which decide where a zero width non-joiner is valid.
"""

from __future__ import annotations

import unicodedata

from mcpc_runtime.protocol.validation.formats.characters import MAX_LABEL_LENGTH, MAX_NAME_LENGTH, is_plain_label

# The full stops of East Asian scripts, which separate labels, too (RFC 3490, section 3.1).
DOTS = str.maketrans("\u3002\uff0e\uff61", "...")
PREFIX = "xn--"
ALLOWED = frozenset("-abcdefghijklmnopqrstuvwxyz0123456789ßς་\u3007۽۾")
"""LDH, and the exceptions of RFC 5892 section 2.6 that are allowed everywhere."""
CATEGORIES = frozenset(("Ll", "Lu", "Lo", "Nd", "Lm", "Mn", "Mc"))
DISALLOWED = (
    (0x034F, 0x034F),
    (0x0640, 0x0640),
    (0x07FA, 0x07FA),
    (0x1100, 0x11FF),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x20D0, 0x20FF),
    (0x302E, 0x302F),
    (0x3031, 0x3035),
    (0x303B, 0x303B),
    (0xA960, 0xA97C),
    (0xD7B0, 0xD7FB),
    (0xFE00, 0xFE0F),
    (0x1D100, 0x1D1FF),
    (0x1D200, 0x1D24F),
    (0xE0100, 0xE01EF),
)
"""Letters, digits and marks that are exceptions, ignorable, in ignorable blocks, or conjoining jamo."""
ARABIC_DIGITS = frozenset("٠١٢٣٤٥٦٧٨٩")
EXTENDED_DIGITS = frozenset("۰۱۲۳۴۵۶۷۸۹")
KANA_AND_HAN = (
    "HIRAGANA ",
    "HENTAIGANA ",
    "KATAKANA ",
    "CJK UNIFIED ",
    "CJK COMPATIBILITY IDEOGRAPH",
    "IDEOGRAPHIC ",
    "OLD CHINESE ITERATION",
    "VIETNAMESE ALTERNATE READING",
)
VIRAMA = 9

RIGHT_TO_LEFT = frozenset(("R", "AL"))
IN_RIGHT_TO_LEFT = frozenset(("R", "AL", "AN", "EN", "ES", "CS", "ET", "ON", "BN", "NSM"))
IN_LEFT_TO_RIGHT = frozenset(("L", "EN", "ES", "CS", "ET", "ON", "BN", "NSM"))
AT_THE_END = {True: frozenset(("R", "AL", "EN", "AN")), False: frozenset(("L", "EN"))}


def is_idn_hostname(text: str) -> bool:
    """Tell whether each label may be registered, and the name obeys RFC 5893 if any label runs from right to left."""
    # Of a text that is too long only the beginning is looked at: `is_mail_domain` refuses it.
    return unicodedata.is_normalized("NFC", text[: MAX_NAME_LENGTH + 1]) and is_mail_domain(text)


def is_mail_domain(text: str) -> bool:
    """Do the same for the domain of a mailbox, which RFC 6531 does not require to be normalised."""
    if len(text) > MAX_NAME_LENGTH:
        return False
    labels = [_unicode_label(label) for label in text.translate(DOTS).split(".")]
    return sum(map(_encoded_length, labels)) + len(labels) - 1 <= MAX_NAME_LENGTH and _is_domain(labels)


def is_encoded_domain(text: str) -> bool:
    """Tell whether each `xn--` label of a lower-case host name is the encoding of a valid label."""
    return _is_domain([_unicode_label(label) if label.startswith(PREFIX) else label for label in text.split(".")])


def _is_domain(labels: list[str]) -> bool:
    return "" not in labels and (all(map(_keeps_direction, labels)) or not any(map(_has_right_to_left, labels)))


def _unicode_label(label: str) -> str:
    """Return the label as Unicode, "" for an invalid label."""
    if label.isascii():
        label = label.lower()
        if not label.startswith(PREFIX):
            # Hyphens in the third and fourth place are reserved for encodings such as `xn--` (RFC 5890, section 2.3.1).
            return label if is_plain_label(label) and label[2:4] != "--" else ""
        decoded = _decoded(label) if is_plain_label(label) else ""
        # A label has one encoding only: another one that decodes to it is refused.
        return decoded if _may_be_registered(decoded) and PREFIX + _encoded(decoded) == label else ""
    return label if _may_be_registered(label) else ""


def _decoded(label: str) -> str:
    try:
        return label[len(PREFIX) :].encode().decode("punycode")
    except ValueError:
        return ""


def _encoded(label: str) -> str:
    return label.encode("punycode").decode()


def _encoded_length(label: str) -> int:
    return len(label) if label.isascii() else len(PREFIX) + len(_encoded(label))


def _may_be_registered(label: str) -> bool:
    """Tell whether a label that is not ASCII only follows sections 4.2.2 to 4.2.4 of RFC 5891."""
    # An encoding has at least as many characters, so a long label is refused before it is encoded.
    if not label or label.isascii() or len(label) > MAX_LABEL_LENGTH:
        return False
    if label[0] == "-" or label[-1] == "-" or label[2:4] == "--" or unicodedata.category(label[0])[0] == "M":
        return False
    return all(_is_allowed(label, at) for at in range(len(label))) and _encoded_length(label) <= MAX_LABEL_LENGTH


def _is_allowed(label: str, at: int) -> bool:
    character = label[at]
    if character in ALLOWED:
        return True
    rule = CONTEXTS.get(character)
    return rule(label, at) if rule else is_permanently_valid(character)


def is_permanently_valid(character: str) -> bool:
    """Tell whether a character is PVALID in RFC 5892, whose exceptions are not considered here."""
    if unicodedata.category(character) not in CATEGORIES:
        return False
    if any(first <= ord(character) <= last for first, last in DISALLOWED):
        return False
    # What changes when it is folded and normalised is unstable (RFC 5892, section 2.2).
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", character).casefold())
    return folded == character


def _is_named(character: str, prefixes: str | tuple[str, ...]) -> bool:
    return unicodedata.name(character, "").startswith(prefixes)


def _after_virama(label: str, at: int) -> bool:
    return at > 0 and unicodedata.combining(label[at - 1]) == VIRAMA


def _between_joining(label: str, at: int) -> bool:
    return _after_virama(label, at) or (joins_after(label[:at]) and joins_before(label[at + 1 :]))


def _between_l(label: str, at: int) -> bool:
    return at > 0 and label[at - 1 : at + 2 : 2] == "ll"


def _before_greek(label: str, at: int) -> bool:
    return _is_named(label[at + 1 : at + 2] or "-", "GREEK ")


def _after_hebrew(label: str, at: int) -> bool:
    return at > 0 and _is_named(label[at - 1], "HEBREW ")


def _with_kana_or_han(label: str, _at: int) -> bool:
    # The dot itself is named KATAKANA MIDDLE DOT, and does not count.
    return any(_is_named(character, KANA_AND_HAN) for character in label if character != "\u30fb")


def _without_extended_digits(label: str, _at: int) -> bool:
    return EXTENDED_DIGITS.isdisjoint(label)


def _without_arabic_digits(label: str, _at: int) -> bool:
    return ARABIC_DIGITS.isdisjoint(label)


CONTEXTS = {
    "\u200c": _between_joining,
    "\u200d": _after_virama,
    "\u00b7": _between_l,
    "\u0375": _before_greek,
    "\u05f3": _after_hebrew,
    "\u05f4": _after_hebrew,
    "\u30fb": _with_kana_or_han,
    **dict.fromkeys(ARABIC_DIGITS, _without_extended_digits),
    **dict.fromkeys(EXTENDED_DIGITS, _without_arabic_digits),
}
"""Appendix A of RFC 5892."""


def _has_right_to_left(label: str) -> bool:
    return any(unicodedata.bidirectional(character) in ("R", "AL", "AN") for character in label)


def _keeps_direction(label: str) -> bool:
    """Tell whether a label follows the Bidi Rule (section 2 of RFC 5893).

    It applies to all labels if one runs from right to left.
    """
    kinds = [unicodedata.bidirectional(character) for character in label]
    is_right_to_left = kinds[0] in RIGHT_TO_LEFT
    if not is_right_to_left and kinds[0] != "L":
        return False
    while kinds[-1] == "NSM":
        kinds.pop()
    if kinds[-1] not in AT_THE_END[is_right_to_left]:
        return False
    if not is_right_to_left:
        return IN_LEFT_TO_RIGHT.issuperset(kinds)
    return IN_RIGHT_TO_LEFT.issuperset(kinds) and not ("EN" in kinds and "AN" in kinds)


DUAL_JOINING = (
    "620 626 628 62A-62E 633-63F 641-647 649-64A 66E-66F 678-687 69A-6BF 6C1-6C2 6CC 6CE 6D0-6D1 6FA-6FC 6FF 712-714 "
    "71A-71D 71F-727 729 72B 72D-72E 74E-758 75C-76A 76D-770 772 775-777 77A-77F 7CA-7EA 841-845 848 84A-853 855 860 "
    "862-865 868 886 889-88D 88F 8A0-8A9 8AF-8B0 8B3-8B8 8BA-8C8 1807 1820-1878 1887-18A8 18AA A840-A871 10AC0-10AC4 "
    "10AD3-10AD6 10AD8-10ADC 10ADE-10AE0 10AEB-10AEE 10B80 10B82 10B86-10B88 10B8A-10B8B 10B8D 10B90 10BAD-10BAE "
    "10D01-10D21 10D23 10EC3-10EC4 10EC6-10EC7 10F30-10F32 10F34-10F44 10F51-10F53 10F70-10F73 10F76-10F81 10FB0 "
    "10FB2-10FB3 10FB8 10FBB-10FBC 10FBE-10FBF 10FC1 10FC4 10FCA 1E900-1E943 "
)
LEFT_JOINING = "A872 10ACD 10AD7 10D00 10ED9-10EEE 10FCB "
RIGHT_JOINING = (
    "622-625 627 629 62F-632 648 671-673 675-677 688-699 6C0 6C3-6CB 6CD 6CF 6D2-6D3 6D5 6EE-6EF 710 715-719 71E 728 "
    "72A 72C 72F 74D 759-75B 76B-76C 771 773-774 778-779 840 846-847 849 854 856-858 867 869-86A 870-882 88E 8AA-8AC "
    "8AE 8B1-8B2 8B9 10AC5 10AC7 10AC9-10ACA 10ACE-10AD2 10ADD 10AE1 10AE4 10AEF 10B81 10B83-10B85 10B89 10B8C "
    "10B8E-10B8F 10B91 10BA9-10BAC 10D22 10EC2 10F33 10F54 10F74-10F75 10FB4-10FB6 10FB9-10FBA 10FBD 10FC2-10FC3 "
    "10FC9 "
)
TRANSPARENT = ("Mn", "Me", "Cf")
"""The categories of which nearly all characters are transparent."""
# Of the category `Cf` these two are not transparent; the Adlam nasalization mark is, though a letter (`Lm`).
NOT_TRANSPARENT = "\u200c\u200d"
ALSO_TRANSPARENT = "\U0001e94b"


def joins_after(text: str) -> bool:
    """Tell whether the last of `text` that is not transparent joins what follows it."""
    return _is_among(_nearest(text[::-1]), DUAL_JOINING + LEFT_JOINING)


def joins_before(text: str) -> bool:
    """Tell whether the first of `text` that is not transparent joins what precedes it."""
    return _is_among(_nearest(text), DUAL_JOINING + RIGHT_JOINING)


def _nearest(text: str) -> str:
    return next((character for character in text if not _is_transparent(character)), "-")


def _is_transparent(character: str) -> bool:
    if character in NOT_TRANSPARENT:
        return False
    return unicodedata.category(character) in TRANSPARENT or character in ALSO_TRANSPARENT


def _is_among(character: str, ranges: str) -> bool:
    point = ord(character)
    for item in ranges.split():
        first, _, last = item.partition("-")
        if int(first, 16) <= point <= int(last or first, 16):
            return True
    return False
