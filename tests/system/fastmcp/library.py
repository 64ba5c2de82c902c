"""The standard library's types, NumPy's docstrings, functions that are marked by a call."""

import dataclasses
import datetime
import decimal
import enum
import pathlib
import uuid
from typing import NamedTuple, Optional

from fastmcp import FastMCP
from typing_extensions import TypedDict

mcp = FastMCP(name="Library", version="2.0.0")


class Genre(enum.Enum):
    NOVEL = "novel"
    ESSAY = "essay"


class Shelf(NamedTuple):
    row: int
    place: int


@dataclasses.dataclass
class Book:
    """A book of the library."""

    title: str
    genre: Genre
    published: datetime.date
    price: decimal.Decimal = decimal.Decimal("9.90")
    tags: frozenset[str] = frozenset()
    sequel: Optional["Book"] = None


class Loan(TypedDict):
    book: str
    due: datetime.date


@mcp.tool
def catalogue(book: Book, copies: int = 1) -> Book:
    """Put a book into the catalogue.

    Parameters
    ----------
    book : Book
        What it is.
    copies : int
        How many there are.
    """
    assert isinstance(book, Book) and isinstance(book.genre, Genre) and isinstance(book.published, datetime.date)
    return dataclasses.replace(book, tags=book.tags | {f"copies-{copies}"})


@mcp.tool
def lend(titles: list[str], since: datetime.datetime, days: datetime.timedelta) -> list[Loan]:
    """Lend some books."""
    return [{"book": title, "due": (since + days).date()} for title in titles]


@mcp.tool
def find(shelf: Shelf, by: Genre | None = None, cover: pathlib.Path = pathlib.Path("covers")) -> str:
    """Find a shelf."""
    assert isinstance(shelf, Shelf) and isinstance(cover, pathlib.Path)
    return f"{cover / (by.value if by else 'all')}/{shelf.row}-{shelf.place}"


def card(reader: uuid.UUID, seen: set[int], pair: tuple[int, str]) -> dict[str, str]:
    """Make a card."""
    assert isinstance(seen, set) and isinstance(pair, tuple)
    return {"reader": reader.hex, "seen": str(sum(seen)), "pair": repr(pair)}


mcp.tool(card)
