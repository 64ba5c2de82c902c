"""Projects that mean harm, made from a seed: wherever a definition allows text, there is text that wants to be code.

Three out of four projects hold nothing that a definition must not hold, so that they are built; the others hold
anything.  Each attack, were it ever obeyed, would leave a mark: an attribute of `builtins`, or a file.
"""

import builtins
import json
import keyword
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

Json = Any

MARK = "mcpc_canary"
PYTHON = f"__import__('builtins').__dict__.update({MARK}=1)"
SHELL = f"touch {MARK}"


class Raw(str):
    """JSON text that is written as it is: numbers and words that no encoder would write."""

    __slots__ = ()


ATTACKS = (
    PYTHON, f"'+{PYTHON}+'", f'"+{PYTHON}+"', f"');{PYTHON}#", f'");{PYTHON}#', f"\\');{PYTHON}#", f"\\\\');{PYTHON}#",
    f"'''\n{PYTHON}\n'''", f'"""\n{PYTHON}\n"""', f"\n{PYTHON}\n", f"\r{PYTHON}\r\n", f"#\n    {PYTHON}",
    f"\\\n{PYTHON}", f"x: {PYTHON}", f"{{{PYTHON}}}", f"{{0.__class__.__init__.__globals__}}{{{PYTHON!r}}}",
    f"%({PYTHON})s %s %d %n %", f"\\N{{BULLET}}\\x27\\u0027\\'{PYTHON}", f"{{{{ {PYTHON} }}}}",
    "{{ cycler.__init__.__globals__.os.system('" + SHELL + "') }}",
    "{{ lipsum.__globals__['os'].popen('" + SHELL + "').read() }}",
    "{% for x in ().__class__.__base__.__subclasses__() %}{{ x }}{% endfor %}",
    "{% import 'os' as os %}{% endraw %}{# #}", "{%- raw -%} {{ 7 * 7 }} ${7*7} <%= 7*7 %> #{7*7}", f"$({SHELL})",
    f"`{SHELL}`", f"'; {SHELL}; '", f'"; {SHELL}; "', f"\n{SHELL}\n", f'\' $({SHELL}) "$({SHELL})" \\$({SHELL})',
    f"() {{ :;}}; {SHELL}", f"a[$({SHELL})]", f">{MARK}", f"| {SHELL} &", '"}],"tools":[{"name":"injected"}],"x":[{"',
    '\\"},{\\"name\\":\\"injected\\"', '","jsonrpc":"2.0","id":99,"result":{}}\n{"jsonrpc":"2.0',
    "</script><script>alert(1)</script><!-- ]]>", "::error file=x::injected", "%0A::error::injected",
    "../../../../etc/passwd", "\\", "\\\\", "'", '"', "'''", '"""', "\\'", "", " ", "\t", "\n", "\r\n",
    "e\u0301" + "\u0300" * 50, "👩\u200d👩\u200d👧\u200d👦 🦆 \U0001f1e9\U0001f1ea",
    "\uff21\uff44\uff4d\uff49\uff4e \uff41 \u017f \u212a \u0130 \u00df \ufb01", "A" * 3_000, "'" * 500, "\\" * 501,
    "{{" * 300, "(" * 400, "~0~1/~/%25%2F#/$defs", "__proto__", "__builtins__", "constructor", "$ref", "INDEX",
    "BUNDLE", "C0", "x", "v1", "found", "accepts", "errors", "PATTERNS", "None", "0", "-1", "NaN", "1e999",
    *keyword.kwlist, "__init__", "__class__", "__import__", "__dict__", "exec", "eval", "type", "len", "frozenset",
)  # fmt: skip
"""Text that a definition may hold."""

