"""Emit models: their sources as one entry, and a module that loads them in place of the project's models module.

A tool's module is created when one of its classes is first used; see `mcpc_runtime.handlers.python.bindings.models`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.emit.artifact_file import ArtifactFile
from mcpc.emit.templates import render
from mcpc.languages import MODELS_LINE, is_models_file
from mcpc.schema.models import build_models, tool_module

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mcpc.model.ir import Server
    from mcpc.schema.models import Model

FOLDER = "mcpc_app/models"
NO_DOOR = f'{MODELS_LINE}\n"""No code of this server mentions a model."""\n'
DOOR = f'''{MODELS_LINE}
"""The models of this server's tools, each made when it is first asked for."""

from mcpc_app.models import __all__, __getattr__  # noqa: F401
'''


def with_models(server: Server, handlers: Iterable[ArtifactFile]) -> Iterator[ArtifactFile]:
    """Yield the modules of handlers and the models that they use."""
    doors = {f"handlers/{file.source.path}" for file in server.files if is_models_file(file.source)}
    door = (DOOR if server.models else NO_DOOR).encode()
    for module in handlers:
        yield ArtifactFile(module.name, door, python=True) if module.name in doors else module
    if server.models:
        yield from _models(build_models(server, server.models))


def _models(models: Sequence[Model]) -> Iterator[ArtifactFile]:
    """Yield the index of all classes, and the entry with their modules."""
    by_module: dict[str, list[Model]] = {}
    for model in models:
        by_module.setdefault(model.wanted.base, []).append(model)
    texts = {name: tool_module(found).encode() for name, found in sorted(by_module.items())}
    places, end = {}, 0
    for name, text in texts.items():
        places[name] = (end, end + len(text))
        end += len(text)
    owners = {name: model.wanted.base for model in models for name in model.classes}
    index = render("models.py.j2", owners=dict(sorted(owners.items())), places=places)
    yield ArtifactFile(f"{FOLDER}/__init__.py", index, python=True)
    yield ArtifactFile(f"{FOLDER}/sources", b"".join(texts.values()))
