"""Give the folders of skills their meaning: frontmatter, uris, media types; and judge what the extension asks of them.

A skill's name is the last part of its path, and what its frontmatter says: hosts find it by either.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from mcpc.definitions.media import media_type
from mcpc.diagnostics import Span, diagnose
from mcpc.ir.places import place
from mcpc.ir.skills import Skill, SkillFile
from mcpc.sources.frontmatter import frontmatter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.definitions import Definition, SkillDefinition
    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.sources.frontmatter import Frontmatter

NAME = re.compile(r"(?!.*--)[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?\Z")
A_NAME = "1 to 64 of `a-z 0-9 -`, with no hyphen at an end and no two together"
LONGEST_DESCRIPTION = 1024
MOST_FILES = 512
MOST_BYTES = 16 << 20
RESERVED = "io.modelcontextprotocol/"
PLAIN = "!$&'()*+,;=:@-._~"
"""What stands in a path's segment as it is (RFC 3986, section 3.3)."""


def lowered(definition: Definition) -> tuple[tuple[Skill, ...], Diagnostics]:
    """Return the skills that can be understood, and what is wrong with any."""
    made: list[Skill] = []
    problems: list[Diagnostic] = []
    for written in definition.skills:
        head, found = frontmatter(written.main)
        problems += found
        if head is not None:
            wrong = tuple(_judged(head, written))
            problems += wrong
            made += [] if any(problem.code == "MCP132" for problem in wrong) else [_skill(head, written)]
    problems += _repeated(made, definition)
    return tuple(made), tuple(problems)


def _skill(head: Frontmatter, written: SkillDefinition) -> Skill:
    files = tuple(
        SkillFile(uri(file.path.removeprefix("skills/")), file, media_type(file.path, file.data))
        for file in written.files
    )
    span = head.places.get("name", head.span)
    return Skill(str(head.value["name"]), uri(f"{written.folder}/SKILL.md"), span, head.value, files)


def uri(path: str) -> str:
    """Return the uri of a file of a skill."""
    return f"skill://{quote(path, safe='/' + PLAIN, errors='surrogateescape')}"


def _judged(head: Frontmatter, written: SkillDefinition) -> Iterator[Diagnostic]:
    """Yield what the extension, and the format of skills, have against one."""
    for field in ("name", "description"):
        value = head.value.get(field)
        if not isinstance(value, str) or not value.strip():
            span = head.places.get(field, head.span)
            yield diagnose("MCP132", span, f"a skill needs a `{field}`, a text", "", f"write `{field}: …`")
    yield from _named(head, written)
    description = head.value.get("description")
    if isinstance(description, str) and len(description) > LONGEST_DESCRIPTION:
        message = f"the description has {len(description)} characters"
        yield diagnose("MCP134", head.places["description"], message, f"at most {LONGEST_DESCRIPTION}")
    metadata = head.value.get("metadata")
    for key in metadata if isinstance(metadata, dict) else ():
        if key.startswith(RESERVED):
            message = f"`{key}` is reserved for extensions of the protocol"
            yield diagnose("MCP134", head.places["metadata"], message, "", "give it a prefix of your own")
    yield from _oversized(head, written)


def _named(head: Frontmatter, written: SkillDefinition) -> Iterator[Diagnostic]:
    name, folder = head.value.get("name"), written.folder.rpartition("/")[2]
    if not isinstance(name, str) or not name.strip():
        return
    if not NAME.match(name):
        yield diagnose("MCP133", head.places["name"], f"no skill can be called `{name}`", A_NAME)
    elif name != folder:
        hint = f"rename the folder to `{name}`, or the skill to `{folder}`"
        message = f"the skill `{name}` lies in a folder called `{folder}`"
        yield diagnose("MCP133", head.places["name"], message, "", hint)
    if any(not re.fullmatch(r"[A-Za-z0-9._~-]+", part) for part in written.folder.split("/")):
        message = f"the folder `skills/{written.folder}` becomes part of a uri"
        yield diagnose("MCP133", Span(written.main.path), message, "letters, digits and `. _ ~ -`")


def _oversized(head: Frontmatter, written: SkillDefinition) -> Iterator[Diagnostic]:
    size = sum(len(source.data) for source in written.files)
    for what, found, most in (("files", len(written.files), MOST_FILES), ("bytes", size, MOST_BYTES)):
        if found > most:
            message = f"the skill has {found:,} {what}"
            hint = "hosts may refuse it; leave out what the skill does not need"
            yield diagnose("MCP135", head.span, message, f"at most {most:,}", hint)


def _repeated(skills: list[Skill], definition: Definition) -> Iterator[Diagnostic]:
    firsts: dict[str, Skill] = {}
    for skill in skills:
        first = firsts.setdefault(skill.name, skill)
        if first is not skill:
            hint = f"the first is at {place(first.span, definition.sources)}; rename one of them"
            yield diagnose("MCP136", skill.span, f"two skills are called `{skill.name}`", "", hint)
