"""The pages that people write, as sources of the site.

A line `<!-- generated: NAME -->` stands for a section that `generation.reference` writes.  Links between files of the
repository become links between pages of the site; a link to a file that is no page of it becomes plain text.
"""

from __future__ import annotations

import os
import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from generation.places import DOCS, ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MARKER = re.compile(r"^<!-- generated: ([\w-]+) -->$", re.MULTILINE)
FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
OUTSIDE = re.compile(r"[a-z]+:|#")
TOP_PAGES = {
    "SECURITY.md": "security.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
"""Pages at the root of the repository that the site has, too."""


def page_paths() -> dict[str, str]:
    """Return the site's path of each source page, by its path in the repository."""
    names = sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))
    return {f"docs/{name}": "index.md" if name == "README.md" else name for name in names} | TOP_PAGES


SITE_PATHS = page_paths()


def complete(text: str, sections: Mapping[str, Callable[[], str]]) -> str:
    """Return a page with its generated sections; raise KeyError for an unknown name."""
    return MARKER.sub(lambda found: sections[found[1]]().strip("\n"), text)


def page_for_site(text: str, source: str) -> str:
    """Return a page with links that are right in the site; `source` is its path in the repository."""
    parts = FENCE.split(text)
    parts[::2] = [LINK.sub(lambda found: site_link(found, source), part) for part in parts[::2]]
    return "".join(parts)


def site_link(found: re.Match[str], source: str) -> str:
    """Return a link as the page of the site has it."""
    mark, words, link = found.groups()
    file, hash_sign, anchor = link.partition("#")
    if OUTSIDE.match(link) or mark:
        return found[0]
    target = os.path.normpath(PurePosixPath(source).parent / file).replace(os.sep, "/")
    if target in SITE_PATHS:
        start = PurePosixPath(SITE_PATHS[source]).parent
        return f"[{words}]({os.path.relpath(SITE_PATHS[target], start).replace(os.sep, '/')}{hash_sign}{anchor})"
    if target.startswith("docs/") and target != "docs":
        return found[0]
    if not (ROOT / target).exists():
        raise FileNotFoundError(f"{source} links to {link}")
    return words
