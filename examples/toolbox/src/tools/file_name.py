"""The same contract in Python: a schema, a function `default`, and perhaps `destroy`."""

import re

schema = {
    "title": "Name a file",
    "description": "Make a file's name of a title.",
    "type": "object",
    "properties": {"title": {"type": "string"}},
    "required": ["title"],
}


def default(request):
    words = re.findall(r"\w+", request["params"]["arguments"]["title"].lower())
    if not words:
        raise ValueError("a title needs a word")
    return {"content": [{"type": "text", "text": "-".join(words) + ".md"}]}