REFUSED = (
    "\0", f"\0{PYTHON}", "\x1b[31mred\x1b]0;title\x07", "\x7f\x80\x85\x9b31m", "\ud800", "\udfff\ud800", "a\udcffb",
    "\u202etxet\u202c", "\u2028", "\u2029x", "\U0010ffff\ufffe\uffff\ue000", "\u2066\u2069\u200f", "\u200b\u2060\ufeff",
    "\U000e0041\U000e007f",
)  # fmt: skip
"""Text that hides something: one of these anywhere refuses the project."""

NUMBERS: tuple[Json, ...] = (0, 1, -1, 2, 3, 1.0, 0.5, -2.5, 10**15, 2**53 - 1, 1e-7, 1e15, Raw("-0"), Raw("-0.0"))
ODD_NUMBERS = (
    *map(Raw, ("1e999", "-1E+999", "1e-999", "1e308", "1e-400", "9" * 400, "9" * 5_000)),
    *map(Raw, ("123456789012345678901234567890", "1.00000000000000001")),
    *map(Raw, ("NaN", "Infinity", "-Infinity", "01", "+1", ".5", "1.", "0x10", "1_000", "\u0661")),
)
NAMES = (
    *keyword.kwlist,
    *("__init__", "__class__", "__import__", "__dict__", "INDEX", "accepts", "errors", "x", "C0", "type", "print"),
    *("-", ".", "_", "--", "..", "-.-", "0", "007", "-rf", "a.b.c", "tool_x", "con", "A" * 64, "z" * 128, "x-y_z.0"),
)
"""What the protocol allows as the name of a tool."""
SAFE_PATTERNS = ("^[a-z]+$", "[0-9]", "^x", "a|b", "^.{2,4}$", "^(?:ab)*$", "\\\\", "'", '"', "[\\\"'\\]]", "\\{\\{")
"""Patterns that ECMA-262 and Python's `re` read alike, for text of one line."""
TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")


@dataclass(frozen=True, slots=True)
class Hostile:
    """A project: its files, its definitions as JSON reads them, and which schemas two validators must agree on."""

    files: dict[str, str | bytes]
    server: Json
    tools: list[Json]
    prompts: list[Json]
    comparable: bool
    page_size: int


