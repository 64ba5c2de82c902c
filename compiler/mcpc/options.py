"""What the person who builds may choose, and the environment variables that mean the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

DIALECTS = ("mcp", "mcbox", "bx-mcp", "blueprints", "toolbox", "mcp-bash")


@dataclass(frozen=True, slots=True)
class Options:
    """Build options.  Page sizes: 0 is no paging.  `python`: what starts the artifact; empty is any that is found.

    `validate`: input schemas decide also where a project's own system only shows them.  `assert_formats`: `format`
    decides, instead of only describing.  `defaults`: a tool's handler finds the defaults of its input schema in place
    of what the caller left out.  `platforms`: the platforms native modules are carried for, as wheels name them
    (`manylinux2014_x86_64`); none is the platform and the Python of the build.

    `allow`: tools that calls are let through to, where a project's own system lets none through by itself (`*` in a
    pattern is anything).  `hooks`: a project's own program may say at the build what there is.  `kb`: the folder of
    the project that is the knowledge base.

    `live`: the next build takes the place of this one while clients look on, so that any list may change, and one that
    is empty now be filled.

    `imports`: files of the project are imported, confined, where nothing else tells what they define.

    What the server itself carries, beside what its handlers need: `http` to serve over HTTP, `oauth` to take signed
    tokens there, `otel` to tell of it as spans, `redis` to keep tasks where several replicas find them.
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
    allow: tuple[str, ...] = ()
    hooks: bool = False
    kb: str = ""
    http: bool = False
    oauth: bool = False
    otel: bool = False
    redis: bool = False
    live: bool = False
    imports: bool = True

    @property
    def serving(self) -> tuple[str, ...]:
        """What the server itself carries; what is for HTTP brings HTTP."""
        http = self.http or self.oauth or self.otel
        chosen = {"http": http, "oauth": self.oauth, "otel": self.otel, "redis": self.redis}
        return tuple(name for name, is_chosen in chosen.items() if is_chosen)


VARIABLES = {
    "MCBOX_TOOLS_FUNCTION_NAME_PREFIX": "tools_prefix",
    "MCBOX_PROMPTS_FUNCTION_NAME_PREFIX": "prompts_prefix",
    "MCBOX_TOOLS_PAGE_SIZE": "tools_page_size",
    "MCBOX_PROMPTS_PAGE_SIZE": "prompts_page_size",
}


def from_environment(environment: Mapping[str, str]) -> dict[str, str | int]:
    """Return the option values that `environment` sets; raise ValueError naming a variable with a bad value."""
    chosen: dict[str, str | int] = {}
    for variable, option in VARIABLES.items():
        text = environment.get(variable, "")
        if not text:
            continue
        if not option.endswith("_page_size"):
            chosen[option] = text
        elif text.isdecimal():
            chosen[option] = int(text)
        else:
            raise ValueError(f"{variable} is {text!r}; expected a number of definitions a page, or 0 for no paging")
    return chosen
