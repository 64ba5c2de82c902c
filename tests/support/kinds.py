"""Kinds of schemas that are hard on a generator of models: each with arguments it accepts, and some it refuses."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Kind:
    """A schema of a tool's input, what it accepts, and what it refuses."""

    schema: dict[str, Any]
    valid: tuple[Any, ...]
    invalid: tuple[Any, ...] = ()


KINDS = {name: Kind(*row) for name, row in json.loads(Path(__file__).with_suffix(".json").read_text("utf-8")).items()}
