"""Projects of other systems that mean harm, made from a seed: a sound one of each format, and a few things changed.

Whatever is written in a definition may become any JSON value, text that wants to be code, or nothing; whatever lies in
a project may be cut short, hold any bytes, be a folder, a pipe, a device or a link, or be called anything.  Code is
changed only where it holds plain values, so that nothing that is run was made up.
"""

import ast
import json
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from system import hostile

Json = Any

Place = tuple[str | int, ...]

TOUCH = hostile.SHELL
CODE = (
    f"$({TOUCH})", f"`{TOUCH}`", f"${{x:-$({TOUCH})}}", f"a[$({TOUCH})]", f"x;{TOUCH};", f"' ; {TOUCH} ; '",
    f'" ; {TOUCH} ; "', f"\n{TOUCH}\n", f"__import__('os').system('{TOUCH}')",
    f"'+__import__('os').system('{TOUCH}')+'", f'"""\n__import__("os").system("{TOUCH}")\n"""',
    f"${{require('child_process').execSync('{TOUCH}')}}", f"`;require('child_process').execSync('{TOUCH}');`",
    f"*/ globalThis.process.getBuiltinModule('child_process').execSync('{TOUCH}') /*", f"{{{{$({TOUCH})}}}}",
    "${name} {{name}} ${env.HOME} ${env.x:y}", "../../../../etc/passwd", "/etc/passwd", "file:///etc/passwd",
    "file://../../../../etc/passwd", "git+https://example.invalid/--upload-pack=touch", "-rf", "a/../../b", "CON", ".",
    "..", "/", "?", "ui://x/y", "x://{a}/{b*}{?c}", "{", "}", "{{", "%", "%zz", "💥", "A" * 70_000,
)  # fmt: skip
"""Text that would leave a mark, or lead somewhere, in one of the languages that these projects are written in."""
ODD_NAMES = (
    f"$({TOUCH})", f"`{TOUCH}`", f"x;{TOUCH};y", "a b", "a'b", 'a"b', "a\nb", "a\\b", "a\tb", "-rf", "é", "e\u0301",
    "\u202egnp", "{{x}}", "%s", "*", "~", "#", "&", "x" * 200, "con", "__proto__", "$x", "...",
)  # fmt: skip
"""Names that files may be given."""


class Twice(dict[str, Any]):
    """An object in which every key is written twice."""

    def items(self) -> Any:
        """Return the members, and all of them again."""
        return [*super().items(), *super().items()]


class Maker(hostile.Maker):
    __slots__ = ()

    def text(self) -> str:
        return self.chance.choice(CODE) if self.often(0.4) else hostile.Maker.text(self)


