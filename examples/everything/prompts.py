"""Prompts in Python: one with an image, one that asks before it is there."""

from __future__ import annotations

from typing import Any

from mcpc import Context, prompt

from media import encoded, red_pixel

Message = dict[str, Any]


def said(content: dict[str, Any]) -> Message:
    """Return a message of the user's."""
    return {"role": "user", "content": content}


@prompt
def test_prompt_with_image() -> list[Message]:
    """Show an image, and ask about it."""
    image = {"type": "image", "data": encoded(red_pixel()), "mimeType": "image/png"}
    return [said(image), said({"type": "text", "text": "Please analyze the image above."})]


@prompt
async def test_input_required_result_prompt(context: Context) -> str:
    """Ask the user what this is about."""
    schema = {"type": "object", "properties": {"context": {"type": "string"}}, "required": ["context"]}
    answer = await context.elicit("What context should the prompt use?", schema, key="user_context")
    return f"Consider this: {(answer.content or {}).get('context', 'nothing')}"
