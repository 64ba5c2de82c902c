"""Twenty handlers, each with a fault that people make, and the same without it.

A row is the name of the fault, the parameters and the result of a function, and both bodies.
"""

from typing import NamedTuple


class Row(NamedTuple):
    name: str
    signature: str
    faulty: str
    right: str


PYTHON = (
    Row("empty_text", "text: str -> str", "return text[0].upper() + text[1:]", "return text[:1].upper() + text[1:]"),
    Row(
        "bound_is_left_out", "score: Annotated[int, Field(ge=0, le=100)] -> str",
        "return next(grade for grade, low, high in (('C', 0, 50), ('B', 50, 80), ('A', 80, 100)) if low <= score < high)",
        "return next(grade for grade, low, high in (('C', 0, 50), ('B', 50, 80), ('A', 80, 101)) if low <= score < high)",
    ),
    Row("not_ascii", "text: str -> int", "return len(text.encode('latin-1'))", "return len(text.encode('utf-8'))"),
    Row("null_is_allowed", "name: str | None -> str", "return name.strip()", "return (name or '').strip()"),
    Row(
        "missing_option", "options: Options -> str", "return options['prefix'] + '!'",
        "return options.get('prefix', '') + '!'",
    ),
    Row(
        "forgotten_member", "unit: Literal['m', 'km', 'ft', 'mi'] -> float",
        "return {'m': 1.0, 'km': 1000.0, 'mi': 1609.344}[unit]",
        "return {'m': 1.0, 'km': 1000.0, 'mi': 1609.344, 'ft': 0.3048}[unit]",
    ),
    Row(
        "leap_day", "day: date -> str", "return str(day.replace(year=2023))",
        "return str(day.replace(year=2023, day=min(day.day, 28)))",
    ),
    Row(
        "next_month", "day: date -> int", "return day.replace(month=day.month % 12 + 1).month",
        "return day.replace(day=1, month=day.month % 12 + 1).month",
    ),
    Row(
        "last_day_of_all", "day: date -> int", "return (day + timedelta(days=1)).year",
        "return (day + timedelta(days=1)).year if day < date.max else day.year",
    ),
    Row(
        "division_by_zero", "total: float, parts: int -> float", "return total / parts",
        "return total / parts if parts else 0.0",
    ),
    Row("large_number", "seconds: int -> float", "return float(seconds) ** 30", "return float(min(max(seconds, 0), 10)) ** 30"),
    Row("negative_number", "value: float -> float", "return math.sqrt(value)", "return math.sqrt(abs(value))"),
    Row(
        "negative_zero", "value: float -> float", "return 1 / value if str(value) not in ('0', '0.0') else 0.0",
        "return 1 / value if abs(value) > 1e-300 else 0.0",
    ),
    Row(
        "deep_tree", "tree: Tree -> int", "return max(depth(child) for child in tree['children'])",
        "return max((depth(child) for child in tree['children']), default=0)",
    ),
    Row(
        "same_item_twice", "items: list[str] -> int",
        "return sum(1 for each in items if {item: at for at, item in enumerate(items)}[each] == items.index(each) or fail(each))",
        "return sum(1 for each in items)",
    ),
    Row("empty_list", "values: list[float] -> float", "return max(values)", "return max(values, default=0.0)"),
    Row(
        "wrong_type_in_a_branch", "count: Annotated[int, Field(ge=0, le=9)] -> Counted",
        "return {'count': count if count < 7 else 'many'}", "return {'count': count}",
    ),
    Row(
        "key_left_out", "found: bool, note: str = '' -> Found",
        "return {'found': True, 'note': note} if found else {'found': False}", "return {'found': found, 'note': note}",
    ),
)  # fmt: skip

BASH = (
    Row(
        "bash_empty_word",
        '{"word": {"type": "string", "maxLength": 20}}',
        'local first; first=$(jq -r .word <<<"$1" | cut -c1); [[ -n $first ]] || return "$(( 1 / 0 ))"; echo ok',
        "echo ok",
    ),
    Row(
        "bash_not_an_integer",
        '{"share": {"type": "number", "minimum": 0, "maximum": 10}}',
        'local share; share=$(jq -r .share <<<"$1"); echo "$(( share * 2 ))"',
        'jq -r ".share * 2" <<<"$1"',
    ),
)

HEAD = """
import math
from datetime import date, timedelta
from typing import Annotated, Literal, NotRequired, TypedDict

from mcpc import Field, tool


class Options(TypedDict):
    prefix: NotRequired[str]


class Counted(TypedDict):
    count: int


class Found(TypedDict):
    found: bool
    note: str


class Tree(TypedDict):
    children: list["Tree"]


def depth(tree):
    return 1 + max((depth(child) for child in tree["children"]), default=0)


def fail(each):
    raise KeyError(each)
"""


def project() -> dict[str, object]:
    """Return a project with every handler twice: as `NAME` with its fault, and as `right_NAME`."""
    python, bash, tools = [HEAD], [], []
    for row in PYTHON:
        parameters, _, result = row.signature.rpartition(" -> ")
        for name, body in ((row.name, row.faulty), (f"right_{row.name}", row.right)):
            python.append(f"@tool(readOnlyHint=True)\ndef {name}({parameters}) -> {result}:\n    {body}\n")
    for row in BASH:
        for name, body in ((row.name, row.faulty), (f"right_{row.name}", row.right)):
            bash.append(f"tool_{name}() {{ {body}; }}\n")
            required = row.signature.split(":")[0].removeprefix("{")
            schema = f'{{"type": "object", "properties": {row.signature}, "required": [{required}]}}'
            tools.append(
                f'{{"name": "{name}", "description": "Does something.", "inputSchema": {schema}, "annotations": {{"readOnlyHint": true}}}}'
            )
    return {
        "server.json": '{"serverInfo": {"name": "faulty", "version": "1.0.0"}}',
        "tools.py": "\n\n".join(python),
        "tools.bash": "".join(bash),
        "tools.json": f'{{"tools": [{", ".join(tools)}]}}',
    }


ROWS = (*PYTHON, *BASH)