@dataclass(slots=True)
class Project:
    """`files` are written first, `made` is called for each path that is to be something else than a file."""

    format: str
    files: dict[str, bytes]
    modes: dict[str, int] = field(default_factory=dict)
    made: dict[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()


def text_of(value: Json) -> str:
    return json.dumps(value, indent=1)


SH = "#!/usr/bin/env bash\n"
MCP_BASH: dict[str, str] = {
    "server.d/server.meta.json": text_of({"name": "demo", "version": "1.0.0", "title": "Demo", "description": "A server.", "websiteUrl": "https://example.com/", "icons": [{"src": "icon.svg", "sizes": ["any"]}]}),
    "server.d/server.instructions.md": "Read this.\n",
    "server.d/icon.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>",
    "tools/hello/tool.sh": SH + 'source "${MCP_SDK:?}/tool-sdk.sh"\nmcp_emit_text "$(mcp_args_raw)"\n',
    "tools/hello/tool.meta.json": text_of({"name": "hello", "description": "Says hello.", "inputSchema": {"type": "object", "properties": {"name": {"type": "string", "default": "you"}}, "required": ["name"]}, "timeoutSecs": 9, "timeoutHint": "be quick", "progressExtendsTimeout": True, "maxTimeoutSecs": 20, "annotations": {"readOnlyHint": True}, "icons": [{"src": "data:image/png;base64,AA=="}], "_meta": {"x/y": {"z": [1]}}}),
    "tools/count/count.sh": SH + '# mcp: {"name": "count", "description": "Counts.", "arguments": {"type": "object", "properties": {"n": {"type": "integer"}}}, "timeoutSecs": "5"}\nprintf \'{"n": %s}\' "${#MCP_TOOL_ARGS_JSON}"\n',
    "tools/shaped/run": SH + 'printf \'{"content": [{"type": "text", "text": "x"}], "isError": false, "structuredContent": {"a": 1}}\'\n',
    "tools/shaped/run.meta.json": text_of({"name": "shaped", "description": "Has a shape.", "outputSchema": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}}),
    "prompts/greet/greet.txt": "Greet {{name}} in ${tone}.\n",
    "prompts/greet/greet.meta.json": text_of({"name": "greet", "description": "Greets.", "role": "user", "arguments": {"type": "object", "properties": {"name": {"type": "string", "description": "Who"}, "tone": {"type": "string"}}, "required": ["name"]}, "metadata": {"a": 1}}),
    "prompts/greet/greet.completion.sh": SH + "printf '[\"a\", \"b\"]'\n",
    "resources/readme/readme.txt": "A text.\n",
    "resources/readme/readme.meta.json": text_of({"name": "readme", "description": "To read.", "uri": "file://./resources/readme/readme.txt", "mimeType": "text/plain", "annotations": {"audience": ["user"], "priority": 0.5}}),
    "resources/found/found.meta.json": text_of({"name": "found", "uriTemplate": "file://./resources/{name}", "title": "Found", "description": "Finds.", "mimeType": "text/plain"}),
    "providers/own.sh": SH + "printf 'own: %s' \"$1\"\n",
    "ui/board/index.html": "<!doctype html><p>x</p>\n",
    "ui/board/ui.meta.json": text_of({"description": "A board.", "meta": {"prefersBorder": True}}),
    "config/roots.json": text_of({"roots": [{"path": ".", "name": "here"}]}),
}  # fmt: skip
REGISTER = {
    "server.d/register.json": text_of({"version": 1, "tools": [{"name": "hello", "path": "hello/tool.sh", "description": "Says.", "inputSchema": {"type": "object", "properties": {}}}], "resources": [{"name": "r", "uri": "own://x", "provider": "own", "mimeType": "text/plain"}], "resourceTemplates": [{"name": "t", "uriTemplate": "own://{a}"}], "prompts": [{"name": "greet", "path": "greet/greet.txt", "arguments": [{"name": "name", "required": True}]}], "completions": [{"name": "c", "path": "prompts/greet/greet.completion.sh", "timeoutSecs": 3}], "_meta": {"a": 1}}),
}  # fmt: skip
BLUEPRINTS: dict[str, str] = {
    "servers.json": text_of([{"name": "one", "path": "one", "features": ["one.json", "both.json"]}, {"name": "two", "path": "deep/two", "features": ["both.json"]}]),
    "one.json": text_of({"tools": [{"id": "rules", "title": "Rules", "description": "The rules.", "content": [{"type": "text", "text": "These:"}, {"type": "file", "path": "guides/naming.md"}, {"type": "resource_link", "uri": "https://example.com/", "name": "x", "mimeType": "text/html", "description": "d"}]}], "resources": [{"id": "naming", "title": "Naming", "description": "d", "uri": "docs://naming", "mimeType": "text/markdown", "content": [{"type": "file", "path": "guides/naming.md"}, {"type": "uri", "uri": "https://example.com/"}]}], "prompts": [{"id": "review", "title": "Review", "description": "d", "messages": [{"role": "user", "content": {"type": "text", "text": "Review."}}, {"role": "assistant", "content": {"type": "text", "text": "What?"}}]}], "custom_tools": [], "custom_resources": [], "custom_prompts": []}),
    "both.json": text_of({"tools": [{"id": "who", "description": "d", "content": [{"type": "text", "text": "Ask."}]}], "resources": [{"id": "rota", "description": "d", "uri": "file://guides/rota.json", "mimeType": "application/json"}], "prompts": [], "custom_tools": [], "custom_resources": [], "custom_prompts": []}),
    "guides/naming.md": "# Naming\n",
    "guides/rota.json": '{"monday": "red"}\n',
}  # fmt: skip
CUSTOM = {"custom/names.py": 'from mcpc import tool\n\n\n@tool(name="check_name", readOnlyHint=True)\ndef check(name: str = "x") -> str:\n    """Say what is wrong with a name."""\n    return name\n'}  # fmt: skip
BX: dict[str, str] = {
    "boxlang.json": text_of({"modules": {"bxmcp": {"enabled": True, "settings": {"authToken": [{"token": "${env.ADMIN}", "profile": "admin"}, {"token": "reader-token-0123456789", "profile": "readonly", "includedTools": ["*_get"], "excludedTools": ["x*"]}], "allowedIPs": ["127.0.0.1", "::1"], "corsAllowedOrigins": ["https://app.example.com"], "enableStats": True, "maxRequestBodySize": 100000, "includedTools": ["*"], "excludedTools": ["debug_*"]}}}}),
    "server.py": '''"""A server."""

from typing import Annotated

from mcpc import Server, mcp_prompt, mcp_resource, mcp_tool

mcp = Server("inventory", version="1.2.0")


@mcp_tool("How many are left")
def stock_get(part: Annotated[str, "the name"]) -> dict:
    return {"part": part}


@mcp_tool({"name": "search", "description": "Finds parts", "version": "1.1"})
def look(text: str = "x", most: int = 10):
    """
    Args:
        text: what to look for
        most: how many
    """
    return [text][:most]


@mcp_resource
def policy() -> str:
    """What is reordered."""
    return "Ten."


@mcp_resource({"uri": "config://units", "name": "units", "description": "Units", "mimeType": "application/json"})
def units():
    return {"count": "pieces"}


@mcp_prompt({"description": "A question", "arguments": [{"name": "part", "description": "its name"}]})
def ask_about(part: str, tone: str = "plain"):
    return [{"content": f"How many of {part}?"}, {"role": "assistant", "content": "I shall look."}]
''',
}  # fmt: skip
SCHEMAS: dict[str, Json] = {
    "src/tools/count.ts": {"name": "count", "title": "Count", "description": "Counts.", "type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"], "annotations": {"readOnlyHint": True}, "_meta": {"a": 1}},
    "src/tools/other.mjs": {"description": "Other.", "type": "object", "properties": {"a": {"type": "integer", "default": 3}}},
    "src/tools/named.py": {"title": "Name", "description": "Names.", "type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]},
}  # fmt: skip
TOOLBOX: dict[str, str] = {
    "package.json": text_of({"name": "desk", "version": "1.0.0", "private": True, "type": "module"}),
    "src/data.json": '{"a": 1}\n',
}
SCRIPT = "export const schema = {};\n\nexport default async function (request) {{\n  return {{ content: [{{ type: 'text', text: JSON.stringify(request?.params?.arguments ?? null) }}] }};\n}}\n"
MODULE = '"""A tool."""\n\nschema = {}\n\n\ndef default(request):\n    return {{"content": [{{"type": "text", "text": str(request["params"].get("arguments"))}}]}}\n'


