"""Writer of a schema's two modules: `accepts(x)` is fast, `errors(x)` is thorough, and they agree.

Both refuse a value that is nested too deeply for Python's stack, and one that takes a recursive schema too long: where
alternatives refer to each other, each level of the value can double the steps.  `errors(x)` is called after a refusal:
it gives up earlier, with the keyword `work`, whether the value is valid or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.schema.code import fill, join_code
from mcpc.schema.codegen import applicators, assertions, unevaluated
from mcpc.schema.codegen.defaults import NONE, completion
from mcpc.schema.codegen.program import GeneratedModule
from mcpc.schema.codegen.unevaluated import Marker
from mcpc.schema.codegen.walker import Emitter, ValuePlace
from mcpc.schema.codegen.writers import Collector, Predicate
from mcpc.schema.ecma.matcher import searching

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.schema.analysis import SchemaAnalysis
    from mcpc.schema.code import PythonCode
    from mcpc.schema.codegen.defaults import Defaults
    from mcpc.schema.codegen.program import Unit
    from mcpc.schema.codegen.walker import Path, Walker

EMITTERS: dict[str, Emitter] = {
    "const": Emitter(assertions.constant),
    "enum": Emitter(assertions.enumeration),
    "minimum": Emitter(assertions.compared("%s >= %s", "%s < %s")),
    "maximum": Emitter(assertions.compared("%s <= %s", "%s > %s")),
    "exclusiveMinimum": Emitter(assertions.compared("%s > %s", "%s <= %s")),
    "exclusiveMaximum": Emitter(assertions.compared("%s < %s", "%s >= %s")),
    "multipleOf": Emitter(assertions.multiple),
    "minLength": Emitter(assertions.at_least),
    "maxLength": Emitter(assertions.at_most),
    "pattern": Emitter(assertions.matches),
    "format": Emitter(assertions.has_format),
    "required": Emitter(applicators.all_present, applicators.write_required, applicators.count),
    "minProperties": Emitter(assertions.at_least),
    "maxProperties": Emitter(assertions.at_most),
    "dependentRequired": Emitter(None, applicators.write_dependent_required),
    "properties": Emitter(None, applicators.write_properties),
    "patternProperties": Emitter(None, applicators.write_pattern_properties),
    "additionalProperties": Emitter(None, applicators.write_additional),
    "propertyNames": Emitter(None, applicators.write_property_names),
    "dependentSchemas": Emitter(None, applicators.write_dependent_schemas),
    "minItems": Emitter(assertions.at_least),
    "maxItems": Emitter(assertions.at_most),
    "prefixItems": Emitter(None, applicators.write_prefix),
    "items": Emitter(None, applicators.write_items),
    "contains": Emitter(None, applicators.write_contains),
    "uniqueItems": Emitter(assertions.unique),
    "$ref": Emitter(applicators.target_accepts, applicators.write_reference),
    "$dynamicRef": Emitter(applicators.target_accepts, applicators.write_reference),
    "allOf": Emitter(applicators.all_accept, applicators.write_all, applicators.count),
    "anyOf": Emitter(applicators.any_accepts, applicators.write_alternatives("anyOf"), applicators.count),
    "oneOf": Emitter(applicators.one_accepts, applicators.write_alternatives("oneOf"), applicators.count),
    "not": Emitter(applicators.refuses, applicators.write_not),
    "if": Emitter(None, applicators.write_if),
    "unevaluatedProperties": Emitter(None, unevaluated.write_properties),
    "unevaluatedItems": Emitter(None, unevaluated.write_items),
}
"""The code of each keyword: a row for every keyword that rejects values (`judges` in `keywords`)."""


MANY = 100
"""From so many subschemas on, functions may call each other more deeply than Python's stack is sure to allow."""


@dataclass(frozen=True, slots=True)
class Output:
    """The form of one kind of function: its parameters, the position of its value, and its last line."""

    walker: type[Walker]
    parameters: PythonCode
    path: Path
    result: PythonCode


OUTPUTS = {
    "accepts": Output(Predicate, fill("x"), (), fill("return True")),
    "errors": Output(Collector, fill("x, path, found"), (fill("path"),), fill("return found")),
    "evaluated": Output(Marker, fill("x, seen"), (), fill("return seen")),
    "beside": Output(Marker, fill("x, seen"), (), fill("return seen")),
}


@dataclass(frozen=True, slots=True)
class EntryFunction:
    """The public function of a module: its name, how it calls another function, and its result for a value too deep."""

    kind: str
    title: PythonCode
    head: PythonCode
    prelude: tuple[PythonCode, ...]
    arguments: tuple[PythonCode, ...]
    too_deep: PythonCode
    too_long: tuple[PythonCode, ...]


