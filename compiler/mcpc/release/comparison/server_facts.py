"""Changes of the server itself: identity, capabilities, settings, tasks, and what it needs to run.

A fact that one side does not know is not compared.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from mcpc.release.comparison.inclusion import accepts
from mcpc.release.comparison.placed_schemas import escaped
from mcpc.release.comparison.rules import Change, change

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.client import ServerLists

    Item = dict[str, Any]

SETS = {
    "revisions": ("revision-dropped", "revision-added", "revision"),
    "paths": ("path-removed", "path-added", "virtual server"),
    "scopes": ("scope-dropped", "scope-required", "scope"),
}
"""Facts that are sets: the rules of what is gone and what is new, and what a member is."""
INFORMATION = ("title", "icons", "websiteUrl", "description")
SETTING_SCHEMAS = {
    "string": {"type": "string"},
    "file": {"type": "string"},
    "directory": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
}
TASK_MODES = {"forbidden": {"call"}, "optional": {"call", "task"}, "required": {"task"}}
"""How a tool can be called."""
# As `manylinux_2_17_`: the version of the C library, or of macOS.
VERSIONED_TAG = re.compile(r"(manylinux|musllinux|macosx)_\d+_\d+_")


def server_changes(old: ServerLists, new: ServerLists) -> Iterator[Change]:
    yield from identity_changes(old, new)
    yield from capability_changes(old.capabilities, new.capabilities)
    for name, (gone_rule, new_rule, words) in SETS.items():
        before, after = getattr(old, name), getattr(new, name)
        if before is not None and after is not None:
            for each in sorted({*before} - {*after}):
                yield change(
                    gone_rule, "server", name, f"{words} {each} is gone", pointer=f"/{escaped(each)}", old=each
                )
            for each in sorted({*after} - {*before}):
                yield change(new_rule, "server", name, f"{words} {each} is new", pointer=f"/{escaped(each)}", new=each)
    if old.settings is not None and new.settings is not None:
        yield from setting_changes(old.settings, new.settings)
    if old.tasks is not None and new.tasks is not None:
        yield from task_changes(old, new)
    yield from python_changes(old.python, new.python)
    if old.platforms is not None and new.platforms is not None:
        yield from platform_changes(platform_families(old.platforms), platform_families(new.platforms))


def identity_changes(old: ServerLists, new: ServerLists) -> Iterator[Change]:
    """Yield the changes of name, version, and texts of the server."""
    if old.name != new.name:
        message = f"the server was `{old.name}`, and is `{new.name}`"
        yield change("server-name-changed", "server", "name", message, old=old.name, new=new.name)
    if old.version != new.version:
        message = f"{old.version} became {new.version}"
        yield change("version-changed", "server", "version", message, old=old.version, new=new.version)
    if old.instructions != new.instructions:
        details = {"old": old.instructions, "new": new.instructions}
        yield change("instructions-changed", "server", "instructions", "the instructions are others", **details)
    for name in INFORMATION:
        before, after = old.information.get(name), new.information.get(name)
        if before != after:
            rule = "server-information-changed"
            yield change(rule, "server", name, f"{name} of the server is another", old=before, new=after)


def capability_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """Yield capabilities that are gone or new."""
    before, after = {*_flags(old, "")}, {*_flags(new, "")}
    for name in sorted(before - after):
        yield change("capability-removed", "server", f"capabilities{name}", f"{name[1:]} is gone")
    for name in sorted(after - before):
        yield change("capability-added", "server", f"capabilities{name}", f"{name[1:]} is new")


def _flags(capabilities: Mapping[str, Any], place: str) -> Iterator[str]:
    """Yield the places of what a server declares; false means the same as nothing."""
    for name, value in capabilities.items():
        if value is False or value is None:
            continue
        yield f"{place}/{name}"
        if isinstance(value, dict):
            yield from _flags(value, f"{place}/{name}")


def setting_changes(old: tuple[Item, ...], new: tuple[Item, ...]) -> Iterator[Change]:
    before, after = ({each["name"]: each for each in settings} for settings in (old, new))
    for name in sorted(before.keys() - after.keys()):
        yield change("setting-removed", "setting", name, "is gone")
    for name in sorted(after.keys() - before.keys()):
        required = after[name].get("required") is True
        rule = "setting-required" if required else "setting-added"
        yield change(rule, "setting", name, "is new" + (", and required" if required else ""))
    for name in sorted(before.keys() & after.keys()):
        yield from _setting_changes(name, before[name], after[name])


def _setting_changes(name: str, old: Item, new: Item) -> Iterator[Change]:
    was, required = old.get("required") is True, new.get("required") is True
    if was != required:
        rule, words = ("setting-required", "is required now") if required else ("setting-optional", "is optional now")
        yield change(rule, "setting", name, words, old=was, new=required)
    one, other = _setting_schema(old), _setting_schema(new)
    if one != other:
        # What is undecided counts as narrower.
        is_narrower = not accepts(other, one).holds
        rule, words = ("setting-narrowed", "fewer") if is_narrower else ("setting-widened", "more")
        message = f"{words} values are accepted: type or choices are others"
        yield change(rule, "setting", name, message, old=one, new=other)
    if old.get("default") != new.get("default"):
        details: Item = {"old": old.get("default"), "new": new.get("default")}
        reason = "it depends on what the setting does"
        yield change("setting-default-changed", "setting", name, "the default is another", reason=reason, **details)
    for member in ("title", "description", "secret"):
        if old.get(member) != new.get(member):
            yield change("setting-text-changed", "setting", name, f"{member} is another")


def _setting_schema(setting: Item) -> Item:
    choices = setting.get("choices")
    schema: Item = dict(SETTING_SCHEMAS.get(str(setting.get("type", "string")), {}))
    return {**schema, "enum": choices} if isinstance(choices, list) else schema


def task_changes(old: ServerLists, new: ServerLists) -> Iterator[Change]:
    """Yield the changes of how tools can be called: at once, or as a task."""
    before, after = old.tasks or {}, new.tasks or {}
    common = {each["name"] for each in old.tools} & {each["name"] for each in new.tools}
    for name in sorted(common):
        # Without `taskSupport` a tool cannot be called as a task.
        one, other = before.get(name, "forbidden"), after.get(name, "forbidden")
        if one == other:
            continue
        is_narrower = bool(TASK_MODES.get(one, set()) - TASK_MODES.get(other, set()))
        rule = "task-support-narrowed" if is_narrower else "task-support-widened"
        details = {"pointer": "/execution/taskSupport", "old": one, "new": other}
        yield change(rule, "tool", name, f"as a task: was {one}, and is {other}", **details)


def python_changes(old: str | None, new: str | None) -> Iterator[Change]:
    """Yield the change of the oldest Python."""
    numbers = [tuple(int(each) for each in re.findall(r"\d+", text or "")) for text in (old, new)]
    if all(numbers) and numbers[0] != numbers[1]:
        rule = "python-raised" if numbers[1] > numbers[0] else "python-lowered"
        yield change(rule, "server", "python", f"Python {old} was enough, now it is {new}", old=old, new=new)


def platform_changes(old: set[str], new: set[str]) -> Iterator[Change]:
    """Yield platforms that are gone or new; a server without native packages runs on any."""
    for name in sorted(old - new) if new else ():
        yield change("platform-dropped", "server", "platforms", f"{name} is gone", pointer=f"/{name}", old=name)
    if new and not old:
        text = ", ".join(sorted(new))
        yield change("platform-dropped", "server", "platforms", f"the server ran anywhere, and now on {text} only")
    elif old and not new:
        yield change("platform-added", "server", "platforms", "the server runs anywhere now")
    for name in sorted(new - old) if old else ():
        yield change("platform-added", "server", "platforms", f"{name} is new", pointer=f"/{name}", new=name)


def platform_families(tags: tuple[str, ...]) -> set[str]:
    """Return the platforms of wheel tags, without the versions of the system that they were built for."""
    return {VERSIONED_TAG.sub(r"\1_", tag.rpartition("-")[2]) for tag in tags}