def scripts(schemas: dict[str, str]) -> dict[str, str]:
    """Return the modules of a ToolBox project around these schemas."""
    return {path: (MODULE if path.endswith(".py") else SCRIPT).format(text) for path, text in schemas.items()}


def make(name: str, seed: int) -> Project:
    chance = random.Random(f"{name} {seed}")
    maker = Maker(chance, refused=chance.random() < 0.3)
    # A lone surrogate that is not written as an escape becomes bytes that are not UTF-8.
    files = {path: text.encode("utf-8", "surrogatepass") for path, text in BASES[name](maker).items()}
    project = Project(name, files, options=chance.choice(OPTIONS))
    for path in project.files:
        project.modes[path] = 0o755 if project.files[path].startswith(b"#!") else 0o644
    for _ in range(chance.choice((0, 0, 0, 1, 1, 2))):
        chance.choice(IN_TREES)(project, maker)
    return project


OPTIONS: tuple[tuple[str, ...], ...] = (
    (),
    (),
    (),
    ("--format", "json"),
    ("--strict", "--format", "json"),
    ("--dialect", "mcp-bash"),
    ("--dialect", "toolbox"),
    ("--dialect", "blueprints"),
    ("--validate", "--tools-page-size", "1"),
    ("--resources-page-size", "1", "--no-defaults"),
)


def bases(found: dict[str, str], maker: Maker) -> dict[str, str]:
    """Return the files, one to four times something in their values changed."""
    files = dict(found)
    paths = [path for path in sorted(files) if path in PLACES or path.endswith(".json")]
    for _ in range(maker.chance.choice((1, 1, 2, 4))):
        path = maker.chance.choice(paths)
        files[path] = PLACES.get(path, in_json)(files[path], maker)
    return files


def mcp_bash(maker: Maker) -> dict[str, str]:
    return bases({**MCP_BASH, **(REGISTER if maker.often(0.3) else {})}, maker)


def blueprints(maker: Maker) -> dict[str, str]:
    files = dict(BLUEPRINTS)
    if maker.often(0.15):
        files["one.json"] = files["one.json"].replace('"custom_tools": []', '"custom_tools": ["check_name"]')
        files.update(CUSTOM)
    return bases(files, maker)


def bx(maker: Maker) -> dict[str, str]:
    return bases(BX, maker)


