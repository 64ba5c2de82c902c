"""A server of Python functions: names, descriptions and schemas are taken from the functions."""

from typing import Literal, TypedDict

from mcpc import Field, Server

mcp = Server("my-server", version="0.1.0", instructions="Greets people and counts words.")

GREETINGS = {"en": "Hello", "fr": "Bonjour", "de": "Guten Tag"}


class Count(TypedDict):
    words: int
    characters: int


@mcp.tool(title="Greet", readOnlyHint=True)
def greet(name: str = Field(min_length=1), language: Literal["en", "fr", "de"] = "en") -> str:
    """Greet a person by name.

    Args:
        name: Who is greeted
        language: The language of the greeting
    """
    return f"{GREETINGS[language]}, {name}!"


@mcp.tool(title="Count words", readOnlyHint=True)
def count_words(text: str) -> Count:
    """Count the words and characters of a text.

    Args:
        text: The text
    """
    return {"words": len(text.split()), "characters": len(text)}


@mcp.prompt(title="Introduce somebody")
def introduce(name: str) -> str:
    """Ask for a short introduction of a person.

    Args:
        name: Who is introduced
    """
    return f"Write a two-sentence introduction of {name}."
