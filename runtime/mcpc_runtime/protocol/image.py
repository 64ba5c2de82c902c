"""A built server: results as bytes, definitions behind an index, validators as code; all are read when they are needed.

Reading is done by functions that are passed in. A list takes one or two reads, and a long one can be read while it is
written; finding a definition among N takes two reads (a hash table in the blob), so a server of ten thousand tools
starts as fast as one of ten.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any, TypedDict

from mcpc_runtime.protocol.constants import SERVER_INFO_KEY
from mcpc_runtime.protocol.definitions import Definition, Names, Reference, Source
from mcpc_runtime.protocol.jsonrpc import Json, encode, parse
from mcpc_runtime.protocol.kept_results import Account, KeptResults
from mcpc_runtime.protocol.tool_choice import ToolChoice
from mcpc_runtime.protocol.uri_matching import Row, match_template

Index = dict[str, Any]
"""The data that the start needs; formats store their own settings in it under their names."""
Read = Callable[[int, int], bytes]
"""Read a range of one entry: offset, length."""
Listing = tuple[bytes, int, int, bytes, bytes]
"""A list: its key, number of pages, offset of their table, fingerprint, and the end of each page."""


class RevisionRow(TypedDict):
    """A revision's row of the index (see `mcpc.emit.responses`)."""

    stateless: bool
    batches: bool
    structured: int
    content: tuple[str, ...]
    methods: tuple[str, ...]
    logging: bool
    progress_message: bool
    lists: dict[str, Listing]
    tail: bytes
    cache: bytes
    answers: dict[str, Reference]


MAX_NAME = 256
"""Characters of the name of a definition that only the program knows: clients can send any name, and it is logged."""
MAX_KEY_LENGTH = 255
"""A longer name is stored in a table as its digest."""
PARTS = 1 << 31
"""The bit of a page's length that tells that it is a record of parts (see `mcpc.emit.list_pages`)."""
LARGEST_READ = 1 << 18
"""The most bytes of a page that is read at once."""
PIECE = 1 << 14
Parts = tuple[Any, ...]
"""A page as parts of another one: a pair of numbers is a range of it, bytes are themselves."""
NO_STRUCTURED, STRUCTURED_OBJECTS, STRUCTURED_ANY = range(3)


NO_HOOKS: dict[str, tuple[str, ...]] = {}
NO_RUN_TIME: dict[str, Any] = {"kinds": (), "lists": ()}


