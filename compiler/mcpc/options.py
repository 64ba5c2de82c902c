"""What the person who builds may choose, and the environment variables that mean the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

DIALECTS = ("mcp", "mcbox")


@dataclass(frozen=True, slots=True)
class Options:
    """Build options.  Page sizes: 0 is no paging.  `python`: the interpreter named in the artifact's first line.

    `assert_formats`: `format` decides, instead of only describing.  `defaults`: a tool's handler finds the defaults of
    its input schema in place of what the caller left out.  `platforms`: the platforms native modules are carried for,
    as wheels name them (`manylinux2014_x86_64`); none is the platform and the Python of the build.
    """

    format: str = ""
    dialect: str = "mcp"
    strict: bool = False
    tools_prefix: str = "tool_"
    prompts_prefix: str = "prompt_"
    tools_page_size: int = 0
    prompts_page_size: int = 0
    python: str = "python3"
    assert_formats: bool = False
    defaults: bool = True
    platforms: tuple[str, ...] = ()


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
