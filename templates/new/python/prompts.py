"""The functions for prompts.json: a returned string becomes one user message."""


def introduce(name: str) -> str:
    return f"Write a two-sentence introduction of {name}."