@dataclass(slots=True)
class Maker:
    chance: random.Random
    refused: bool
    comparable: bool = True
    used: set[str] = field(default_factory=set)

    def often(self, share: float) -> bool:
        return self.chance.random() < share

    def text(self) -> str:
        """Return a hostile text, or two or three of them."""
        pool = REFUSED if self.refused and self.often(0.03) else ATTACKS
        pieces = [self.chance.choice(pool) for _ in range(self.chance.choice((1, 1, 1, 2, 3)))]
        return "".join(pieces)

    def number(self) -> Json:
        if self.refused and self.often(0.1):
            return self.chance.choice(ODD_NUMBERS)
        return self.chance.choice(NUMBERS)

    def value(self, depth: int = 3) -> Json:
        kinds: tuple[Callable[[], Json], ...] = (
            self.text,
            self.text,
            self.number,
            lambda: self.chance.choice((None, True, False)),
            lambda: [self.value(depth - 1) for _ in range(self.chance.randrange(4))],
            lambda: {self.text(): self.value(depth - 1) for _ in range(self.chance.randrange(4))},
        )
        return self.chance.choice(kinds if depth else kinds[:4])()

    def deep(self) -> Json:
        if self.refused and self.often(0.5):
            depth = self.chance.choice((70, 300, 3_000, 100_000))
            return Raw("[" * depth + "]" * depth if self.often(0.5) else '{"a":' * depth + "0" + "}" * depth)
        value: Json = self.text()
        for _ in range(self.chance.choice((5, 30, 55))):
            value = [value] if self.often(0.5) else {self.chance.choice(ATTACKS): value}
        return value

    def schema(self, depth: int, definitions: tuple[str, ...] = ()) -> Json:
        """Return a schema; in a refused project it may be any value."""
        if self.refused and self.often(0.02):
            return self.value()
        if self.often(0.05):
            return self.chance.choice((True, False))
        chosen = self.chance.sample(tuple(KEYWORDS), self.chance.randrange(1, 4))
        schema: dict[str, Json] = {}
        for name in chosen:
            schema.update(KEYWORDS[name](self, depth))
        if definitions and self.often(0.3):
            schema["$ref"] = "#/$defs/" + pointer(self.chance.choice(definitions))
        if self.often(0.2):
            schema[self.text()] = self.value(1)  # a keyword nobody knows
        return self.agreeing(schema)

    def agreeing(self, schema: dict[str, Json]) -> dict[str, Json]:
        """Mostly, leave beside a default or an example nothing that could refuse it: a build stops at one that is."""
        if self.often(0.02) or not {"default", "examples"} & schema.keys():
            return schema
        return {name: value for name, value in schema.items() if name == "$comment" or name not in REFUSING}

    def properties(self, depth: int) -> dict[str, Json]:
        return {self.text(): self.schema(depth - 1) for _ in range(self.chance.randrange(1, 4))}

    def root(self) -> Json:
        """Return the schema of a tool's arguments."""
        definitions = tuple(self.text() for _ in range(self.chance.randrange(3)))
        schema: dict[str, Json] = {"type": "object"}
        if self.often(0.9):
            schema["properties"] = {
                name: self.schema(2, definitions) for name in (self.text() for _ in range(self.chance.randrange(1, 5)))
            }
            named = tuple(schema["properties"])
            schema["required"] = self.chance.sample(named, self.chance.randrange(len(named) + 1))
        if definitions:
            schema["$defs"] = {name: self.schema(1) for name in definitions}
        for name in self.chance.sample(tuple(OF_OBJECTS), self.chance.randrange(3)):
            schema.update(KEYWORDS[name](self, 2))
        if self.often(0.02):
            schema["default"] = self.deep()
        elif "examples" in schema and self.often(0.98):
            del schema["examples"]
        return shuffled(schema, self.chance)

    def name(self) -> str:
        """Return a name for a tool or a prompt; two of one project never share a function."""
        while True:
            name = self.chance.choice(NAMES) if self.often(0.8) else f"tool-{self.chance.randrange(1000)}"
            if self.refused and self.often(0.1):
                name = self.text()
            function = name.translate(str.maketrans("-.", "__"))
            if function not in self.used and f"tool_{function}" not in self.used:
                self.used |= {function, f"tool_{function}", f"prompt_{function}"}
                return name

    def described(self) -> dict[str, Json]:
        """Return the members that tools and prompts share."""
        members: dict[str, Json] = {"description": self.text() + "."}
        if self.often(0.4):
            members["title"] = self.text()
        if self.often(0.3):
            members["_meta"] = {self.text(): self.value()}
        if self.often(0.2):
            members["icons"] = [{"src": "data:" + self.text(), "mimeType": self.text(), "sizes": [self.text()]}]
        if self.often(0.3):
            members[f"x-{self.text()}"] = self.value() if self.often(0.9) else self.deep()
        return members

    def tool(self) -> Json:
        tool = {"name": self.name(), **self.described(), "inputSchema": self.root()}
        if self.often(0.4):
            tool["outputSchema"] = self.root()
        if self.often(0.3):
            tool["annotations"] = {"title": self.text(), "readOnlyHint": self.often(0.5), self.text(): self.value(1)}
        return shuffled(tool, self.chance)

    def prompt(self) -> Json:
        names = {self.text(): None for _ in range(self.chance.randrange(4))}
        arguments = [{"name": name, "description": self.text(), "required": self.often(0.5)} for name in names]
        return shuffled({"name": self.name(), **self.described(), "arguments": arguments}, self.chance)

    def description(self) -> Json:
        info = {
            "name": self.text() + "n",
            "version": self.text() + "1",
            "title": self.text(),
            self.text(): self.value(1),
        }
        server = {
            "protocolVersion": "2025-11-25",
            "serverInfo": shuffled(info, self.chance),
            "capabilities": {"tools": {}, "logging": {}, "experimental": {self.text(): {self.text(): self.value(1)}}},
            "instructions": self.text(),
            f"x-{self.text()}": self.value(),
        }
        return shuffled(server, self.chance)


