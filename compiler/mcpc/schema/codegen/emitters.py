"""Table of the code of each keyword: a row for every row of `keywords` that says what it judges."""

from __future__ import annotations

from mcpc.schema.codegen import arrays, assertions, combinators, objects, unevaluated
from mcpc.schema.codegen.walker import Emitter

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
    "required": Emitter(objects.all_present, objects.write_required, combinators.count),
    "minProperties": Emitter(assertions.at_least),
    "maxProperties": Emitter(assertions.at_most),
    "dependentRequired": Emitter(None, objects.write_dependent_required),
    "properties": Emitter(None, objects.write_properties),
    "patternProperties": Emitter(None, objects.write_pattern_properties),
    "additionalProperties": Emitter(None, objects.write_additional),
    "propertyNames": Emitter(None, objects.write_property_names),
    "dependentSchemas": Emitter(None, objects.write_dependent_schemas),
    "minItems": Emitter(assertions.at_least),
    "maxItems": Emitter(assertions.at_most),
    "prefixItems": Emitter(None, arrays.write_prefix),
    "items": Emitter(None, arrays.write_items),
    "contains": Emitter(None, arrays.write_contains),
    "uniqueItems": Emitter(assertions.unique),
    "$ref": Emitter(combinators.target_accepts, combinators.write_reference),
    "$dynamicRef": Emitter(combinators.target_accepts, combinators.write_reference),
    "allOf": Emitter(combinators.all_accept, combinators.write_all, combinators.count),
    "anyOf": Emitter(combinators.any_accepts, combinators.write_alternatives("anyOf"), combinators.count),
    "oneOf": Emitter(combinators.one_accepts, combinators.write_alternatives("oneOf"), combinators.count),
    "not": Emitter(combinators.refuses, combinators.write_not),
    "if": Emitter(None, combinators.write_if),
    "unevaluatedProperties": Emitter(None, unevaluated.write_properties),
    "unevaluatedItems": Emitter(None, unevaluated.write_items),
}
