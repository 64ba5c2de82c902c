"""Letters of other scripts that look like Latin ones, and what names look like when all of them are replaced."""

from __future__ import annotations

import unicodedata

PAIRS = (
    ("аеорсухіјѕһԁԛԝкмтвнгпԍ", "aeopcyxijshdqwkmtbhrng"),
    ("АВЕКМНОРСТУХІЈЅԌ", "ABEKMHOPCTYXIJSG"),
    ("οανρικυχϲϳωτεη", "oavpikuxcjwten"),
    ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX"),
    ("օսհոցզյ", "ouhngqj"),
    ("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnoprstuvwyz"),
    ("ıɡɑɩʋⅼ", "igaivl"),
)
"""Letters of other scripts, and the Latin letters that they look like, in the same order."""
LATIN = {ord(other): latin for others, latins in PAIRS for other, latin in zip(others, latins, strict=True)}
SAME_SHAPE = (("rn", "m"), ("vv", "w"), ("0", "o"), ("1", "l"), ("i", "l"), ("5", "s"))
"""Latin letters and digits that look alike in a name."""


def skeleton(name: str) -> str:
    """Return what a name looks like: two names with the same skeleton can be mistaken for each other."""
    text = unicodedata.normalize("NFKC", name).translate(LATIN).lower()
    text = "".join(character for character in text if character.isalnum())
    for shape, same in SAME_SHAPE:
        text = text.replace(shape, same)
    return text


def looks_latin(word: str) -> bool:
    """Tell whether a word mixes Latin letters with letters of other scripts that look like Latin ones."""
    others = [character for character in word if ord(character) in LATIN]
    return bool(others) and any(character.isascii() and character.isalpha() for character in word)
