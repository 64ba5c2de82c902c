"""The functions behind prompts.json: a returned string is one message of the user's."""


def introduce(name: str) -> str:
    return f"Write a two-sentence introduction of {name}."