def named(key: str, make: Callable[[Maker, int], Json]) -> Callable[[Maker, int], dict[str, Json]]:
    return lambda maker, depth: {key: make(maker, depth)}


def pattern(maker: Maker) -> str:
    """Return a pattern: one that both validators read alike, or hostile text taken literally, or as it is."""
    if maker.often(0.5):
        return maker.chance.choice(SAFE_PATTERNS)
    text = maker.text()[:300]
    if maker.often(0.9):
        return re.sub(r"([\\^$.*+?()\[\]{}|/])", r"\\\1", text)
    maker.comparable = False
    return text


def below(maker: Maker, depth: int) -> Json:
    """Return a subschema, a plain one where it is deep enough."""
    return maker.schema(depth - 1) if depth else {"type": maker.chance.choice(TYPES)}


def some(maker: Maker, depth: int) -> Json:
    return [below(maker, depth) for _ in range(maker.chance.randrange(1, 4))]


def texts(maker: Maker, least: int = 0) -> list[str]:
    return list(dict.fromkeys(maker.text() for _ in range(maker.chance.randrange(least, 4))))


def count(maker: Maker, _depth: int) -> Json:
    return maker.chance.randrange(4)


OF_OBJECTS: dict[str, Callable[[Maker, int], dict[str, Json]]] = {
    "additionalProperties": named("additionalProperties", below),
    "patternProperties": named("patternProperties", lambda maker, depth: {pattern(maker): below(maker, depth)}),
    "propertyNames": named("propertyNames", lambda maker, _: {"maxLength": maker.chance.choice((3, 100, 10_000))}),
    "minProperties": named("minProperties", lambda maker, _: maker.chance.randrange(2)),
    "maxProperties": named("maxProperties", lambda maker, _: maker.chance.randrange(2, 6)),
    "dependentRequired": named("dependentRequired", lambda maker, _: {maker.text(): texts(maker)}),
    "dependentSchemas": named("dependentSchemas", lambda maker, depth: {maker.text(): below(maker, depth)}),
    "description": named("description", lambda maker, _: maker.text()),
    "$comment": named("$comment", lambda maker, _: maker.text()),
    "examples": named("examples", lambda maker, _: [maker.value(), maker.value()]),
}
KEYWORDS: dict[str, Callable[[Maker, int], dict[str, Json]]] = {
    **OF_OBJECTS,
    "type": named("type", lambda maker, _: maker.chance.choice(TYPES)),
    "types": named("type", lambda maker, _: maker.chance.sample(TYPES, maker.chance.randrange(1, 4))),
    "enum": named("enum", lambda maker, _: [maker.value(1) for _ in range(maker.chance.randrange(1, 8))]),
    "const": named("const", lambda maker, _: maker.value(2)),
    "default": named("default", lambda maker, _: maker.value()),
    "title": named("title", lambda maker, _: maker.text()),
    "minimum": named("minimum", lambda maker, _: maker.number()),
    "exclusiveMaximum": named("exclusiveMaximum", lambda maker, _: maker.number()),
    "multipleOf": named("multipleOf", lambda maker, _: maker.chance.choice((1, 2, 3, 7))),
    "minLength": named("minLength", count),
    "maxLength": named("maxLength", lambda maker, _: maker.chance.choice((1, 5, 100, 10_000))),
    "pattern": named("pattern", lambda maker, _: pattern(maker)),
    "format": named("format", lambda maker, _: maker.text()),
    "required": named("required", lambda maker, _: texts(maker)),
    "properties": named("properties", lambda maker, depth: maker.properties(depth) if depth else {}),
    "items": named("items", below), "prefixItems": named("prefixItems", some), "contains": named("contains", below),
    "minItems": named("minItems", count),
    "uniqueItems": named("uniqueItems", lambda maker, _: maker.often(0.7)),
    "allOf": named("allOf", some), "anyOf": named("anyOf", some), "oneOf": named("oneOf", some),
    "not": named("not", below), "if": lambda maker,
    depth: {"if": below(maker, depth), "then": below(maker, depth), "else": below(maker, depth)},
}  # fmt: skip
REFUSING = frozenset((*KEYWORDS, "$ref")) - {"default", "examples", "title", "description"}