def toolbox(maker: Maker) -> dict[str, str]:
    schemas = {path: written(changed(value, maker), maker) for path, value in SCHEMAS.items()}
    if not maker.often(0.5):
        schemas = {path: schemas[path] for path in maker.chance.sample(sorted(schemas), 2)}
    return {**bases(TOOLBOX, maker), **scripts({path: fitting(path, text) for path, text in schemas.items()})}


def fitting(path: str, text: str) -> str:
    """Return JSON as the language of a module has it."""
    if not path.endswith(".py"):
        return text
    try:
        return repr(json.loads(text))
    except (ValueError, RecursionError):
        return text


BASES: dict[str, Callable[[Maker], dict[str, str]]] = {
    "mcp-bash": mcp_bash,
    "blueprints": blueprints,
    "bx-mcp": bx,
    "toolbox": toolbox,
}


# Values.


def places(value: Json, at: Place = ()) -> Iterator[Place]:
    """Yield where something stands in a value."""
    yield at
    for key, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(part, (*at, key))


def found(value: Json, at: Place) -> Json:
    for step in at:
        value = value[step]
    return value


def changed(value: Json, maker: Maker) -> Json:
    known = list(places(value))
    texts = [place for place in known if place and isinstance(found(value, place), str)]
    if texts and maker.often(0.4):
        whole = json.loads(json.dumps(value))
        place = maker.chance.choice(texts)
        attacked(found(whole, place[:-1]), place[-1], maker)
        return whole
    place = maker.chance.choice(known)
    if not place:
        return maker.chance.choice(
            (value, value, {}, [], maker.value(), Twice(value) if isinstance(value, dict) else 0)
        )
    whole = json.loads(json.dumps(value))
    holder, last = found(whole, place[:-1]), place[-1]
    maker.chance.choice(IN_VALUES)(holder, last, maker)
    return whole


def replaced(holder: Json, last: str | int, maker: Maker) -> None:
    holder[last] = maker.value() if maker.often(0.9) else maker.deep()


def attacked(holder: Json, last: str | int, maker: Maker) -> None:
    holder[last] = maker.text()


def left_out(holder: Json, last: str | int, maker: Maker) -> None:
    del holder[last]


def added(holder: Json, last: str | int, maker: Maker) -> None:
    if isinstance(holder, list):
        holder += [maker.value(), holder[0]]
    else:
        holder[maker.text()] = maker.value()


def renamed(holder: Json, last: str | int, maker: Maker) -> None:
    if isinstance(holder, dict):
        holder[maker.text()] = holder.pop(last)


def doubled(holder: Json, last: str | int, maker: Maker) -> None:
    if isinstance(holder, list):
        holder += holder * maker.chance.choice((1, 1, 300))
    elif isinstance(holder[last], dict):
        holder[last] = Twice(holder[last])


IN_VALUES = (replaced, replaced, attacked, left_out, added, added, renamed, doubled)


def written(value: Json, maker: Maker) -> str:
    return hostile.written(value, maker.chance)


def in_json(text: str, maker: Maker) -> str:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return written(changed(value, maker), maker)


def in_header(text: str, maker: Maker) -> str:
    """Change the object in the line of a script that begins with `# mcp:`; it stays one line, and so a remark."""
    begin, mark, rest = text.partition("# mcp: ")
    line, end, rest = rest.partition("\n")
    return f"{begin}{mark}{' '.join(in_json(line, maker).split())}{end}{rest}"


class Constants(ast.NodeTransformer):
    """Changes one of the texts of a module that are no code: in marks, in docstrings, and what arguments usually are."""

    def __init__(self, maker: Maker, wanted: int) -> None:
        self.maker, self.wanted, self.number = maker, wanted, 0

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        self.number += 1
        if self.number - 1 != self.wanted:
            return node
        value: Json = self.maker.text() if self.maker.often(0.7) else plain(self.maker.value(2))
        return ast.copy_location(ast.parse(repr(value), mode="eval").body, node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node


def plain(value: Json) -> Json:
    """Return a value without what only JSON could write."""
    if isinstance(value, hostile.Raw):
        return 0
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, list) else value


def in_module(text: str, maker: Maker) -> str:
    try:
        module = ast.parse(text)
        count = sum(isinstance(node, ast.Constant) for node in ast.walk(module))
        return ast.unparse(Constants(maker, maker.chance.randrange(count)).visit(module)) + "\n"
    except (SyntaxError, ValueError, UnicodeEncodeError):
        return text


def in_text(text: str, maker: Maker) -> str:
    return text + maker.text()


PLACES: dict[str, Callable[[str, Maker], str]] = {
    "tools/count/count.sh": in_header, "prompts/greet/greet.txt": in_text, "guides/naming.md": in_text,
    "resources/readme/readme.txt": in_text, "server.d/server.instructions.md": in_text, "server.py": in_module,
    "custom/names.py": in_module,
}  # fmt: skip


