"""What was built: answers as bytes, definitions behind an index, validators as code, read when they are asked for.

The blob is one stored entry of the archive.  A list is one or two reads whatever its length; finding a definition
among N is two reads (a hash table on disk), so ten thousand tools start as fast as ten.
"""

from __future__ import annotations

import marshal
import posix
from _frozen_importlib_external import MAGIC_NUMBER  # importlib.util would cost 3 ms

from mcpc_runtime.lazy import lazy
from mcpc_runtime.opened import ChangedError, state, watch
from mcpc_runtime.protocol.jsonrpc import encode, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcpc_runtime.opened import State
    from mcpc_runtime.protocol.jsonrpc import Json

    Reference = tuple[int, int]
    """Offset and length in the blob."""
    Code = tuple[Reference, int]
    """A module's source, and the number of its bytecode."""
    Read = Callable[[int, int], bytes]
    """Reads a stretch of one entry: offset, length."""
    Running = tuple[float, bool | str, bool, int, tuple[tuple[str, str], ...]]
    Record = tuple[Any, ...]
    """See `mcpc.emit.records`."""
    from hashlib import sha256

    from mcpc_runtime.protocol.matching import match
else:
    match = lazy("mcpc_runtime.protocol.matching:match")
    sha256 = lazy("hashlib:sha256")

USUAL = (60.0, False, False, 0, ())
"""How a handler is run whose record does not say: time limit, inline, isolated, environment, requirements."""
LONGEST_KEY = 255
"""A longer name stands in a table as its digest."""
NO_STRUCTURED, STRUCTURED_OBJECTS, STRUCTURED_ANY = range(3)


class Validator:
    """A compiled schema.  The collector is loaded only after a rejection; most have nothing to complete."""

    __slots__ = ("_collector", "_image", "accepts", "complete", "errors")

    def __init__(self, image: Image, predicate: Code, collector: Reference) -> None:
        self._image = image
        self._collector = collector
        names = image.load(*predicate)
        self.accepts: Callable[[object], bool] = names["accepts"]
        self.complete: Callable[[Any], Any] | None = names.get("complete")
        self.errors: Callable[[object], list[tuple[str, str, object]]] = self._load_collector

    def _load_collector(self, instance: object) -> list[tuple[str, str, object]]:
        self.errors = self._image.load(self._collector)["errors"]
        return self.errors(instance)


class Definition:
    """What a client may call or read: how that is done, and what decides about its arguments and its output."""

    __slots__ = ("_image", "_input", "_output", "again", "arguments", "asks", "contract", "environment", "handler",
                 "headers", "inline", "isolated", "mime", "name", "requires", "seconds", "task")  # fmt: skip

    def __init__(self, image: Image, name: str, record: Record) -> None:
        self._image = image
        self.name = name
        self.contract, self.handler, self.arguments, self._input, self._output, running, more = record
        usual: Running = running or USUAL
        self.seconds, self.inline, self.isolated, self.environment, self.requires = usual
        self.asks: tuple[tuple[str, str, bytes], ...] = more.get("asks", ()) if more else ()
        self.task: str = more.get("task", "") if more else ""
        self.again: bool = more.get("again", False) if more else False
        self.headers: tuple[tuple[str, tuple[str, ...]], ...] = more.get("headers", ()) if more else ()
        self.mime: str = more.get("mime", "") if more else ""

    @property
    def input(self) -> Validator | None:
        """The validator of the arguments; the one of a tool without a schema is None."""
        if type(self._input) is tuple:
            self._input = Validator(self._image, *self._input)
        return self._input  # type: ignore[no-any-return]

    @property
    def output(self) -> Validator | None:
        """The validator of the structured output, if the tool declared any."""
        if type(self._output) is tuple:
            self._output = Validator(self._image, *self._output)
        return self._output  # type: ignore[no-any-return]


