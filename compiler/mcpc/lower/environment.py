"""Environment variables with the project's definitions, for systems whose handlers expect them.

A variable contains the project's definitions as compact JSON. It is set only if a library names it: every variable is
copied for every process that a handler starts.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpc.definitions import Definition
    from mcpc.sources import Json


def definition_variables(definition: Definition) -> tuple[tuple[str, str], ...]:
    """Return the variables that the definition's libraries use."""
    if definition.server is None:
        return ()
    values: dict[str, Json] = {
        "server": definition.server.node.value,
        "tools": {"tools": [tool.node.value for tool in definition.tools]},
        "prompts": {"prompts": [prompt.node.value for prompt in definition.prompts]},
    }
    libraries = [library for library in definition.libraries if library.language == "bash"]
    asked = {
        name: held
        for library in libraries
        for name, held in library.variables
        if any(re.search(rf"\b{name}\b", item.source.text) for item in libraries if item.variables)
    }
    return tuple(
        (name, json.dumps(values[held], ensure_ascii=False, separators=(",", ":"))) for name, held in asked.items()
    )
