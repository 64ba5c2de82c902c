"""Schemas of files that people keep beside a project: cases of `mcpc test`, policies, pins, frontmatter of skills."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpc.release.comparison.rules import RULES, Impact
from mcpc.release.scan.scanning import FORMAT
from mcpc.workbench.testing.case_fields import (
    CASE_FIELDS,
    COMPLETE_FIELDS,
    COMPLETION_ONLY,
    EXPECT_FIELDS,
    FILE_FIELDS,
    GIVEN_FIELDS,
    GREATEST_STATUS,
    KINDS,
    LEAST_STATUS,
    REFERENCES,
    REQUEST_FIELDS,
    RESPONSE_FIELDS,
)
from mcpc.workbench.testing.model import BOTH, ERAS, TRANSPORTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mcpc.workbench.testing.case_fields import CaseField


JsonSchema = dict[str, Any]
POINTER: JsonSchema = {"pattern": "^(?:/(?:[^~/]|~[01])*)*$"}
TEXTS: JsonSchema = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
VARIABLES: JsonSchema = {
    "type": "object",
    "propertyNames": {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"},
    "additionalProperties": {"type": ["string", "number", "boolean"]},
}
CLOSER: Mapping[str, JsonSchema] = {
    "era": {"enum": [*ERAS, BOTH]},
    "transport": {"enum": [*TRANSPORTS, BOTH]},
    "env": VARIABLES,
    "settings": VARIABLES,
    "name": {"type": "string", "pattern": "\\S"},
    "answers": {"type": "array", "items": {"type": "object"}},
    # A method, and a target of visible ASCII characters.
    "to": {"type": "string", "pattern": "^[A-Z]+ /[!-~]*$"},
    "status": {"type": "integer", "minimum": LEAST_STATUS, "maximum": GREATEST_STATUS},
    "error": {"type": ["boolean", "integer"]},
    "contains": TEXTS,
    "matches": TEXTS,
    "json": {"type": "object", "propertyNames": POINTER},
    "problems": {"type": "array", "items": {"type": "string", **POINTER}},
    "values": {"type": "array", "items": {"type": "string"}},
    "total": {"type": "integer", "minimum": 0},
    "within_ms": {"type": "number", "exclusiveMinimum": 0},
}
"""What the checks of a field demand beside its type."""
MEANINGS = {
    "tests": "The cases of the file.",
    "era": "The era of the protocol in which the case runs; in both without it.",
    "transport": "The transport over which the case runs; over both without it.",
    "env": "Variables of the server.",
    "headers": "Headers of the requests over HTTP.",
    "serial": "Whether the case runs alone; without it, a call that only reads runs beside others.",
    "settings": "Values of the server's settings.",
    "name": "What the case is called in reports; unique in its file.",
    "tool": "The tool that is called.",
    "prompt": "The prompt that is requested.",
    "resource": "The URI that is read.",
    "complete": "The argument of a prompt, or the variable of a resource template, that is completed.",
    "argument": "The name of the argument or variable.",
    "value": "What was typed of it; nothing without this.",
    "arguments": "The arguments of the call; of a completion what was chosen for other arguments.",
    "answers": "Results for the questions that the server asks, in order.",
    "expect": "What the call has to lead to; without it, a success.",
    "given": "What the API of the tool answers, in its place.",
    "response": "The response to each request, or a list of one for each.",
    "to": "The method and the target of the request that it is for; any request without this.",
    "status": "The status of the response; 200 without it.",
    "body": "The body: a text, or a value that is JSON.",
    "base64": "The bytes of the body, as base64.",
    "request": "The request that is sent, or all of them in their order.",
    "method": "The method of the request.",
    "target": "The path of the request, with its query.",
    "error": "Whether the call fails, or the number of a JSON-RPC error.",
    "text": "The whole text of the result.",
    "contains": "Texts that the result's text contains.",
    "matches": "Regular expressions that the result's text matches.",
    "json": "Values in the structured result, by JSON Pointer.",
    "structured": "The whole structured result.",
    "schema": "Whether the structured result fits the output schema, as it has to without this.",
    "problems": "The arguments that are refused, as JSON Pointers.",
    "values": "The values of the completion, in order.",
    "total": "How many values there are.",
    "hasMore": "Whether there are more values than these.",
    "within_ms": "The most milliseconds that the call takes.",
}
# Agent Skills allow 1024 characters of a description, and 64 of a name.
MAX_SKILL_TEXT = 1024


def case_file() -> JsonSchema:
    """Return the schema of a file of cases; any file without the list `tests` is valid."""
    case = _object(CASE_FIELDS)
    expect, answered = _object(EXPECT_FIELDS), _object(GIVEN_FIELDS)
    expect["properties"]["request"] |= _one_or_more(_object(REQUEST_FIELDS))
    answered["properties"]["response"] |= _one_or_more(_object(RESPONSE_FIELDS))
    case["properties"]["expect"] = {"description": MEANINGS["expect"], **expect}
    case["properties"]["given"] = {"description": MEANINGS["given"], **answered}
    completed = {"description": MEANINGS["complete"], **_object(COMPLETE_FIELDS), "required": ["argument"]}
    case["properties"]["complete"] = {**completed, **_one_of(REFERENCES)}
    case |= _one_of(KINDS)
    case["if"] = {"required": ["complete"]}
    case["then"] = _narrowed("arguments", {"additionalProperties": {"type": "string"}})
    case["else"] = _narrowed("expect", {"properties": dict.fromkeys(COMPLETION_ONLY, False)})
    whole = _object(FILE_FIELDS)
    whole["properties"]["tests"]["items"] = case
    return {"if": {"required": ["tests"]}, "then": whole, "else": True}


def _one_or_more(schema: JsonSchema) -> JsonSchema:
    # Not `anyOf`, with which an editor would report what is wrong with both forms.
    return {"if": {"type": "array"}, "then": {"items": schema}, "else": schema}


def _narrowed(name: str, schema: JsonSchema) -> JsonSchema:
    return {"properties": {name: {"description": MEANINGS[name], **schema}}}


def _one_of(names: Sequence[str]) -> JsonSchema:
    return {"oneOf": [{"required": [name]} for name in names]}


def _object(fields: Mapping[str, CaseField]) -> JsonSchema:
    return {
        "type": "object",
        "properties": {name: {"description": MEANINGS[name], **_value(name, row)} for name, row in fields.items()},
        "additionalProperties": False,
    }


def _value(name: str, row: CaseField) -> JsonSchema:
    return dict(CLOSER.get(name, {"type": row.kinds[0] if len(row.kinds) == 1 else [*row.kinds]}))


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