ENTRIES = {
    "accepts": EntryFunction(
        "accepts",
        fill('"""Say whether a JSON value is valid."""'),
        fill("def accepts(x):"),
        (),
        (fill("x"),),
        fill("return False"),
        (fill("except OverflowError:"), fill("    return False")),
    ),
    "errors": EntryFunction(
        "errors",
        fill('"""List what is wrong with a JSON value: where, by which keyword, and what was expected."""'),
        fill("def errors(x):"),
        (fill("found = []"),),
        (fill("x"), fill("''"), fill("[]")),
        fill("return [('', 'depth', None)]"),
        (
            fill("except OverflowError as error:"),
            fill("    from mcpc_runtime.protocol.validation.patterns import pattern_errors"),
            fill("    return pattern_errors(x, error)"),
        ),
    ),
}


def module(survey: SchemaAnalysis, kind: str, defaults: Defaults = NONE) -> PythonCode:
    """Return the module that defines `accepts` or `errors`, and `complete` if there are `defaults` to fill in."""
    program = GeneratedModule(survey)
    entry = _entry(program, ENTRIES[kind])
    functions = [join_code("\n", entry), *(join_code("\n", _function(program, unit)) for unit in program.units())]
    functions += completion(program, defaults)
    constants = tuple(program.constants())
    head = join_code("\n\n", (ENTRIES[kind].title, *((join_code("\n", constants),) if constants else ())))
    return fill("%s\n", join_code("\n\n\n", (head, *functions, *program.carried())))


def _entry(program: GeneratedModule, entry: EntryFunction) -> Iterator[PythonCode]:
    """Yield the lines of the public function."""
    survey = program.survey
    root = survey.at(survey.root)
    output = OUTPUTS[entry.kind]
    walk = output.walker(program, EMITTERS, entry.kind, is_deep=False)
    # Such a schema could exhaust Python's stack on some value.
    schemas = survey.schemas.values()
    is_guarded = (
        bool(survey.recursive) or len(schemas) > MANY or any("uniqueItems" in schema.keywords for schema in schemas)
    )
    if survey.recursive:
        walk.line(fill("LEFT[0] = %s", program.allowance(entry.kind)))
    is_bounded = any(searching(pattern).guard is not None for pattern in _patterns(survey))
    with walk.section(fill("try:") if is_guarded or is_bounded else None):
        # The root is called from inside as well, so it has a function.
        if survey.root in survey.shared:
            walk.line(fill("return %s", walk.call(entry.kind, root, *entry.arguments)))
        else:
            for line in entry.prelude:
                walk.line(line)
            walk.body(ValuePlace(walk, root, fill("x"), ()))
            walk.line(output.result)
    if is_guarded:
        with walk.section(fill("except RecursionError:")):
            # Both limits raise this error; the counter tells which of them it was.
            if survey.recursive and entry.kind == "errors":
                walk.line(fill("if LEFT[0] < 0:"))
                walk.line(fill("    return [('', 'work', None)]"))
            walk.line(entry.too_deep)
    if is_bounded:
        # The next value has the whole fund again, even if this one has ended with an error.
        for line in (*entry.too_long, fill("finally:"), fill("    STEPS[0] = %s", program.fund())):
            walk.line(line)
    yield entry.head
    yield from walk.lines


def _function(program: GeneratedModule, unit: Unit) -> Iterator[PythonCode]:
    """Yield the lines of the function of one subschema."""
    survey = program.survey
    output = OUTPUTS[unit.kind]
    is_deep = unit.schema.node in survey.recursive
    walk = output.walker(program, EMITTERS, unit.kind, is_deep)
    if is_deep and unit.schema.node in survey.shared:
        walk.line(fill("LEFT[0] -= 1"))
        with walk.section(fill("if depth > %s or LEFT[0] < 0:", program.depth_limit)):
            walk.line(fill("raise RecursionError"))
    walk.body(ValuePlace(walk, unit.schema, fill("x"), output.path))
    walk.line(output.result)
    yield fill("def %s(%s%s):", unit.name, output.parameters, fill(", depth" if is_deep else ""))
    yield from walk.lines


def _patterns(survey: SchemaAnalysis) -> Iterator[str]:
    for schema in survey.schemas.values():
        pattern, named = schema.keywords.get("pattern"), schema.keywords.get("patternProperties")
        if pattern is not None:
            yield str(pattern.value)
        yield from (member.key for member in named.members) if named is not None else ()
