"""YAML of deployment files: in the order of the document, with a text of several lines as a block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

WIDTH = 120


class BlockDumper(yaml.SafeDumper):
    """Writes a text of several lines as a block, as people do."""


def _text_node(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


BlockDumper.add_representer(str, _text_node)


def yaml_text(document: Mapping[str, Any]) -> str:
    """Return a document as YAML."""
    text: str = yaml.dump(dict(document), Dumper=BlockDumper, sort_keys=False, width=WIDTH)
    return text
