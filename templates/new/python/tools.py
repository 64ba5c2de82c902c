"""The functions for tools.json: each has the name of its tool and takes the arguments as keywords."""

GREETINGS = {"en": "Hello", "fr": "Bonjour", "de": "Guten Tag"}


def greet(name: str, language: str = "en") -> str:
    return f"{GREETINGS[language]}, {name}!"


def count_words(text: str) -> dict[str, int]:
    return {"words": len(text.split()), "characters": len(text)}
