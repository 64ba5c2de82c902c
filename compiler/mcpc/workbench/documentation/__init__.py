"""Documentation of a server for its users, as one file: `mcpc generate docs`.

The policy in the HTML allows one style and one script, by their digests, and images that are part of the page.

    facts ─page_of─▶ ServerPage ─FORMATS─▶ HTML or Markdown

A page is made of what a server offers and of nothing else: no time, no path, no name of this machine.  Every text of a
definition is shown as text, with hidden characters made visible; the HTML loads nothing and runs one known script.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import partial
from typing import TYPE_CHECKING, Any

import jinja2
from markupsafe import Markup

from mcpc.diagnostics.formats.visible import visible
from mcpc.emit.templates import template_text
from mcpc.reading.tree import template_folder
from mcpc.workbench.documentation.page import ServerPage, page_of

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FORMATS", "ServerPage", "page_of"]

FOLDER = "documentation"
SECTIONS = ("tools", "prompts", "resources", "skills", "settings")
MOST_OPEN = 50
"""With more tools, the types of each are closed at first."""
LONGEST = 1 << 20
"""The longest text that is shown whole, in characters."""
SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~&$:=@])")
"""Characters that mean something in Markdown."""
PLAIN = re.compile(r"(?<=\d)\.(?=\d)|(?<=\w)[.:](?=\s|$)|(?<=\w)[-_](?=\w)")
"""Places inside and after words where such a character means nothing."""


def html_page(page: ServerPage) -> str:
    style, script = (template_text(f"{FOLDER}/{name}").decode() for name in ("page.css", "filter.js"))
    policy = (
        f"default-src 'none'; style-src '{digest(style)}'; script-src '{digest(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    opened = Markup(" open") if len(page.tools) <= MOST_OPEN else ""
    titles = [(name, name.capitalize()) for name in SECTIONS if getattr(page, name)]
    sections = [*titles, ("install", "Install"), *([("about", "About the file")] if page.facts else [])]
    values = {"style": Markup(style), "script": Markup(script), "policy": policy, "opened": opened}
    return rendered("page.html.j2", visible_value, page=page, sections=sections, **values)


def digest(text: str) -> str:
    """Return the digest of a style or a script for the policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def rendered(name: str, finalize: Callable[[Any], Any], **values: object) -> str:
    """Return a template with its values, each as `finalize` returns it; what is not Markup then is escaped for HTML."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(template_folder() / FOLDER),
        undefined=jinja2.StrictUndefined,
        finalize=finalize,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"code": code, "line": line, "block": block, "raw": Markup}
    return environment.get_template(name).render(values).lstrip()


def visible_value(value: Any) -> Any:
    """Return a text with hidden characters made visible; anything else as it is."""
    # Markup is a str, too: what is rendered already is not rendered again.
    return readable(value) if type(value) is str else value


def readable(text: str) -> str:
    """Return lines in which characters that could hide or reorder something are escaped."""
    return "\n".join(map(partial(visible, limit=LONGEST), re.split(r"\r\n|[\r\n]", text)))


def markdown_page(page: ServerPage) -> str:
    text = rendered("page.md.j2", markdown, page=page)
    # Parts of the template that have nothing to show leave empty lines.
    return re.sub(r"\n{3,}", "\n\n", text).rstrip("\n") + "\n"


def markdown(value: Any) -> Any:
    """Return a value as Markdown that shows it as text, line by line."""
    if type(value) is not str:
        return value
    return Markup("\n".join(map(line, value.split("\n"))))


def line(text: str) -> Markup:
    words = " ".join(readable(text).split())
    return Markup("".join(escaped_pieces(words)))


def escaped_pieces(text: str) -> list[str]:
    """Return a text in pieces: characters with a meaning are escaped, but inside of words where they have none."""
    plain = {match.start() for match in PLAIN.finditer(text)}
    return [f"\\{char}" if SPECIAL.match(char) and at not in plain else char for at, char in enumerate(text)]


def code(text: str) -> Markup:
    """Return a text as a code span, with a fence that it does not have."""
    words = " ".join(readable(text).split()) or " "
    fence = "`" * (longest_run(words) + 1)
    # A space keeps a backtick apart from the fence, and readers drop it (CommonMark, code spans).
    padding = " " if words.startswith("`") or words.endswith("`") else ""
    return Markup(f"{fence}{padding}{words}{padding}{fence}")


def block(text: str) -> Markup:
    """Return a text as a block of code, with a fence that it does not have."""
    fence = "`" * max(3, longest_run(text) + 1)
    return Markup(f"{fence}\n{readable(text).rstrip()}\n{fence}")


def longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


FORMATS = {"html": html_page, "markdown": markdown_page}
"""The function of each format, from a ServerPage to text."""