class ProtocolRevision:
    """One protocol revision as this server implements it: `version` is its date, `stateless` its era.

    `tail`: the end of every result; `cache`: the end of a result that may be cached as long as a list. `content`: the
    known kinds of content; `methods`: those that need more than a static result; `lists` by method.
    """

    __slots__ = ("_answers", "_capabilities", "_image", "batches", "cache", "content", "lists", "logging", "methods",
                 "progress_message", "stateless", "structured", "tail", "version")  # fmt: skip

    def __init__(self, image: Image, version: str, row: RevisionRow) -> None:
        self._image = image
        self.version = version
        self.stateless = row["stateless"]
        self.batches = row["batches"]
        self.structured = row["structured"]
        self.content = row["content"]
        self.methods = row["methods"]
        self.logging = row["logging"]
        self.progress_message = row["progress_message"]
        self.lists = row["lists"]
        self.tail = row["tail"]
        self.cache = row["cache"]
        self._answers = row["answers"]
        self._capabilities: dict[str, Json] | None = None

    def answer(self, method: str) -> bytes | None:
        """Return the static result of a method, None if its result is not static."""
        reference = self._answers.get(method)
        return None if reference is None or method in self.methods else self._image.read(*reference)

    def initialize(self) -> bytes:
        """Return the result of `initialize` in this revision."""
        return self._image.read(*self._answers["initialize"])

    def capabilities(self) -> dict[str, Json]:
        """Return the server capabilities that clients of this revision receive."""
        if self._capabilities is None:
            result = parse(self._image.read(*self._answers["server/discover" if self.stateless else "initialize"]))
            capabilities = result.get("capabilities") if type(result) is dict else None
            self._capabilities = capabilities if type(capabilities) is dict else {}
        return self._capabilities

    def page(self, method: str, cursor: Json, line: bytes = b"") -> Any:
        """Return a list's page, or None for a cursor that was never issued.

        `line`: a response with NUL for its result; in place of a long page it is returned, as a `StoredPage`.

        A cursor is the page's number and the list's fingerprint, so that a cursor of another build is refused.
        """
        key, pages, table, fingerprint, tail = self.lists[method]
        number = 0
        if cursor is not None:
            number = page_number(cursor, fingerprint, pages)
            if number < 0 and not self._image.lenient_cursors:
                return None
        # With lenient cursors an unknown one means the first page, as in the framework of such a server.
        number = max(number, 0)
        # Four bytes of offset, then four of length, whose highest bit is PARTS.
        row = self._image.read(table + 8 * number, 8)
        length = int.from_bytes(row[4:], "little")
        place: Reference = int.from_bytes(row[:4], "little"), length
        parts: Parts = (0, length)
        if length & PARTS:
            place, parts = marshal.loads(self._image.read(place[0], length & ~PARTS))
        next_cursor = b',"nextCursor":"%d.%b"' % (number + 1, fingerprint) if number + 1 < pages else b""
        head, end = b'{"%b":[' % key, b"]%b%b}" % (next_cursor, tail)
        if line and place[1] > LARGEST_READ:
            before, after = line.split(b"\0")
            return StoredPage(self._image.read, place, (before, head, *parts, end, after))
        whole = self._image.read(*place)
        return b"".join((head, join_parts(whole, parts) if length & PARTS else whole, end))

    def shows_structured(self, value: object) -> bool:
        """Tell whether a result may include this value as structured content."""
        return self.structured == STRUCTURED_ANY or (self.structured == STRUCTURED_OBJECTS and type(value) is dict)

    def seal(self, result: dict[str, Json], meta: dict[str, Json]) -> bytes:
        """Return a result as JSON with the fields that this revision requires; the result may already have a type."""
        if "resultType" in result:
            return encode({**result, "_meta": {**meta, **self._image.result_meta}})
        if meta:
            result["_meta"] = {**meta, **self._image.result_meta} if self.stateless else meta
            return encode(result)[:-1] + (b',"resultType":"complete"}' if self.stateless else b"}")
        return b"".join((memoryview(encode(result))[:-1], self.tail, b"}"))  # one copy of a large result


def join_parts(whole: bytes, row: Parts) -> bytes:
    """Return a page that is parts of a whole one."""
    parts, view = iter(row), memoryview(whole)
    return b"".join([part if type(part) is bytes else view[part : next(parts)] for part in parts])


class StoredPage:
    """A page that is read while it is written, in pieces: a client that reads slowly costs no memory.

    `whole`: the page that it is parts of, in the blob.
    """

    __slots__ = ("_parts", "_read", "_whole")

    def __init__(self, read: Read, whole: Reference, parts: Parts) -> None:
        self._read = read
        self._whole = whole
        self._parts = parts

    def pieces(self) -> Iterator[bytes]:
        """Read the page; a piece has about as many bytes as one read."""
        place, size = self._whole
        gathered: list[bytes] = []
        length, window, start = 0, b"", 0
        parts = iter(self._parts)
        for part in parts:
            if type(part) is bytes:
                gathered.append(part)
                length += len(part)
                continue
            at, end = part, next(parts)
            while at < end:
                if not start <= at < start + len(window):
                    start, window = at, self._read(place + at, min(PIECE, size - at))
                gathered.append(window[at - start : end - start])
                at += len(gathered[-1])
                length += len(gathered[-1])
                if length >= PIECE:
                    yield b"".join(gathered)
                    gathered, length = [], 0
        yield b"".join(gathered)


def page_number(cursor: Json, fingerprint: bytes, pages: int) -> int:
    """Return the page number of a cursor, or -1 for an invalid cursor."""
    number, dot, digest = cursor.partition(".") if type(cursor) is str else ("", "", "")
    if not dot or digest != fingerprint.decode() or not (number.isascii() and number.isdigit()) or len(number) > 9:
        return -1
    return int(number) if 0 < int(number) < pages else -1


