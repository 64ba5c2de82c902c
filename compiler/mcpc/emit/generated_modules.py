"""Emit generated modules: models, settings, and validators.

A tool's module is created when one of its classes is first used; see `mcpc_runtime.handlers.python.bindings.models`.

The predicate runs at every call, so it is compiled; the collector is needed only after a rejection, and compiled then.
Equal schemas are compiled once, equal modules stored once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.emit.blob import Blob
from mcpc.emit.bytecode import MAGIC, dump_code, without_columns
from mcpc.emit.interpreters import HERE, compile_for
from mcpc.emit.templates import ArtifactFile, render
from mcpc.languages import MODELS_LINE, is_models_file
from mcpc.model.ir.project import variable_text
from mcpc.schema import compile_of
from mcpc.schema.compilation import LABEL
from mcpc.schema.models import build_models, tool_module
from mcpc_runtime.artifact.settings import FILE_SUFFIX, READ

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import CodeType

    from mcpc.model.ir import Schema, Server
    from mcpc.model.ir.handlers import PlainData
    from mcpc.model.ir.project import Setting
    from mcpc.schema import CompiledSchema
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
        # The author's file has all classes; in its place handlers import one that makes only those which they use.
        yield ArtifactFile(module.name, door, python=True) if module.name in doors else module
    if server.models:
        yield from _models(build_models(server, server.models))


def _models(models: Sequence[Model]) -> Iterator[ArtifactFile]:
    """Yield the index of all classes, and the entry with their modules."""
    by_module: dict[str, list[Model]] = {}
    for model in models:
        by_module.setdefault(model.wanted.base, []).append(model)
    texts = {name: tool_module(names).encode() for name, names in sorted(by_module.items())}
    places, end = {}, 0
    # Byte offsets in the entry of all sources, from which the runtime reads one module.
    for name, text in texts.items():
        places[name] = (end, end + len(text))
        end += len(text)
    owners = {name: model.wanted.base for model in models for name in model.classes}
    index = render("models.py.j2", owners=dict(sorted(owners.items())), places=places)
    yield ArtifactFile(f"{FOLDER}/__init__.py", index, python=True)
    yield ArtifactFile(f"{FOLDER}/sources", b"".join(texts.values()))


def setting_rows(settings: Sequence[Setting]) -> tuple[PlainData, ...]:
    """Return the rows of the index (see `mcpc_runtime.artifact.settings.Row`), without what only people read.

    A program has its own defaults, and checks what it reads itself.  If it reads NAME_FILE, too, that is its own way to
    have a value in a file.
    """
    names = {setting.name for setting in settings}
    return tuple(
        (
            setting.name,
            READ if setting.is_read else setting.type,
            setting.required,
            setting.secret,
            None if setting.default is None or setting.is_read else variable_text(setting.default),
            () if setting.is_read else tuple(map(variable_text, setting.choices)),
            setting.title or setting.description.partition("\n")[0],
        )
        for setting in settings
        if not (setting.is_read and f"{setting.name}{FILE_SUFFIX}" in names)
    )


PYTHON_TYPES = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "file": "Path",
    "directory": "Path",
}
"""The Python type of a setting's value (see `CONVERSIONS` of `mcpc_runtime.handlers.python.settings`)."""


def settings_module(settings: Sequence[Setting]) -> tuple[ArtifactFile, ...]:
    """Return the module with the Python types of settings, for handlers that have a class of settings."""
    kinds = {
        item.name: "Secret" if item.secret and item.type == "string" else PYTHON_TYPES[item.type]
        for item in settings
        if not item.is_read
    }
    if not kinds:
        return ()
    return (ArtifactFile("mcpc_app/settings.py", render("settings.py.j2", kinds=kinds), python=True),)


SOURCES = "mcpc_app/validators/"
"""The folder of the entries of sources, which are deflated."""
ENTRY_BYTES = 512 << 10
"""The bytes of one of them at most, unless it has one source: reading a source inflates all of its entry."""

if TYPE_CHECKING:
    Source = tuple[int, int, int]
    """The number of an entry, and where in it a source is."""
    Validator = tuple[tuple[Source, int], Source]
    """The predicate's source and the number of its bytecode, and the collector's source."""


class Validators:
    """The validators of a file: their sources, which any other Python and a rejection need, and their bytecode."""

    def __init__(self) -> None:
        self._entries = [Blob()]
        self._sources: dict[bytes, Source] = {}
        self._places: dict[CompiledSchema, Validator] = {}
        self._numbers: dict[bytes, int] = {}
        self._codes: list[CodeType] = []

    def add(self, schema: Schema) -> Validator:
        """Return the references of a schema's modules, which are added if they are new."""
        compiled, problems = compile_of(schema)
        if compiled is None:
            raise ValueError(f"a checked schema does not compile: {problems}")
        if compiled not in self._places:
            self._places[compiled] = self._put(compiled)
        return self._places[compiled]

    def _put(self, compiled: CompiledSchema) -> Validator:
        source = compiled.predicate.encode()
        number = self._numbers.setdefault(source, len(self._numbers))
        # A number that was given just now: numbers count the sources, and each has its code in the same place.
        if number == len(self._codes):
            self._codes.append(compiled.code)
        return (self._source(source), number), self._source(compiled.collector.encode())

    def _source(self, text: bytes) -> Source:
        place = self._sources.get(text)
        if place is None:
            if self._entries[-1].size and self._entries[-1].size + len(text) > ENTRY_BYTES:
                self._entries.append(Blob())
            place = self._sources[text] = len(self._entries) - 1, *self._entries[-1].add(text)
        return place

    def sources(self) -> Iterator[ArtifactFile]:
        """Yield the entries of sources."""
        for number, entry in enumerate(self._entries):
            if entry.size:
                yield ArtifactFile(f"{SOURCES}{number}", entry.bytes())

    def bytecode(self, minor: str) -> bytes:
        """Return the entry of bytecode: the magic number of its Python, a table of offset and length, the modules.

        It is separate, so that all other entries are the same for every Python.
        """
        magic: bytes
        codes: list[bytes | None]
        if minor == HERE:  # as each schema was compiled when it was checked
            magic, codes = MAGIC, [dump_code(without_columns(code)) for code in self._codes]
        else:
            magic, codes = compile_for(minor, [(source, LABEL, True) for source in self._numbers])
        start = len(magic) + 8 * len(codes)
        rows, bodies = [magic], []
        for body in codes:
            if body is None:
                raise ValueError(f"a validator does not compile with Python {minor}")
            rows.append(start.to_bytes(4, "little") + len(body).to_bytes(4, "little"))
            bodies.append(body)
            start += len(body)
        return b"".join((*rows, *bodies))
