"""YAML that is written: one item of a list at a time, read back before it is used."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import yaml

from mcpc.reading.yaml_tree import CORE, YamlError, read_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

WIDTH = 100


class _Dumper(yaml.SafeDumper):
    """Writes a text with quotes wherever YAML 1.1 or 1.2 would read something else."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write every value where it is used."""
        return True


def _write_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """Write a text of several lines as a block."""
    style = "|" if "\n" in text.rstrip("\n") else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _write_text)
_Dumper.yaml_implicit_resolvers = {key: [*rows] for key, rows in yaml.SafeDumper.yaml_implicit_resolvers.items()}
for _tag, _pattern, _first in CORE:
    _Dumper.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", _pattern, list(_first) if _first else None)


def list_item(value: Mapping[str, Any], indent: str) -> str:
    """Return a mapping as an item of a block list, each line behind `indent`; JSON if YAML would read it otherwise."""
    text = yaml.dump([dict(value)], Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=WIDTH)
    text = text.removesuffix("...\n")  # the end of a document whose last text ends in empty lines
    if not _reads_as(text, [value]):
        text = f"- {json.dumps(value)}\n"
    # Only lines that have something get the indent.
    return re.sub(r"^(?=.)", indent, text, flags=re.MULTILINE)


def block_text(text: str, indent: str) -> str:
    """Return a text of several lines as a block whose lines are behind `indent`, without the last line's end."""
    written = yaml.dump({"k": text}, Dumper=_Dumper, allow_unicode=True, width=WIDTH).removesuffix("...\n")
    head, *lines = written.removeprefix("k: ").rstrip("\n").split("\n")
    return "\n".join([head, *(f"{indent}{line.removeprefix('  ')}" if line else "" for line in lines)])


def flow_value(value: Any) -> str:
    """Return a value on one line, as JSON, which is YAML too."""
    text = json.dumps(value, ensure_ascii=False)
    return text if _reads_as(text, value) else json.dumps(value)


def _reads_as(text: str, value: Any) -> bool:
    try:
        parsed = read_yaml(text, "").value
    except YamlError:
        return False
    return json.dumps(parsed) == json.dumps(value)
