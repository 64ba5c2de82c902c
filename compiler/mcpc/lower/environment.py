"""What handlers find in their environment because the system they were written for puts it there.

mcbox gives every tool its configuration, as compact JSON, in three variables.  One is kept only if a library names it:
every variable is copied for every process that a handler starts.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpc.definitions import Definition
    from mcpc.sources import Json


CONTRACT = "mcbox"


def environment(definition: Definition) -> tuple[tuple[str, str], ...]:
    """Return the variables that the definition's libraries ask for."""
    if definition.server is None:
        return ()
    values: dict[str, Json] = {
        "MCBOX_SERVER_CONFIG": definition.server.node.value,
        "MCBOX_TOOLS_CONFIG": {"tools": [tool.node.value for tool in definition.tools]},
        "MCBOX_PROMPTS_CONFIG": {"prompts": [prompt.node.value for prompt in definition.prompts]},
    }
    texts = [
        library.source.text
        for library in definition.libraries
        if library.contract == CONTRACT and library.language == "bash"
    ]
    asked = [name for name in values if any(re.search(rf"\b{name}\b", text) for text in texts)]
    return tuple((name, json.dumps(values[name], ensure_ascii=False, separators=(",", ":"))) for name in asked)
