"""References in schemas, replaced by what they refer to.

A schema that refers to itself cannot be written without references: then only its root is replaced.
"""

from __future__ import annotations

from typing import Any

from mcpc_runtime.systems.fastmcp.interfaces import Object

LOCAL = "#/$defs/"
VALUES = frozenset({"default", "const", "examples", "enum"})
"""The keywords whose values are not schemas."""
MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"})
"""The keywords whose values are objects of schemas by name."""


class SelfReferenceError(Exception):
    """A schema refers to itself."""


def root_inlined(schema: Object) -> Object:
    """Return a schema with what its root refers to in the place of a reference, and the rest of the root over it."""
    reference = schema.get("$ref")
    if "type" in schema or not isinstance(reference, str) or not reference.startswith(LOCAL):
        return schema
    definition = schema.get("$defs", {}).get(reference.removeprefix(LOCAL))
    rest = {key: value for key, value in schema.items() if key != "$ref"}
    return schema if definition is None else {**definition, **rest}


def dereferenced(schema: Object, discriminators: str) -> Object:
    """Return a schema without references and definitions.  `discriminators`: what becomes of them (the rules)."""
    definitions = schema.get("$defs", {})
    try:
        for name in definitions:
            inlined({"$ref": LOCAL + name}, definitions, ())
        result: Any = inlined({key: value for key, value in schema.items() if key != "$defs"}, definitions, ())
    except SelfReferenceError:
        return root_inlined(schema)
    result = DISCRIMINATORS[discriminators](result)
    return dict(result)


def inlined(node: Any, definitions: Object, inside: tuple[str, ...]) -> Any:
    """Return a node with its references replaced.  `inside`: the definitions that it is in."""
    if isinstance(node, list):
        return [inlined(item, definitions, inside) for item in node]
    if not isinstance(node, dict):
        return node
    reference = node.get("$ref")
    if not isinstance(reference, str) or not reference.startswith(LOCAL):
        return {key: inlined(value, definitions, inside) for key, value in node.items()}
    name = reference.removeprefix(LOCAL)
    if name in inside:
        raise SelfReferenceError(name)
    rest = {key: value for key, value in node.items() if key != "$ref"}
    return {**inlined(definitions[name], definitions, (*inside, name)), **rest}


def without_mapping(node: Any) -> Any:
    """Remove the mappings of discriminators, which name definitions."""
    if isinstance(node, list):
        return [without_mapping(item) for item in node]
    if not isinstance(node, dict):
        return node
    found = {key: without_mapping(value) for key, value in node.items()}
    if isinstance(found.get("discriminator"), dict):
        found["discriminator"].pop("mapping", None)
    return found


def without_discriminators(node: Any) -> Any:
    """Remove the discriminators of unions."""
    return discriminators_removed(node, required=False)


def with_required_discriminators(node: Any) -> Any:
    """Remove the discriminators of unions, and require their properties in the variants."""
    return discriminators_removed(node, required=True)


def discriminators_removed(node: Any, *, required: bool) -> Any:
    """Remove the discriminators of unions.  `required`: the variants require the property of it."""
    if isinstance(node, list):
        return [discriminators_removed(item, required=required) for item in node]
    if not isinstance(node, dict):
        return node
    if "discriminator" in node and ("anyOf" in node or "oneOf" in node):
        node = with_required(node) if required else node
        node = {key: value for key, value in node.items() if key != "discriminator"}
    return {
        key: {name: discriminators_removed(each, required=required) for name, each in value.items()}
        if key in MAPS and isinstance(value, dict)
        else (value if key in VALUES else discriminators_removed(value, required=required))
        for key, value in node.items()
    }


def with_required(node: Object) -> Object:
    """Return a union whose variants require the discriminator's property."""
    name = node["discriminator"].get("propertyName")
    if not isinstance(name, str):
        return node
    unions: Object = {key: [required_in(each, name) for each in node[key]] for key in ("anyOf", "oneOf") if key in node}
    return {**node, **unions}


def required_in(variant: Any, name: str) -> Any:
    """Return a variant that requires a property."""
    if not isinstance(variant, dict) or name in variant.get("required", ()):
        return variant
    return {**variant, "required": [*variant.get("required", ()), name]}


DISCRIMINATORS = {
    "": lambda node: node,
    "mapping": without_mapping,
    "removed": without_discriminators,
    "required": with_required_discriminators,
}
"""What becomes of discriminators."""
