"""Names of classes and fields: each depends only on names in definitions, not on other generated classes.

Every class of a tool begins with the name of its input's class (`FileReadInput`) or of its output's, and with no other
tool's, so that the name of a class identifies its tool.
"""

from __future__ import annotations

import keyword
import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

INPUT, OUTPUT = "Input", "Output"
SUFFIX = re.compile("Input|Output")
NOT_A_WORD = re.compile(r"[^0-9A-Za-z]+")
NOT_IN_A_NAME = re.compile(r"\W")
MAX_PART_LENGTH = 40
"""Maximum length of a part's name in the name of its class."""

PROTECTED = ("model_validate", "model_dump")
"""Prefixes of pydantic's methods, for which it warns if a field has them."""
ATTRIBUTES = frozenset(
    (
        *("construct", "copy", "dict", "from_orm", "json", "model_computed_fields", "model_config"),
        *("model_construct", "model_copy", "model_extra", "model_fields", "model_fields_set"),
        *("model_json_schema", "model_parametrized_name", "model_post_init", "model_rebuild", "parse_file"),
        *("parse_obj", "parse_raw", "schema", "schema_json", "update_forward_refs", "validate", "root"),
    )
)
"""Attributes of every model."""
MODULE_NAMES = frozenset(
    (
        *("Annotated", "Any", "BaseModel", "ConfigDict", "Dict", "Field", "Literal", "RootModel", "bool"),
        *("builtins", "dict", "float", "int", "list", "object", "str", "tuple"),
    )
)
"""Names in generated modules; a field with such a name would hide it from the annotations after it."""
RESERVED = ATTRIBUTES | MODULE_NAMES | frozenset(keyword.kwlist)


def pascal_case(text: str) -> str:
    """Return a text in the form of a class name: `file_read` becomes `FileRead`."""
    return "".join(word[0].upper() + word[1:] for word in NOT_A_WORD.split(text) if word)


def part_name(text: str) -> str:
    """Return the name of a definition's part in the name of its class."""
    return pascal_case(text)[:MAX_PART_LENGTH] or "Part"


def tool_classes(tools: Iterable[str]) -> dict[str, str]:
    """Return for each tool the prefix of its classes, before `Input` and `Output`."""
    classes: dict[str, str] = {}
    given, inner = set[str](), set[str]()
    # Whatever the order of the tools, and the shorter first: a longer name may begin with it.
    for tool in sorted(set(tools), key=lambda name: (len(pascal_case(name)), name)):
        classes[tool] = next(base for base in _candidates(tool) if _is_free(base, given, inner))
        for root in root_classes(classes[tool]):
            given.add(root)
            inner.update(_beginnings(root))
    return classes


def root_classes(base: str) -> tuple[str, str]:
    """Return the classes of a tool's input and output."""
    return base + INPUT, base + OUTPUT


def owning_tool(name: str, owners: dict[str, str]) -> str:
    """Return the tool that a class belongs to, or an empty string; `owners`: the tool of each root."""
    return next((owners[start] for start in (*_beginnings(name), name) if start in owners), "")


def _candidates(tool: str) -> Iterator[str]:
    plain = pascal_case(tool)
    if plain[:1].isalpha():
        yield plain
    yield f"Tool{plain}"
    number = 2
    while True:
        yield f"Tool{number}{plain}"
        number += 1


def _is_free(base: str, given: Collection[str], inner: Collection[str]) -> bool:
    """Tell whether no root would equal, begin with, or be the beginning of another one."""
    return all(
        root not in given and root not in inner and not any(start in given for start in _beginnings(root))
        for root in root_classes(base)
    )


def _beginnings(name: str) -> Iterator[str]:
    """Yield the proper prefixes of a name that could be a root."""
    return (name[: match.end()] for match in SUFFIX.finditer(name) if match.end() < len(name))


def field_names(properties: Iterable[str], classes: Collection[str] = ()) -> dict[str, str]:
    """Return the field's name for each property that cannot be a field name; `classes` are not hidden by a field."""
    properties = tuple(properties)
    # Properties that can keep their names have them before others get one.
    taken = {name for name in properties if _is_plain(name) and name not in classes}
    names: dict[str, str] = {}
    for name in properties:
        if name not in taken:
            names[name] = _unused(_identifier(name), taken)
    return names


def _is_plain(name: str) -> bool:
    usual = name.isidentifier() and not name.startswith(("_", *PROTECTED)) and name not in RESERVED
    # Python reads `ﬁ` as `fi`, so that the field would have another name than the property.
    return usual and unicodedata.normalize("NFKC", name) == name


def _identifier(name: str) -> str:
    bare = NOT_IN_A_NAME.sub("_", unicodedata.normalize("NFKC", name)).strip("_")
    if not bare.isidentifier() or bare.startswith(PROTECTED):
        return f"field_{bare}".rstrip("_")
    return f"{bare}_" if bare in RESERVED else bare


def _unused(name: str, taken: set[str]) -> str:
    number, free = 2, name
    while free in taken:
        free = f"{name.rstrip('_')}_{number}"
        number += 1
    taken.add(free)
    return free
