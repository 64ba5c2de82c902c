"""Random configuration files as people have them, and readers of them that are not ours.

Each text is valid in its format, and says what its oracle reads: JSON with comments and trailing commas is read by the
standard library after both were removed by a scanner of characters.
"""

import json
import tomllib
from random import Random
from typing import Any

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
WORDS = ("a", "theme", "editor.fontSize", "é", "x y", "mcpServers", "servers", "weather", "o'k", "://", "/* no */", "")
COMMENTS = ("// c", "// {", "/* c */", "/* a\n b */", '// "q', "// ,")
OWN_NAMES = ("one", "two", "three", "with space", "ünï")


def json_text(random: Random, key: str) -> str:
    """Return a file of JSON with comments, whose servers, if any, are at `key`."""
    style = Style(random)
    members = [(random.choice(WORDS), value(random, 2)) for _ in range(random.randrange(4))]
    if random.random() < 0.8:
        servers = {name: server(random) for name in random.sample(OWN_NAMES, random.randrange(4))}
        members.insert(random.randrange(len(members) + 1), (key, servers))
        if random.random() < 0.05:
            members.append((key, servers))  # twice: the last one counts
    members = [(name, each) for name, each in members if name != key or isinstance(each, dict)]
    text = style.comment() + style.write(members or {}, 0) + style.comment()
    text = text.replace("\n", random.choice(("\n", "\n", "\n", "\r\n")))
    return random.choice(("", "", "", "", "\ufeff")) + text + random.choice(("", "\n"))


def value(random: Random, depth: int) -> Any:
    if depth and random.random() < 0.5:
        if random.random() < 0.5:
            return [value(random, depth - 1) for _ in range(random.randrange(3))]
        return {random.choice(WORDS): value(random, depth - 1) for _ in range(random.randrange(3))}
    return random.choice((None, True, 1, -0.5, 1e9, "text", 'q"\\', "\u2028é", "// no", "a,}", ""))


def server(random: Random) -> dict[str, Any]:
    return {"command": random.choice(("npx", "/bin/x")), "args": ["-y", "p"][: random.randrange(3)], "env": {"A": "b"}}


class Style:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.indent = random.choice(("  ", "    ", "\t", ""))
        self.is_flat = random.random() < 0.2
        self.trails = random.random() < 0.3
        self.comments = random.random() < 0.4

    def comment(self) -> str:
        blank = self.random.choice(("", "", " ", "\n"))
        if not self.comments or self.random.random() < 0.7:
            return blank
        text = self.random.choice(COMMENTS)
        return f" {text}\n" if text.startswith("//") else f" {text} "

    def write(self, value: Any, depth: int) -> str:
        """Return a value as text; a list of pairs is an object, which may have a key twice."""
        if isinstance(value, dict):
            return self.write([*value.items()], depth) if value else "{" + self.comment() + "}"
        if isinstance(value, list) and value and isinstance(value[0], tuple):
            items = [f"{json.dumps(key)}{self.comment()}: {self.write(each, depth + 1)}" for key, each in value]
            return self.within("{", items, "}", depth)
        if isinstance(value, list):
            return self.within("[", [self.write(each, depth + 1) for each in value], "]", depth)
        return json.dumps(value, ensure_ascii=self.random.random() < 0.5)

    def within(self, opening: str, items: list[str], closing: str, depth: int) -> str:
        if not items:
            return opening + self.comment() + closing
        end = "" if self.is_flat else "\n" + self.indent * depth
        start = " " if self.is_flat else "\n" + self.indent * (depth + 1)
        body = ",".join(f"{start}{item}{self.comment()}" for item in items)
        return f"{opening}{body}{',' if self.trails else ''}{self.comment()}{end}{closing}"


def plain_json(text: str) -> str:
    """Return a text without comments, trailing commas and a byte order mark."""
    text = text.removeprefix("\ufeff")
    found: list[str] = []
    at = 0
    while at < len(text):
        if text[at] == '"':
            end = at + 1
            while text[end] != '"':
                end += 2 if text[end] == "\\" else 1
            found.append(text[at : end + 1])
            at = end + 1
        elif text.startswith("//", at):
            while at < len(text) and text[at] not in "\r\n":
                at += 1
        elif text.startswith("/*", at):
            at = text.index("*/", at) + 2
        else:
            if text[at] in "]}" and "".join(found).rstrip().endswith(","):
                found = [*"".join(found).rstrip()[:-1]]
            found.append(text[at])
            at += 1
    return "".join(found)


