"""Lower skill folders: frontmatter, URIs, media types; and check the rules of the extension.

A skill's name is the last segment of its path and the name in its frontmatter: hosts find it by either.

Clients receive the frontmatter, the YAML between the first two `---` lines, and compare it with their own parse, so
that scalars have to be those of YAML 1.2.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from mcpc.diagnostics import Span, diagnose
from mcpc.model.ir.nodes import Skill, SkillFile
from mcpc.reading.yaml_tree import YamlError, read_yaml
from mcpc_runtime.protocol.media import media_type

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.model.definitions import Definition, SkillDefinition
    from mcpc.reading.json_tree import Json
    from mcpc.reading.source import Source


# From the first line, `---` (also after a byte order mark), up to the next line `---`; there may be nothing between.
FENCED = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)(?:\r?\n)?^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """Parsed frontmatter: the object, and the positions of its members."""

    value: dict[str, Json]
    places: Mapping[str, Span]
    span: Span


def read_frontmatter(source: Source) -> tuple[Frontmatter | None, Diagnostics]:
    """Return the frontmatter of a Markdown file, or None and what is wrong with it."""
    fenced = FENCED.match(source.text)
    if fenced is None:
        hint = "the first line is `---`, then `name: …` and `description: …`, then `---` again"
        problem = diagnose("MCP130", Span(source.path, 0, 3), f"`{source.path}` has no frontmatter", "", hint)
        return None, (problem,)
    start = fenced.start(1)
    try:
        node = read_yaml(fenced[1], source.path, start)
    except YamlError as problem:
        message = f"the frontmatter is not valid YAML: {problem}" if problem.is_syntax else str(problem)
        return None, (
            diagnose(
                "MCP131", Span(source.path, problem.start, min(problem.end, fenced.end(1))), message, "", problem.hint
            ),
        )
    if not isinstance(node.value, dict):
        return None, (diagnose("MCP130", Span(source.path, 0, fenced.end()), "the frontmatter is not a mapping"),)
    places = {each.key: Span(source.path, each.key_start, each.node.end) for each in node.members}
    return Frontmatter(node.value, places, Span(source.path, start, fenced.end(1))), ()


NAME = re.compile(r"(?!.*--)[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?\Z")
A_NAME = "1 to 64 of `a-z 0-9 -`, with no hyphen at an end and no two together"
MAX_DESCRIPTION_LENGTH = 1024
MAX_FILES = 512
MAX_BYTES = 16 << 20
RESERVED = "io.modelcontextprotocol/"
PLAIN = "!$&'()*+,;=:@-._~"
"""Characters that appear unescaped in a path segment (RFC 3986, section 3.3)."""


def lower_skills(definition: Definition) -> tuple[tuple[Skill, ...], Diagnostics]:
    """Return the valid skills, and the diagnostics of all."""
    made: list[Skill] = []
    problems: list[Diagnostic] = []
    for written in definition.skills:
        head, skill_problems = read_frontmatter(written.main)
        problems += skill_problems
        if head is not None:
            wrong = tuple(_check_skill(head, written))
            problems += wrong
            # Without a name or a description there is no skill to list; with any other problem there is one.
            made += [] if any(problem.code == "MCP132" for problem in wrong) else [_skill(head, written)]
    problems += _repeated(made, definition)
    return tuple(made), tuple(problems)


def _skill(head: Frontmatter, written: SkillDefinition) -> Skill:
    files = tuple(
        SkillFile(skill_uri(file.path.removeprefix("skills/")), file, media_type(file.path, file.data))
        for file in written.files
    )
    span = head.places.get("name", head.span)
    return Skill(str(head.value["name"]), skill_uri(f"{written.folder}/SKILL.md"), span, head.value, files)


def skill_uri(path: str) -> str:
    """Return the URI of a file of a skill."""
    # Names of files need not be UTF-8 on POSIX; their bytes are escaped one by one.
    return f"skill://{quote(path, safe='/' + PLAIN, errors='surrogateescape')}"


def _check_skill(head: Frontmatter, written: SkillDefinition) -> Iterator[Diagnostic]:
    """Yield violations of the extension and of the skill format."""
    for field in ("name", "description"):
        value = head.value.get(field)
        if not isinstance(value, str) or not value.strip():
            span = head.places.get(field, head.span)
            yield diagnose("MCP132", span, f"a skill needs a `{field}`, a string", "", f"write `{field}: …`")
    yield from _check_name(head, written)
    description = head.value.get("description")
    if isinstance(description, str) and len(description) > MAX_DESCRIPTION_LENGTH:
        message = f"the description has {len(description)} characters"
        yield diagnose("MCP134", head.places["description"], message, f"at most {MAX_DESCRIPTION_LENGTH}")
    metadata = head.value.get("metadata")
    for key in metadata if isinstance(metadata, dict) else ():
        if key.startswith(RESERVED):
            message = f"`{key}` is reserved for extensions of the protocol"
            yield diagnose("MCP134", head.places["metadata"], message, "", "use your own prefix")
    yield from _oversized(head, written)


def _check_name(head: Frontmatter, written: SkillDefinition) -> Iterator[Diagnostic]:
    name, folder = head.value.get("name"), written.folder.rpartition("/")[2]
    if not isinstance(name, str) or not name.strip():
        return
    if not NAME.match(name):
        yield diagnose("MCP133", head.places["name"], f"invalid skill name `{name}`", A_NAME)
    elif name != folder:
        hint = f"rename the folder to `{name}`, or the skill to `{folder}`"
        message = f"the skill `{name}` is in a folder named `{folder}`"
        yield diagnose("MCP133", head.places["name"], message, "", hint)
    if any(not re.fullmatch(r"[A-Za-z0-9._~-]+", part) for part in written.folder.split("/")):
        message = f"the folder name `skills/{written.folder}` cannot be part of a URI"
        yield diagnose("MCP133", Span(written.main.path), message, "letters, digits and `. _ ~ -`")


def _oversized(head: Frontmatter, written: SkillDefinition) -> Iterator[Diagnostic]:
    size = sum(len(source.data) for source in written.files)
    for what, actual, most in (("files", len(written.files), MAX_FILES), ("bytes", size, MAX_BYTES)):
        if actual > most:
            message = f"the skill has {actual:,} {what}"
            hint = "hosts may refuse it; leave out what the skill does not need"
            yield diagnose("MCP135", head.span, message, f"at most {most:,}", hint)


def _repeated(skills: list[Skill], definition: Definition) -> Iterator[Diagnostic]:
    firsts: dict[str, Skill] = {}
    for skill in skills:
        first = firsts.setdefault(skill.name, skill)
        if first is not skill:
            hint = f"the first is at {first.span.place_in(definition.sources)}; rename one of them"
            yield diagnose("MCP136", skill.span, f"two skills have the name `{skill.name}`", "", hint)