def pointer(name: str) -> str:
    """Return a name as the step of a JSON Pointer in a URI."""
    return quote(name.replace("~", "~0").replace("/", "~1"), safe="$&'()*+,;=:@!", errors="surrogatepass")


def shuffled(members: dict[str, Json], chance: random.Random) -> dict[str, Json]:
    return dict(chance.sample(list(members.items()), len(members)))


def written(value: Json, chance: random.Random) -> str:
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, dict):
        space = chance.choice(("", " ", "\n  ", "\r\n\t"))
        members = (f"{space}{written(key, chance)}:{space}{written(item, chance)}" for key, item in value.items())
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(written(item, chance) for item in value) + "]"
    return json.dumps(value, ensure_ascii=chance.random() < 0.5)


def make(seed: int) -> Hostile:
    chance = random.Random(seed)
    maker = Maker(chance, refused=chance.random() < 0.25)
    server = maker.description()
    tools = [maker.tool() for _ in range(chance.randrange(1, 4))]
    spread = [maker.tool() for _ in range(chance.randrange(3))]
    prompts = [maker.prompt() for _ in range(chance.randrange(3))]
    files = {
        "server.json": written(server, chance),
        "tools.json": written({"tools": tools}, chance),
        "prompts.json": written({"prompts": prompts}, chance),
    }
    folder = {f"tools.d/{file_name(maker)}.json": tool for tool in spread}
    files.update((path, written(tool, chance)) for path, tool in folder.items())
    for _ in range(chance.randrange(3)):
        files[f"beside/{file_name(maker)}.txt"] = maker.text()
    tools += [tool for _, tool in sorted(folder.items())]
    if maker.refused and maker.often(0.1):
        path = chance.choice(sorted(files))
        text = files[path]
        at = chance.randrange(len(text) + 1)
        files[path] = text[:at] + chance.choice(("\\", '"', "}", ",", "\0", "\ufeff", "//", "\udcff")) + text[at:]
    files["tools.py"] = functions("tool", tools)
    files["prompts.py"] = functions("prompt", prompts)
    # A lone surrogate that is not written as an escape becomes bytes that are not UTF-8.
    data: dict[str, str | bytes] = {path: text.encode("utf-8", "surrogatepass") for path, text in files.items()}
    return Hostile(data, server, tools, prompts, maker.comparable, chance.choice((0, 0, 1, 2)))


def file_name(maker: Maker) -> str:
    """Return a hostile name for a file, as far as a file system takes it."""
    return re.sub(r"[/\0\n\r\u2028\u2029\ud800-\udfff]", "", maker.text())[:60] + str(maker.chance.randrange(10**6))


def functions(kind: str, definitions: list[Json]) -> str:
    """Return handlers for the definitions that can have one."""
    names = [definition["name"].translate(str.maketrans("-.", "__")) for definition in definitions]
    return "".join(
        f"def {kind}_{name}(**given):\n    return given\n" for name in names if f"{kind}_{name}".isidentifier()
    )


def fired(folder: Path) -> bool:
    """Say whether any attack was obeyed."""
    return hasattr(builtins, MARK) or any(folder.iterdir()) or Path(MARK).exists()