class Image:
    """A built server. `read` reads the blob, `entry(name)` returns an entry, `open_entry(name)` returns its reader."""

    choice: ToolChoice | None = None
    """The tools that the operator chose when the server was started; all if None."""
    tolerant = ""
    """Whose invalid arguments are corrected: nobody's, everybody's (`1`), or those of known clients (`auto`)."""
    max_result: int | None = None
    """The limit of results that the operator sets; None without one, 0 for no limit."""
    kept_results: KeptResults | None = None
    """The whole results of which parts were answered, if there are any."""
    kept_bytes = 32 << 20
    """The bytes of those at most."""
    operations: Any = None
    """The operations that are not listed, once they were asked for (see `mcpc_runtime.protocol.operations`)."""
    account: Callable[[str], Account | None] | None = None
    """Returns the account that is charged for what is kept for a principal; None if nothing is counted."""

    def __init__(
        self, index: Index, open_entry: Callable[[str], Read], entry: Callable[[str], bytes], magic: bytes
    ) -> None:
        self.archive = ""
        self.index = index
        self.read = open_entry("mcpc_app/blob")
        self.entry = entry
        self.open_entry = open_entry
        self._read_code: Read | None = None
        self._magic = magic
        self._same_python = False
        self.handshake_versions: tuple[str, ...] = index["handshake_versions"]
        self.stateless_versions: tuple[str, ...] = index["stateless_versions"]
        self.refusals: dict[str, tuple[int, str]] = index["refusals"]
        self.lenient_cursors: bool = index["lenient_cursors"]
        self.result_meta: dict[str, Json] = index["result_meta"]
        self.shows_tool: Callable[[str], bool] | None = None
        """Which tools a list shows to every client; all if None."""
        self.check_request: Callable[[Any], Any] | None = None
        """Checks a request before it is handled: returns a `Failure`, or None if the request is accepted."""
        self.run_time: dict[str, Any] = index.get("run_time", NO_RUN_TIME)
        """The handler of definitions that are not known at build (see `run_time_lists`)."""
        self.run_time_kinds, self.run_time_lists = map(frozenset, (self.run_time["kinds"], self.run_time["lists"]))
        """The kinds of definitions that only the program knows (`tools` …), and the methods of their lists."""
        self.endpoint = ""
        """The HTTP path of this server."""
        self.how_to_set = ""
        """Where the settings that are missing are set on this machine; a general text if empty."""
        self.program_arguments: list[str] | None = None
        """The arguments after `--` on the command line; None without them."""
        self._revisions: dict[str, ProtocolRevision] = {}
        self._tools: dict[str, Definition] = {}
        self._prompts: dict[str, Definition] = {}

    def hooks(self, name: str) -> tuple[str, ...]:
        """Return the rows of a hook: functions of the systems of the server (`package.module:name`)."""
        rows: tuple[str, ...] = self.index.get("hooks", NO_HOOKS).get(name, ())
        return rows

    def run_time_definition(self, name: str) -> Definition:
        """Return the definition of anything that only the program knows."""
        return Definition(self, name[:MAX_NAME], marshal.loads(self.read(*self.run_time["record"])))

    def forget_definitions(self) -> None:
        """Forget the definitions that were used: some are the program's now."""
        self._tools.clear()
        self._prompts.clear()

    def with_index(self, index: Index) -> Image:
        """Return another server of the same file."""
        server = Image(index, self.open_entry, self.entry, self._magic)
        server.archive = self.archive
        return server

    def revision(self, version: str) -> ProtocolRevision:
        """Return a revision that this server supports."""
        revision = self._revisions.get(version)
        if revision is None:
            revision = self._revisions[version] = ProtocolRevision(self, version, self.index["revisions"][version])
        return revision

    def tool(self, name: str) -> Definition | None:
        """Return the tool of this name, if it is offered."""
        if self.choice is not None and not self.choice.offers(name, at_run_time="tools" in self.run_time_kinds):
            return None
        return self.any_tool(name)

    def any_tool(self, name: str) -> Definition | None:
        """Return the tool of this name, offered or not: what a tool calls itself is its own affair."""
        return self._tools.get(name) or self._definition("tools", name, self._tools)

    def prompt(self, name: str) -> Definition | None:
        """Return the prompt of this name."""
        return self._prompts.get(name) or self._definition("prompts", name, self._prompts)

    def resource(self, uri: str) -> Definition | None:
        """Return the resource of this URI, unless a template matches it; not cached, as there may be very many."""
        is_there = "resources" in self.index or "resources" in self.run_time_kinds
        return self._definition("resources", uri, {}) if is_there else None

    def completion(self, key: str) -> Definition | None:
        """Return the completion of a key: `prompt` or `resource`, the name and the argument, on a line each."""
        definition = self._definition("completions", key, {}) if "completions" in self.index else None
        if definition is None and key.partition("\n")[0] + "s" in self.run_time_kinds:
            definition = self.run_time_definition(key)
        if definition is not None:
            definition.name = " ".join(key.split("\n")[1:])[:MAX_NAME]
        return definition

    @property
    def server_name(self) -> str:
        """The server's name, by which replicas identify each other."""
        info = self.result_meta[SERVER_INFO_KEY]
        return str(info["name"]) if type(info) is dict else ""

    @property
    def templates(self) -> tuple[Row, ...]:
        """The resource templates: template, pattern, variables, and reference to the record."""
        rows: tuple[Row, ...] = self.index.get("templates", ())
        return rows

    def template(self, uri: str) -> tuple[Definition, dict[str, Json]] | None:
        """Return the first template that `uri` matches, and its variables; raise ValueError if they are refused."""
        matched = match_template(self.templates, uri)
        if matched is None:
            return None
        row, variables = matched
        return Definition(self, row[0], marshal.loads(self.read(*row[3]))), variables

    def table_value(self, table: str, key: str) -> bytes | None:
        """Return the stored value of a key in a table of the index; None if there is none."""
        reference = self._look_up(table, key) if table in self.index else None
        return None if reference is None else self.read(*reference)

    def _definition(self, kind: str, name: str, known: dict[str, Definition]) -> Definition | None:
        if kind in self.run_time_kinds:
            return self.run_time_definition(name)
        reference = self._look_up(kind, name)
        if reference is None:
            return None  # not cached: clients can send any number of names
        definition = known[name] = Definition(self, name, marshal.loads(self.read(*reference)))
        return definition

    def _look_up(self, kind: str, name: str) -> Reference | None:
        """Find a name in the hash table: buckets of offsets, then the entries of one bucket (see `mcpc.emit.blob`)."""
        buckets, table = self.index[kind]
        try:
            key = name.encode()
        except UnicodeEncodeError:
            return None
        if not buckets:
            return None
        # The length of a key is one byte in the table.
        if len(key) > MAX_KEY_LENGTH:
            key = b"sha256:" + sha256(key).hexdigest().encode()
        # Two offsets: that of the bucket, and that of the next one, where it ends.
        bounds = self.read(table + 4 * (int.from_bytes(key, "little") % buckets), 8)
        start = int.from_bytes(bounds[:4], "little")
        entries = self.read(start, int.from_bytes(bounds[4:], "little") - start)
        at = 0
        # The entries of a bucket: the length of the key, the key, the reference.
        while at < len(entries):
            end = at + 1 + entries[at]
            if entries[at + 1 : end] == key:
                reference = entries[end : end + 8]
                return int.from_bytes(reference[:4], "little"), int.from_bytes(reference[4:], "little")
            at = end + 8
        return None

    def load(self, source: Source, number: int | None = None) -> Names:
        """Run a generated module and return its names; use its bytecode if there is any for this Python."""
        compiled = None if number is None else self._bytecode(number)
        if compiled is not None:
            body = marshal.loads(compiled)
        else:
            body = compile(self.source(*source), "<validator>", "exec", dont_inherit=True)
        names: Names = {"__name__": "mcpc_app.validator"}
        exec(body, names)  # noqa: S102 - the image's own code, written and checked by the compiler
        return names

    def source(self, entry: int, offset: int, length: int) -> bytes:
        """Return the source of a module; its entry, which is compressed, is not kept in memory."""
        return self.open_entry(f"mcpc_app/validators/{entry}")(offset, length)

    def _bytecode(self, number: int) -> bytes | None:
        """Return a module's bytecode.

        The entry contains the magic number of its Python, a table of offsets and lengths, then the modules.
        """
        if self._read_code is None:
            self._read_code = self.open_entry("mcpc_app/bytecode")
            self._same_python = self._read_code(0, 4) == self._magic
        if not self._same_python:
            return None
        row = self._read_code(4 + 8 * number, 8)
        return self._read_code(int.from_bytes(row[:4], "little"), int.from_bytes(row[4:], "little"))
