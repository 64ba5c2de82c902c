"""Build options, and the environment variables that set them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

DIALECTS = ("mcp", "mcbox", "bx-mcp", "blueprints", "toolbox", "mcp-bash", "fastmcp")


MINORS = re.compile(r"3\.\d{1,3}(?:,3\.\d{1,3})*")


def minor_versions(python: str) -> tuple[str, ...]:
    """Return the minor versions that a value of `--python` lists, each once; none if it is a command or a path."""
    return tuple(dict.fromkeys(python.split(","))) if MINORS.fullmatch(python) else ()


AUTO, ADAPTER, ORIGINAL = WAYS = ("auto", "adapter", "original")
"""What handles the calls of a program for FastMCP or the SDK (`Options.framework`)."""


COMMON = "common"
"""A value of `--platform`: the machines that clients run on."""
ANY_SYSTEM = "any system"
COMMON_PLATFORMS = (
    *("manylinux_2_28_x86_64", "manylinux_2_28_aarch64", "musllinux_1_2_x86_64", "musllinux_1_2_aarch64"),
    *("macosx_11_0_arm64", "macosx_11_0_x86_64", "win_amd64"),
)


@dataclass(frozen=True, slots=True)
class Options:
    """Build options.  A page size of 0 disables paging.

    `python`: the interpreter of the artifact, empty to search; or the minor versions of its bytecode (`3.11,3.12`).

    `validate`: check input schemas even for systems that only list them. `assert_formats`: enforce `format`.
    `defaults`: fill in defaults of the input schema before a handler is called. `platforms`: platform tags of the
    native modules to bundle (`manylinux2014_x86_64`), or `common`; empty for that of the build. `every_python`: bundle
    them for all Pythons that the project allows, if `python` names none; else for that of the build.

    `allow`: patterns of tools that may be called, for systems that allow none by default. `hooks`: run a program of the
    project during the build to list definitions. `kb`: the folder of the knowledge base. `script`: the script of the
    server, for projects with several.

    `allow_empty`: build a server that offers nothing.

    `live`: a later build may replace this one while clients are connected, so that any list may change, also one that
    is empty now.

    `entry`: what starts the program of a project for FastMCP or the official SDK; `build_environment`: pairs of a
    variable and its value for code of the project that the build runs; `build_network`: let the program use the network
    until it serves; `framework`: what handles its calls, `adapter`, `original` or `auto`; empty for what the project
    says.

    `imports`: import project files, confined, where their definitions cannot be determined otherwise.

    `extras`, `groups`: the project's optional requirements to bundle. `allow_sdist`: build packages without a wheel,
    confined. `exclude_newer`: the date up to which versions of packages count. `lock`: the lock file, empty for the
    first that the project has. `locked`: refuse a lock that does not fit. `offline`: ask no registry. `find_links`:
    folders and pages with wheels.

    `update_key`: the public key of SSH that must have signed what `server.pyz update` accepts; empty for nothing.

    `compact`: deflate the runtime's bytecode, too, which is inflated at the first call.

    Bundled for the server itself: `http` to serve over HTTP, `ui` for the page on which people call it, `oauth` to
    accept signed tokens there, `otel` to export spans, `redis` to share tasks between replicas.
    """

    format: str = ""
    dialect: str = "mcp"
    strict: bool = False
    tools_prefix: str = "tool_"
    prompts_prefix: str = "prompt_"
    tools_page_size: int = 0
    prompts_page_size: int = 0
    resources_page_size: int = 0
    python: str = ""
    validate: bool = False
    assert_formats: bool = False
    defaults: bool = True
    platforms: tuple[str, ...] = ()
    every_python: bool = False
    allow: tuple[str, ...] = ()
    hooks: bool = False
    kb: str = ""
    script: str = ""
    http: bool = False
    ui: bool = False
    oauth: bool = False
    otel: bool = False
    redis: bool = False
    allow_empty: bool = False
    live: bool = False
    imports: bool = True
    framework: str = ""
    entry: str = ""
    build_environment: tuple[tuple[str, str], ...] = ()
    build_network: bool = False
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    allow_sdist: bool = False
    exclude_newer: str = ""
    lock: str = ""
    locked: bool = False
    offline: bool = False
    find_links: tuple[str, ...] = ()
    compact: bool = False
    update_key: str = ""

    @property
    def minors(self) -> tuple[str, ...]:
        """The minor versions whose bytecode is requested, best first; none for that of this Python."""
        return minor_versions(self.python)

    @property
    def platform_tags(self) -> tuple[str, ...]:
        """The tags of the platforms that are named; none for that of the build."""
        tags = (tag for name in self.platforms for tag in (COMMON_PLATFORMS if name == COMMON else (name,)))
        return tuple(dict.fromkeys(tags))

    @property
    def serving(self) -> tuple[str, ...]:
        """What is bundled for the server itself; options that need HTTP include it."""
        http = self.http or self.ui or self.oauth or self.otel
        chosen = {"http": http, "oauth": self.oauth, "otel": self.otel, "redis": self.redis}
        return tuple(name for name, is_chosen in chosen.items() if is_chosen)


VARIABLES = {
    "MCBOX_TOOLS_FUNCTION_NAME_PREFIX": "tools_prefix",
    "MCBOX_PROMPTS_FUNCTION_NAME_PREFIX": "prompts_prefix",
    "MCBOX_TOOLS_PAGE_SIZE": "tools_page_size",
    "MCBOX_PROMPTS_PAGE_SIZE": "prompts_page_size",
}


def options_from_environment(environment: Mapping[str, str]) -> dict[str, str | int]:
    """Return the option values that `environment` sets; raise ValueError naming a variable with a bad value."""
    chosen: dict[str, str | int] = {}
    for variable, option in VARIABLES.items():
        text = environment.get(variable, "")
        # An empty variable counts as one that is not set.
        if not text:
            continue
        if not option.endswith("_page_size"):
            chosen[option] = text
        elif text.isdecimal():
            chosen[option] = int(text)
        else:
            raise ValueError(f"{variable} is {text!r}; expected a number of definitions per page, or 0 for no paging")
    return chosen
