"""`ServerLists`: what a server offers to clients of the newest revision that it supports.

Its JSON has the names of `mcpc inspect --format json`, so that the output of that command is a snapshot, too.  A fact
that is unknown (a running server does not tell its Python) is None, and is not compared.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    Item = dict[str, Any]

MAX_SNAPSHOT_BYTES = 64 << 20
LISTS = {"tools": "name", "prompts": "name", "resources": "uri", "resourceTemplates": "uriTemplate"}
OPERATIONS = "operations"
"""The lists of a server, and the member that identifies an item."""


class SnapshotError(ValueError):
    """A file is not a snapshot; the message says what was found instead."""


@dataclass(frozen=True, slots=True)
class ServerLists:
    """What a server offers.

    `information`: the protocol's `serverInfo`.  `python`: the oldest Python that it runs on, as `3.11`.  `platforms`:
    tags of bundled native packages.  `paths`: virtual servers.  `scopes`: what a token needs.  `tasks`: tools that run
    as tasks, with `optional` or `required`.  `operations`: tools that are not listed, because others find them.
    """

    name: str
    version: str
    information: Mapping[str, Any] = field(default_factory=dict)
    instructions: str = ""
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    tools: tuple[Item, ...] = ()
    prompts: tuple[Item, ...] = ()
    resources: tuple[Item, ...] = ()
    templates: tuple[Item, ...] = ()
    revisions: tuple[str, ...] | None = None
    settings: tuple[Item, ...] | None = None
    python: str | None = None
    platforms: tuple[str, ...] | None = None
    paths: tuple[str, ...] | None = None
    scopes: tuple[str, ...] | None = None
    tasks: Mapping[str, str] | None = None
    operations: tuple[Item, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the JSON of a snapshot; unknown facts are left out."""
        facts: dict[str, Any] = {"name": self.name, "version": self.version, "serverInfo": dict(self.information)}
        if self.instructions:
            facts["instructions"] = self.instructions
        facts["capabilities"] = dict(self.capabilities)
        lists = zip(LISTS, (self.tools, self.prompts, self.resources, self.templates), strict=True)
        facts.update({name: [*items] for name, items in lists})
        facts |= {OPERATIONS: [*self.operations]} if self.operations else {}
        if self.python is not None:
            facts["python"] = {"requires": f">={self.python}"}
        known = {"revisions": self.revisions, "settings": self.settings, "platforms": self.platforms}
        known |= {"paths": self.paths, "scopes": self.scopes}
        facts.update({name: [*values] for name, values in known.items() if values is not None})
        return facts if self.tasks is None else {**facts, "tasks": dict(self.tasks)}


def lists_from_json(given: Mapping[str, Any], *, is_built: bool = False) -> ServerLists:
    """Return the value of a snapshot or of a built file's facts; raise SnapshotError.

    `is_built`: facts that a built file does not mention are known to be empty.
    """
    if not isinstance(given, dict) or not isinstance(given.get("name"), str):
        raise SnapshotError("it has no `name` of a server")
    rows = {name: _items(given, name, key) for name, key in LISTS.items()}
    python = given.get("python")
    requires = python.get("requires") if isinstance(python, dict) else None
    unmentioned = () if is_built else None
    return ServerLists(
        given["name"],
        str(given.get("version", "")),
        information=_object(given, "serverInfo"),
        instructions=given["instructions"] if isinstance(given.get("instructions"), str) else "",
        capabilities=_object(given, "capabilities"),
        tools=rows["tools"],
        prompts=rows["prompts"],
        resources=rows["resources"],
        templates=rows["resourceTemplates"],
        revisions=_texts(given, "revisions", None),
        settings=_items(given, "settings", "name") if "settings" in given else unmentioned,
        python=requires.removeprefix(">=") if isinstance(requires, str) else None,
        platforms=_texts(given, "platforms", unmentioned),
        paths=_texts(given, "paths", unmentioned),
        scopes=_texts(given, "scopes", None),
        tasks=_tasks(given, is_built=is_built),
        operations=_items(given, OPERATIONS, "name"),
    )


def read_snapshot(path: Path) -> ServerLists:
    """Return the lists of a snapshot file; raise SnapshotError or OSError."""
    if path.stat().st_size > MAX_SNAPSHOT_BYTES:
        raise SnapshotError(f"it is larger than {MAX_SNAPSHOT_BYTES >> 20} MB")
    try:
        given = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        raise SnapshotError("it is not JSON") from None
    return lists_from_json(given)


def snapshot_text(lists: ServerLists) -> str:
    """Return the text of a snapshot file: the same for the same lists."""
    return json.dumps(lists.as_json(), indent=2, ensure_ascii=False) + "\n"


def _items(given: Mapping[str, Any], name: str, key: str) -> tuple[Item, ...]:
    """Return the items of a list; a number stands for a list that a built file does not have."""
    items = given.get(name, [])
    if isinstance(items, int):
        return ()
    if not isinstance(items, list):
        raise SnapshotError(f"`{name}` is not a list")
    for item in items:
        if not isinstance(item, dict) or not isinstance(item.get(key), str):
            raise SnapshotError(f"`{name}` has an item without `{key}`")
    return tuple(items)


def _texts(given: Mapping[str, Any], name: str, default: tuple[str, ...] | None) -> tuple[str, ...] | None:
    texts = given.get(name)
    if texts is None:
        return default
    if not isinstance(texts, list) or not all(isinstance(each, str) for each in texts):
        raise SnapshotError(f"`{name}` is not a list of texts")
    return tuple(texts)


def _tasks(given: Mapping[str, Any], *, is_built: bool) -> Mapping[str, str] | None:
    """Return the tools that run as tasks: a snapshot names them, a built file in `running`, a server in `execution`."""
    if isinstance(given.get("tasks"), dict):
        return {str(name): str(mode) for name, mode in given["tasks"].items()}
    support: dict[str, str] = {}
    for tool in given["tools"] if isinstance(given.get("tools"), list) else ():
        execution = tool.get("execution")
        if isinstance(execution, dict) and "taskSupport" in execution:
            support[tool["name"]] = str(execution["taskSupport"])
    running = given.get("running")
    for group in running if isinstance(running, list) else ():
        if not isinstance(group, dict) or not isinstance(group.get("of"), list):
            raise SnapshotError("`running` has an item without `of`")
        support.update((str(name), str(group["task"])) for name in group["of"] if "task" in group)
    # `format` is a fact of built files alone: a snapshot that has it mentions all tasks that there are.
    return support if support or is_built or "format" in given else None


def _object(given: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = given.get(name)
    return value if isinstance(value, dict) else {}
