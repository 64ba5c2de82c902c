# Added to prompts.py: the prompts of prompts.json in Python.

from typing import Any


def test_simple_prompt() -> str:
    return "This is a simple prompt for testing."


def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


def test_prompt_with_embedded_resource(resourceUri: str) -> list[dict[str, Any]]:  # noqa: N803 - the argument's name
    text = "Embedded resource content for testing."
    resource = {"uri": resourceUri, "mimeType": "text/plain", "text": text}
    last = {"type": "text", "text": "Please process the embedded resource above."}
    contents = ({"type": "resource", "resource": resource}, last)
    return [{"role": "user", "content": content} for content in contents]
