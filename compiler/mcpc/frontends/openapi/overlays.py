"""Overlays (1.0 and 1.1): what is changed of a document stands beside it, and the next version replaces one file.

    actions:
    - target: $.paths['/repos/{owner}/{repo}/issues'].post      JSONPath of RFC 9535
      update: {x-mcp: {name: open_issue}}                       merged into what is meant; appended to a list
    - target: $.paths[?@['x-internal']]
      remove: true
    - target: $.paths['/new']
      copy: $.paths['/old']                                     1.1

A target that means nothing has no effect, which is told with its place.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mcpc.diagnostics import diagnose
from mcpc.frontends.openapi.documents import ApiDocument, DocumentValue
from mcpc.frontends.openapi.selection import WRONG
from mcpc.frontends.openapi.texts import clean_text, one_line

if TYPE_CHECKING:
    from mcpc.diagnostics import Diagnostic
    from mcpc.frontends.openapi.documents import DocumentFiles, Path
    from mcpc.frontends.openapi.selection import Api

Json = Any
UNMATCHED = "MCP174"
SHAPE = "`target` with `update`, `remove` or `copy`"


def with_overlays(document: ApiDocument, api: Api, files: DocumentFiles, diagnostics: list[Diagnostic]) -> ApiDocument:
    """Return a document as its overlays change it; problems are added to `diagnostics`."""
    if not api.overlays:
        return document
    # A copy, since another API may use the same document without these overlays.
    changed = ApiDocument(document.source, json.loads(json.dumps(document.value)), document.node)
    for path in api.overlays:
        overlay = files.read(path)
        if overlay is not None:
            diagnostics += _applied(DocumentValue(overlay, (), overlay.value), changed)
    return changed


def _applied(overlay: DocumentValue, document: ApiDocument) -> list[Diagnostic]:
    version = overlay.value.get("overlay") if isinstance(overlay.value, dict) else None
    if not str(version).startswith(("1.0", "1.1")) or not isinstance(overlay.value.get("actions"), list):
        return [diagnose(WRONG, overlay.span, "this is no overlay", "`overlay: 1.1.0`, and a list of `actions`")]
    problems = (_action(action, document) for action in overlay.at("actions").items())
    return [problem for problem in problems if problem is not None]


def _action(action: DocumentValue, document: ApiDocument) -> Diagnostic | None:
    """Apply one action; return what is wrong with it."""
    from jsonpath.exceptions import JSONPathError  # noqa: PLC0415 - few projects have overlays

    fields = action.value if isinstance(action.value, dict) else {}
    target = fields.get("target")
    if not isinstance(target, str) or not {"update", "remove", "copy"} & fields.keys():
        return diagnose(WRONG, action.span, "this is no action of an overlay", SHAPE)
    place = action.at("target")
    try:
        meant = _paths(target, document.value)
        copied = _paths(fields["copy"], document.value) if isinstance(fields.get("copy"), str) else []
    except JSONPathError as wrong:
        why = one_line(str(wrong).partition("\n")[0], 200)
        return diagnose(WRONG, place.span, f"this is no JSONPath: {why}", "a path of RFC 9535")
    if not meant or ("copy" in fields and len(copied) != 1):
        return diagnose(UNMATCHED, place.span, f"nothing of the document is meant by `{clean_text(target, 100)}`")
    values = [_at(document.value, copied[0])] if copied else []
    # As texts, so that each place gets a copy of its own, which later actions change alone.
    values = [json.dumps(value) for value in (*values, *([fields["update"]] if "update" in fields else ()))]
    # From the last one: removing an item of a list moves those that follow it.
    for path in reversed(meant):
        if fields.get("remove") is True:
            # The specification gives the other members no effect then.
            _remove(document, path)
            continue
        for value in values:
            _put(document, path, _merged(_at(document.value, path), json.loads(value)))
    return None


def _paths(expression: str, value: Json) -> list[Path]:
    """Return the places in a value that a JSONPath means."""
    from jsonpath import JSONPathEnvironment  # noqa: PLC0415 - few projects have overlays

    matches = JSONPathEnvironment(strict=True).finditer(expression, value)
    return [tuple(match.parts) for match in matches]


def _at(value: Json, path: Path) -> Json:
    for step in path:
        value = value[step]
    return value


def _put(document: ApiDocument, path: Path, value: Json) -> None:
    if path:
        _at(document.value, path[:-1])[path[-1]] = value
    else:
        document.value = value


def _remove(document: ApiDocument, path: Path) -> None:
    if path:
        del _at(document.value, path[:-1])[path[-1]]


def _merged(old: Json, new: Json, nested: bool = False) -> Json:
    """Return a value as an update changes it: objects are merged, lists get more, others are replaced."""
    if isinstance(old, dict) and isinstance(new, dict):
        return {**old, **{key: _merged(old[key], part, True) if key in old else part for key, part in new.items()}}
    if isinstance(old, list):
        # A list that is the target itself gets the update as one item; lists further inside are joined.
        return [*old, *new] if nested and isinstance(new, list) else [*old, new]
    return new
