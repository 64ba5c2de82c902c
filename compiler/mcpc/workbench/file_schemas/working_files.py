"""Schemas of files that people keep beside a project: policies, pins, and the frontmatter of skills."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpc.release.comparison.rules import RULES, Impact
from mcpc.release.scan.scanning import FORMAT

if TYPE_CHECKING:
    from collections.abc import Iterable

JsonSchema = dict[str, Any]
MAX_SKILL_TEXT = 1024


def diff_policy() -> JsonSchema:
    """Return the schema of a file for `mcpc diff --ignore`."""
    return diff_tables(RULES)


def diff_tables(rules: Iterable[str]) -> JsonSchema:
    """Return the schema of a policy, in a separate file or in `[tool.mcpc.diff]`."""
    names = {"enum": sorted(rules)}
    return {
        "type": "object",
        "properties": {
            "accept": {
                "description": "Changes that are accepted.",
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "rule": {"description": "The rule that reports the change.", **names},
                        "place": {"description": "Where: a pattern with `*`; everywhere without it.", "type": "string"},
                        "reason": {"description": "Why it is accepted.", "type": "string"},
                    },
                    "required": ["rule"],
                    "additionalProperties": False,
                },
            },
            "severity": {
                "description": "Other verdicts on changes, by rule.",
                "type": "object",
                "propertyNames": names,
                "additionalProperties": {"enum": [each.value for each in Impact]},
            },
        },
        "additionalProperties": False,
    }


def pins() -> JsonSchema:
    """Return the schema of a file of pins."""
    digest = {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}
    return {
        "type": "object",
        "required": ["format", "servers"],
        "properties": {
            "format": {"description": "The form of the file.", "const": FORMAT},
            "servers": {
                "description": "The digest of each definition, by server, and by kind and name.",
                "type": "object",
                "additionalProperties": {"type": "object", "additionalProperties": digest},
            },
        },
    }


def skill_frontmatter() -> JsonSchema:
    """Return the schema of the frontmatter of a SKILL.md."""
    return {
        "type": "object",
        "required": ["name", "description"],
        "properties": {
            "name": {
                "description": "The name of the skill, which is that of its folder: small letters, digits, hyphens.",
                "type": "string",
                "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$",
                "maxLength": 64,
            },
            "description": {
                "description": "What the skill does, and when an agent should use it.",
                "type": "string",
                "pattern": "\\S",
                "maxLength": MAX_SKILL_TEXT,
            },
            "license": {"description": "The licence of the skill.", "type": "string"},
            "compatibility": {"description": "What the skill needs of a machine.", "type": "string"},
            "allowed-tools": {"description": "Tools that the skill may use without asking."},
            "metadata": {"description": "Further data, with your own prefixes.", "type": "object"},
        },
    }