# Files.


def some_file(project: Project, maker: Maker) -> str:
    return maker.chance.choice(sorted(project.files))


def is_code(path: str) -> bool:
    """Tell whether what is put into a file might be run."""
    return not path.endswith((".json", ".md", ".txt", ".html"))


def cut(project: Project, maker: Maker) -> None:
    path = some_file(project, maker)
    project.files[path] = project.files[path][: maker.chance.randrange(len(project.files[path]) + 1)]


def stained(project: Project, maker: Maker) -> None:
    path = some_file(project, maker)
    data = project.files[path]
    at = maker.chance.randrange(len(data) + 1)
    stain = maker.chance.choice((b"\xff", b"\xed\xa0\x80", b"\0", b"\xef\xbb\xbf", b"\r", b"\x1b[31m", b"\xc0\xaf"))
    project.files[path] = data[:at] + stain + data[at:]


def marked(project: Project, maker: Maker) -> None:
    path = some_file(project, maker)
    mark = maker.chance.choice((b"\xef\xbb\xbf", b"\xff\xfe", b"\0\0\xfe\xff", b"\0"))
    project.files[path] = mark + project.files[path]


def windows(project: Project, maker: Maker) -> None:
    path = some_file(project, maker)
    project.files[path] = project.files[path].replace(b"\n", maker.chance.choice((b"\r\n", b"\r", b"\n\n")))


def nothing(project: Project, maker: Maker) -> None:
    project.files[some_file(project, maker)] = maker.chance.choice((b"", b" ", b"\n", b"null", b"[]", b"{}"))


def gone(project: Project, maker: Maker) -> None:
    del project.files[some_file(project, maker)]


def exchanged(project: Project, maker: Maker) -> None:
    one, other = some_file(project, maker), some_file(project, maker)
    if is_code(one) == is_code(other):
        project.files[one], project.files[other] = project.files[other], project.files[one]


def called(project: Project, maker: Maker) -> None:
    """Give a file, or one of its folders, an odd name."""
    path = some_file(project, maker)
    parts = path.split("/")
    number = maker.chance.randrange(len(parts))
    _, dot, ending = parts[number].partition(".")
    parts[number] = maker.chance.choice(ODD_NAMES) + (dot + ending if maker.often(0.7) else "")
    new = "/".join(parts)
    if len(os.fsencode(parts[number])) < 250 and not any(new.startswith(f"{one}/") for one in project.files):
        project.files[new] = project.files.pop(path)
        project.modes[new] = project.modes.get(path, 0o644)


def open_to_all(project: Project, maker: Maker) -> None:
    project.modes[some_file(project, maker)] = maker.chance.choice((0o777, 0o666, 0o755, 0o600, 0o6755))


def another(project: Project, maker: Maker) -> None:
    path = some_file(project, maker)
    del project.files[path]
    project.made[path] = maker.chance.choice(sorted(MAKING))


def beside(project: Project, maker: Maker) -> None:
    folder = some_file(project, maker).rpartition("/")[0]
    path = f"{folder}/beside" if folder else "beside"
    if path not in project.files:
        project.made[path] = maker.chance.choice(sorted(MAKING))


def large(project: Project, maker: Maker) -> None:
    path = some_file(project, maker)
    filling = (b" ", b"\n") if is_code(path) else (b" ", b"x", b"[", b'"', b"\n")
    project.files[path] += maker.chance.choice(filling) * maker.chance.choice((10**5, 3 * 10**6))


IN_TREES = (cut, stained, stained, marked, windows, nothing, gone, exchanged, called, called, open_to_all, another)
IN_TREES += (another, beside, large)


def fifo(path: Path) -> None:
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.mkdir()
    (path / "x.json").write_text("{}")


def link(target: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(target)


MAKING: dict[str, Callable[[Path], None]] = {
    "fifo": fifo, "folder": folder, "empty folder": lambda path: path.mkdir(), "device": link("/dev/zero"),
    "outside": link("/etc/passwd"), "everything": link("/"), "nowhere": link("there/is/nothing"), "itself": link("."),
    "above": link(".."),
}  # fmt: skip


def write(project: Project, place: Path) -> Path:
    """Write a project to disk; return its folder."""
    place.mkdir(parents=True)
    for path, data in project.files.items():
        target = place / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        target.chmod(project.modes.get(path, 0o644))
    for path, kind in project.made.items():
        target = place / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            MAKING[kind](target)
    return place