def read_json(text: str) -> Any:
    """Return what a text says; an empty one says nothing."""
    plain = plain_json(text)
    return json.loads(plain) if plain.strip() else {}


def toml_text(random: Random, key: str, *, is_list: bool = False) -> str:
    lines = [
        f"{name} = {random.choice(TOML_VALUES)}" for name in random.sample(("model", "x", "'y.z'"), random.randrange(3))
    ]
    tables = [
        f"[{name}]\nv = {random.choice(TOML_VALUES)}"
        for name in random.sample(("tui", "a.b", '"q q"'), random.randrange(3))
    ]
    for number in range(random.randrange(3)):
        head = f"[[{key}]]\nname = 's{number}'" if is_list else f"[{key}.s{number}]"
        more = f"\n[{key}.s{number}.env]\nA = 'b'" if not is_list and random.random() < 0.4 else ""
        tables.append(f"{head} # c\ncommand = 'x' # why\nargs = [\n  'a', # [\n  \"]\",\n]{more}")
    random.shuffle(tables)
    blank = random.choice(("\n", "\n\n", "\n# c\n"))
    text = blank.join((*lines, *tables)) + random.choice(("", "\n", "\n\n", "\n# end\n"))
    return random.choice(("", "", "", "\ufeff")) + text.replace("\n", random.choice(("\n", "\n", "\r\n")))


TOML_VALUES = (
    "1", "true", "'x'", '"""\n[mcp_servers.w]\n"""', "'''\n# no'''", "{ a = 1, b = [1, 2] }", "nan", "1979-05-27",
    "[[1], [\n2]]",
)  # fmt: skip


def read_toml(text: str) -> Any:
    return tomllib.loads(text.removeprefix("\ufeff"))


def yaml_text(random: Random, key: str, *, is_list: bool = False) -> str:
    """Return a file of YAML in blocks, with values in any style below it."""
    sections = [
        f"{name}: {random.choice(YAML_VALUES)}"
        for name in random.sample(("name", "'q'", "version", "b c"), random.randrange(4))
    ]
    indent = " " * random.choice((2, 2, 4))
    rows = [yaml_entry(random, f"s{number}", indent, is_list=is_list) for number in range(random.randrange(3))]
    if rows:
        margin = random.choice(("", indent)) if is_list else indent
        body = "\n".join(row if margin else row.replace(f"\n{indent}", "\n").removeprefix(indent) for row in rows)
        sections.insert(random.randrange(len(sections) + 1), f"{key}:{random.choice(('', ' # c'))}\n{body}")
    elif random.random() < 0.5:
        sections.append(f"{key}:{random.choice((' {}', ' []') if is_list else (' {}', '', ' # c'))}")
    blank = random.choice(("\n", "\n\n", "\n# c\n", "\n  # c\n"))
    head = random.choice(("", "", "---\n", "# c\n", "# c\n---\n"))
    text = head + blank.join(sections) + random.choice(("", "\n", "\n\n", "\n# end\n"))
    return text.replace("\n", random.choice(("\n", "\n", "\r\n")))


YAML_VALUES = (
    *("1", "x # c", "'it''s'", '"a: b # no"', "[a, {b: c}]", "{a: [1,\n  2]}", "|\n  text: no\n  # no\n\n  more", "it's"),
    *(
        ">-\n  folded\n   x", "\n  deep:\n    - a\n    - b: 1\n      c: 2", "|+\n  keep\n\n", "a b\n  c d", '"x\n  y"',
        "null", "!!str x",
    ),
)  # fmt: skip


def yaml_entry(random: Random, name: str, indent: str, *, is_list: bool) -> str:
    fields = ["cmd: npx", f"args:\n  - a\n  - '{name}'", f"d: {random.choice(YAML_VALUES)}", "enabled: true"]
    fields = ["type: stdio", *random.sample(fields, random.randrange(1, 5))]
    if is_list:
        fields.insert(random.randrange(len(fields)), f"name: {name}")
        lines = "\n".join(fields).split("\n")
        return "\n".join(f"{indent}{'- ' if number == 0 else '  '}{line}" for number, line in enumerate(lines))
    lines = "\n".join(fields).split("\n")
    return "\n".join((f"{indent}{name}:", *(f"{indent}{indent}{line}" for line in lines)))


def read_yaml(text: str) -> Any:
    return yaml.load(text, LOADER) or {}
