"""The options of a build as facts of the built file, so that `mcpc attest verify` can repeat the build.

Recorded are the options that differ from their defaults and decide what the file contains. Values of `--build-env` may
be secrets, and are not: only their names are. Options that decide only whether a build succeeds, or where packages are
looked for, are not recorded.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING

from mcpc.options import Options, minor_versions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.reading import Json

UNRECORDED = frozenset({"allow_empty", "build_environment", "find_links", "imports", "locked", "offline", "strict"})
BUILD_ENVIRONMENT = "build_environment"
ADDED_PARTS = frozenset({"http", "ui", "oauth", "otel", "redis", "live", "compact", "platforms"})
CHECKS = frozenset({"validate", "assert_formats", "defaults"})
PAGES = frozenset({"tools_page_size", "prompts_page_size", "resources_page_size"})
ACCEPTED = ADDED_PARTS | CHECKS | PAGES
"""Options that a file may be built with and still do only what its project says. Any other one chooses what is run, or
what may be called: whoever verifies a file must give it, too.
"""


def is_accepted(name: str, value: Json) -> bool:
    """Tell whether an option counts that only the file records."""
    return name in ACCEPTED or (name == "python" and isinstance(value, str) and bool(minor_versions(value)))


def recorded_options(options: Options) -> dict[str, Json]:
    """Return the options of a build as facts; none for a build with the defaults."""
    facts: dict[str, Json] = {}
    default = Options()
    for field in fields(Options):
        value = getattr(options, field.name)
        if field.name not in UNRECORDED and value != getattr(default, field.name):
            facts[field.name] = [*value] if isinstance(value, tuple) else value
    if options.build_environment:
        facts[BUILD_ENVIRONMENT] = [*sorted({name for name, _ in options.build_environment})]
    return facts


def repeated_options(facts: Mapping[str, Json]) -> Options:
    """Return the options that facts record; raise ValueError naming one that this compiler does not have."""
    default = Options()
    known = {field.name for field in fields(Options)} - UNRECORDED
    chosen: dict[str, object] = {}
    for name, value in facts.items():
        if name == BUILD_ENVIRONMENT:
            continue
        found = tuple(value) if isinstance(value, list) else value
        if name not in known or type(found) is not type(getattr(default, name)):
            raise ValueError(f"this mcpc does not know the option `{name}`")
        chosen[name] = found
    return replace(default, **chosen)  # type: ignore[arg-type]
