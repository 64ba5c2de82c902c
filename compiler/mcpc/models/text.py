"""Modules of classes as text: one for each tool of an artifact, one with all tools for editors and clients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.languages import MODELS_LINE
from mcpc.models.ast_allowlist import IMPORTS
from mcpc.models.store import views_digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcpc.models.ast_allowlist import ModelClass
    from mcpc.models.build_models import Model, ModelRequest

SCHEMAS = "# Of the schemas with the digest "
FUTURE = "from __future__ import annotations"


def digest_line(wanted: Iterable[ModelRequest]) -> str:
    """Return the line that identifies the schemas of a file."""
    return f"{SCHEMAS}{views_digest([item.view for item in wanted])[:32]}."


def tool_module(models: Sequence[Model]) -> str:
    """Return the module of one tool."""
    classes = _classes(models)
    return "\n".join((FUTURE, *_imports(classes.values()), *_bodies(classes)))


def all_tools_module(models: Sequence[Model]) -> str:
    """Return the module of all tools."""
    classes = _classes(models)
    doc = '"""What the tools of this server take and return."""'
    head = (
        MODELS_LINE,
        digest_line(model.wanted for model in models),
        doc,
        "",
        FUTURE,
        *_imports(classes.values()),
        "",
    )
    names = "".join(f'    "{name}",\n' for name in sorted(classes))
    return "\n".join((*head, f"__all__ = [\n{names}]" if names else "__all__: list[str] = []", *_bodies(classes)))


def _classes(models: Iterable[Model]) -> dict[str, ModelClass]:
    return {name: made for model in models for name, made in model.classes.items()}


def _imports(classes: Iterable[ModelClass]) -> list[str]:
    used = {word for made in classes for word in made.words}
    lines = []
    for module in ("typing", "pydantic"):
        words = sorted(used & IMPORTS[module])
        lines += ["", f"from {module} import {', '.join(words)}"] if words else []
    return lines


def _bodies(classes: dict[str, ModelClass]) -> list[str]:
    rebuilt = [f"{name}.model_rebuild()" for name, made in classes.items() if made.rebuilt]
    bodies = [f"\n\n{made.source}" for made in classes.values()]
    return [*bodies, *(["", "", *rebuilt] if rebuilt else []), ""]