class Wire:
    """One protocol revision as this server speaks it."""

    __slots__ = ("_answers", "_capabilities", "_image", "batches", "cache", "content", "lists", "logging", "methods",
                 "progress_message", "stateless", "structured", "tail", "version")  # fmt: skip

    def __init__(self, image: Image, version: str, row: dict[str, Any]) -> None:
        self._image = image
        self.version = version
        self.stateless: bool = row["stateless"]
        self.batches: bool = row["batches"]
        self.structured: int = row["structured"]
        self.content: tuple[str, ...] = row["content"]
        self.methods: tuple[str, ...] = row["methods"]
        self.logging: bool = row["logging"]
        self.progress_message: bool = row["progress_message"]
        self.lists: dict[str, tuple[Any, ...]] = row["lists"]
        self.tail: bytes = row["tail"]
        self.cache: bytes = row["cache"]
        self._answers: dict[str, Reference] = row["answers"]
        self._capabilities: dict[str, Json] | None = None

    def answer(self, method: str) -> bytes | None:
        """Return the result of a method whose answer never changes."""
        place = self._answers.get(method)
        return None if place is None or method in self.methods else self._image.read(*place)

    def initialize(self) -> bytes:
        """Return the result of `initialize` in this revision."""
        return self._image.read(*self._answers["initialize"])

    def capabilities(self) -> dict[str, Json]:
        """Return what clients of this revision are told that the server can do."""
        if self._capabilities is None:
            told = parse(self._image.read(*self._answers["server/discover" if self.stateless else "initialize"]))
            self._capabilities = told["capabilities"]  # type: ignore[index,call-overload,assignment]
        return self._capabilities  # type: ignore[return-value]

    def page(self, method: str, cursor: Json) -> bytes | None:
        """Return a list's page, or None for a cursor that was never given out.

        A cursor is the page's number and the list's fingerprint, so that one of another build is refused.
        """
        key, pages, table, fingerprint, tail = self.lists[method]
        number = 0
        if cursor is not None:
            number = page_number(cursor, fingerprint, pages)
            if number < 0 and not self._image.lenient_cursors:
                return None
        number = max(number, 0)
        row = self._image.read(table + 8 * number, 8)
        items = self._image.read(int.from_bytes(row[:4], "little"), int.from_bytes(row[4:], "little"))
        more = b',"nextCursor":"%d.%b"' % (number + 1, fingerprint) if number + 1 < pages else b""
        return b'{"%b":[%b]%b%b}' % (key, items, more, tail)

    def shows_structured(self, value: object) -> bool:
        """Tell whether a result may carry this value as structured content."""
        return self.structured == STRUCTURED_ANY or (self.structured == STRUCTURED_OBJECTS and type(value) is dict)

    def seal(self, result: dict[str, Json], meta: dict[str, Json]) -> bytes:
        """Return a result as JSON, with what this revision wants in every result; its type may be one of its own."""
        if "resultType" in result:
            return encode({**result, "_meta": {**meta, **self._image.result_meta}})
        if meta:
            result["_meta"] = {**meta, **self._image.result_meta} if self.stateless else meta
            return encode(result)[:-1] + (b',"resultType":"complete"}' if self.stateless else b"}")
        return encode(result)[:-1] + self.tail + b"}"


def page_number(cursor: Json, fingerprint: bytes, pages: int) -> int:
    """Return the page a cursor stands for, or -1 if it stands for none."""
    number, dot, mark = cursor.partition(".") if type(cursor) is str else ("", "", "")
    if not dot or mark != fingerprint.decode() or not (number.isascii() and number.isdigit()) or len(number) > 9:
        return -1
    return int(number) if 0 < int(number) < pages else -1


