"""mcpc as `schema_suite.run` wants it.

Predicate and collector are both asked about every instance, and have to agree.
"""

from collections.abc import Callable
from typing import Any

from mcpc import schema as schemas
from support.schema_suite import Context


class DisagreementError(AssertionError):
    """The predicate accepts what the collector complains of, or the other way round."""


def agreed(validator: schemas.Validator, instance: object) -> bool:
    """Return what both functions answer."""
    answer, complaints = validator.accepts(instance), validator.errors(instance)
    if answer is not (complaints == []):
        raise DisagreementError(
            f"accepts: {answer}, errors: {complaints!r:.500}, instance: {instance!r:.500}\n"
            f"{validator.modules.predicate}\n{validator.modules.collector}"
        )
    return answer


def compiled(schema: Any, context: Context) -> schemas.Validator:
    """Return the validator of `schema` as the context has it."""
    return schemas.compile(schema, remotes=context.remotes, draft=context.draft, assert_format=context.assert_format)


def factory(schema: Any, context: Context) -> Callable[[Any], bool]:
    """Return the function that judges by `schema`."""
    validator = compiled(schema, context)
    return lambda instance: agreed(validator, instance)