class Image:
    """A built server.  `read` reads the blob, `entry(name)` a whole entry, `open_entry(name)` opens one to read in."""

    def __init__(
        self, index: dict[str, Any], open_entry: Callable[[str], Read], entry: Callable[[str], bytes], magic: bytes
    ) -> None:
        self.archive = ""
        self.index = index
        self.read = open_entry("mcpc_app/blob")
        self.entry = entry
        self._open = open_entry
        self._read_code: Read | None = None
        self._magic = magic
        self._same_python = False
        self.handshake_versions: tuple[str, ...] = index["handshake_versions"]
        self.stateless_versions: tuple[str, ...] = index["stateless_versions"]
        self.refusals: dict[str, tuple[int, str]] = index["refusals"]
        self.lenient_cursors: bool = index["lenient_cursors"]
        self.result_meta: dict[str, Json] = index["result_meta"]
        self.shown: Callable[[str], bool] | None = None
        """Which tools a list shows to anybody, all if None."""
        self.guard: Callable[[Any], Any] | None = None
        """What refuses requests, none if None."""
        self.endpoint = ""
        """The path that it is served at over HTTP."""
        self._wires: dict[str, Wire] = {}
        self._tools: dict[str, Definition] = {}
        self._prompts: dict[str, Definition] = {}

    def with_index(self, index: dict[str, Any]) -> Image:
        """Return another server out of the same file."""
        made = Image(index, self._open, self.entry, self._magic)
        made.archive = self.archive
        return made

    def wire(self, version: str) -> Wire:
        """Return a revision this server speaks."""
        wire = self._wires.get(version)
        if wire is None:
            wire = self._wires[version] = Wire(self, version, self.index["revisions"][version])
        return wire

    def tool(self, name: str) -> Definition | None:
        """Return the tool of this name."""
        return self._tools.get(name) or self._definition("tools", name, self._tools)

    def prompt(self, name: str) -> Definition | None:
        """Return the prompt of this name."""
        return self._prompts.get(name) or self._definition("prompts", name, self._prompts)

    def resource(self, uri: str) -> Definition | None:
        """Return the resource of this uri, unless it is one of a template's; there may be very many: none is kept."""
        return self._definition("resources", uri, {}) if "resources" in self.index else None

    def completion(self, key: str) -> Definition | None:
        """Return what completes an argument: `prompt`, its name and the argument's, on a line each; or `resource`."""
        found = self._definition("completions", key, {}) if "completions" in self.index else None
        if found is not None:
            found.name = " ".join(key.split("\n")[1:])
        return found

    @property
    def templates(self) -> tuple[tuple[Any, ...], ...]:
        """The templates of resources: template, pattern, variables, place of the record."""
        found: tuple[tuple[Any, ...], ...] = self.index.get("templates", ())
        return found

    def template(self, uri: str) -> tuple[Definition, dict[str, Json]] | None:
        """Return the first template that `uri` matches, and its variables; raise ValueError if those are refused."""
        matched = match(self.templates, uri)
        if matched is None:
            return None
        row, variables = matched
        return Definition(self, row[0], marshal.loads(self.read(*row[3]))), variables

    def value(self, table: str, key: str) -> bytes | None:
        """Return what a table of the index has for a key, as it was written; None if that is nothing."""
        place = self._look_up(table, key) if table in self.index else None
        return None if place is None else self.read(*place)

    def _definition(self, kind: str, name: str, known: dict[str, Definition]) -> Definition | None:
        place = self._look_up(kind, name)
        if place is None:
            return None  # not remembered: a client could name as many as it likes
        found = known[name] = Definition(self, name, marshal.loads(self.read(*place)))
        return found

    def _look_up(self, kind: str, name: str) -> Reference | None:
        """Find a name in the hash table: buckets of offsets, then the entries of one bucket (see `mcpc.emit.table`)."""
        buckets, table = self.index[kind]
        try:
            key = name.encode()
        except UnicodeEncodeError:
            return None
        if not buckets:
            return None
        if len(key) > LONGEST_KEY:
            key = b"sha256:" + sha256(key).hexdigest().encode()
        bounds = self.read(table + 4 * (int.from_bytes(key, "little") % buckets), 8)
        start = int.from_bytes(bounds[:4], "little")
        entries = self.read(start, int.from_bytes(bounds[4:], "little") - start)
        at = 0
        while at < len(entries):
            end = at + 1 + entries[at]
            if entries[at + 1 : end] == key:
                place = entries[end : end + 8]
                return int.from_bytes(place[:4], "little"), int.from_bytes(place[4:], "little")
            at = end + 8
        return None

    def load(self, source: Reference, number: int | None = None) -> dict[str, Any]:
        """Run a generated module and return its names; from bytecode if there is any for this Python."""
        compiled = None if number is None else self._bytecode(number)
        if compiled is not None:
            body = marshal.loads(compiled)
        else:
            body = compile(self.read(*source), "<validator>", "exec", dont_inherit=True)
        names: dict[str, Any] = {"__name__": "mcpc_app.validator"}
        exec(body, names)  # noqa: S102 - the image's own code, written and checked by the compiler
        return names

    def _bytecode(self, number: int) -> bytes | None:
        """Return a module's bytecode: behind the magic number of its Python, a table of places, then the modules."""
        if self._read_code is None:
            self._read_code = self._open("mcpc_app/bytecode")
            self._same_python = self._read_code(0, 4) == self._magic
        if not self._same_python:
            return None
        row = self._read_code(4 + 8 * number, 8)
        return self._read_code(int.from_bytes(row[:4], "little"), int.from_bytes(row[4:], "little"))


def open_image(loader: Any, index: dict[str, Any]) -> Image:
    """Return the image of an archive; `loader` is the zip importer that brought this module."""
    archive = loader.archive
    descriptor = posix.open(archive, posix.O_RDONLY)
    known = watch(archive)

    def entry(name: str) -> bytes:
        data: bytes = loader.get_data(f"{archive}/{name}")
        return data

    image = Image(index, lambda name: reader(descriptor, known, loader, name), entry, MAGIC_NUMBER)
    image.archive = archive
    return image


def reader(descriptor: int, known: State, loader: Any, name: str) -> Read:
    """Return what reads stretches of an entry: in place if the entry is stored, else from a copy in memory.

    A file that was written to since it was `known` is not read from.

    The place comes from the archive's own directory, not from the build, so an archive that somebody packed again
    still works.
    """
    files = getattr(loader, "_files", {})
    _, method, _, _, header, *_ = files.get(name, (0, -1, 0, 0, 0))
    if method != 0:
        copy: bytes = loader.get_data(f"{loader.archive}/{name}")
        return lambda offset, length: copy[offset : offset + length]
    local = posix.pread(descriptor, 30, header)
    start = header + 30 + int.from_bytes(local[26:28], "little") + int.from_bytes(local[28:30], "little")

    def read(offset: int, length: int) -> bytes:
        data: bytes = posix.pread(descriptor, length, start + offset)
        if state(descriptor) != known:
            raise ChangedError
        return data

    return read
