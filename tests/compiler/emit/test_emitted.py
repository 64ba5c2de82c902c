"""What is written to an artifact: the index, each piece of the blob that it refers to, and every generated file."""

import hashlib
import importlib.util
import marshal
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from mcpc.emit import ArtifactFile, build_index, emit, generated_modules, interpreters
from mcpc.emit.blob import Blob, Reference, add_table, prime_from
from mcpc.emit.bytecode import MAGIC, code_of, dump_code, dump_data, pyc, stripped_source
from mcpc.emit.generated_modules import Validators
from mcpc.emit.interpreters import HERE, MissingPythonError, cache_tag, candidates, tag_suffix
from mcpc.emit.list_pages import WORTH, ListPages, item_text
from mcpc.emit.responses import without_boolean_properties
from mcpc.emit.static_answers import place_static_results
from mcpc.model.ir import CheckedServer, Layer, VirtualServer
from mcpc.options import Options
from mcpc.pack.packages import bytecode_path, layer_files
from mcpc_runtime.protocol.image import PARTS
from support.golden_projects import PROJECTS, decoded, files_of, shown
from support.projects import checked

OPTIONS = {"rich": Options(), "functions": Options(), "other": Options(dialect="mcbox", tools_page_size=2, live=True, defaults=False,
                                               tools_prefix="t_", prompts_prefix="p_")}  # fmt: skip


class RecordingBlob(Blob):
    def __init__(self) -> None:
        super().__init__()
        self.pieces: dict[Reference, bytes] = {}

    def add(self, piece: bytes) -> Reference:
        place = super().add(piece)
        self.pieces[place] = piece
        return place


def checked_project(name: str) -> CheckedServer:
    server, problems = checked(files_of(name), OPTIONS[name])
    assert server is not None, problems
    return server


def index_lines(server: CheckedServer) -> Iterator[str]:
    """Yield the index of a server, and the pieces in the order of the blob."""
    blob = RecordingBlob()
    validators = Validators()
    index = build_index(place_static_results(server.server, blob), blob, validators)
    yield from shown(index)
    end = 0
    for place, piece in blob.pieces.items():
        assert place == (end, len(piece)) or place[0] + place[1] <= end, "each piece is after the last, or an old one"
        end = max(end, sum(place))
        yield f"\n{place[0]} {place[1]}\n"
        yield from decoded(piece)
    assert blob.bytes() == b"".join(blob.pieces.values())


def file_lines(files: tuple[ArtifactFile, ...]) -> Iterator[str]:
    """Yield the names and sizes of an artifact's files, and the text of the generated Python."""
    for file in files:
        if "/bytecode" not in file.name and not file.name.startswith("mcpc_app/bash/"):
            yield f"\n==== {file.name} {len(file.data)}{' Python' if file.python else ''}\n"
        else:
            yield f"\n==== {file.name}\n"
        if file.python and file.name != "mcpc_app/index.py":
            yield file.data.decode()


@pytest.mark.parametrize("name", OPTIONS)
def test_a_project_is_emitted(name: str, golden: Callable[[Path, str], None]) -> None:
    server = checked_project(name)
    golden(PROJECTS / f"{name}.index.txt", "".join(index_lines(server)))
    golden(PROJECTS / f"{name}.files.txt", "".join(file_lines(emit(server))))


def test_virtual_servers_share_the_blob_of_a_server_over_http(golden: Callable[[Path, str], None]) -> None:
    parts = (
        VirtualServer("first", "/one", ("plain", "class"), ("bare",), ("text", "item")),
        VirtualServer("second", "/two", tools=("unchecked",)),
    )
    layer = Layer(
        modules=frozenset({"uvicorn"}),
        index={"modules": ["uvicorn"], "parcels": []},
        files=MappingProxyType({"uvicorn/__init__.py": b"x = 1\n", "uvicorn/data.txt": b"data"}),
    )
    server = checked_project("rich")
    served = replace(server, server=replace(server.server, virtual_servers=parts, serving=layer))
    files = emit(served)
    (index,) = (file.data for file in files if file.name == "mcpc_app/index.py")
    (blob,) = (file.data for file in files if file.name == "mcpc_app/blob")
    names: dict[str, Any] = {}
    exec(index, names)
    places = names["INDEX"].pop("virtual_servers")
    assert list(places) == ["/one", "/two"]
    lines = [line for offset, length in places.values() for line in decoded(blob[offset : offset + length])]
    golden(PROJECTS / "rich.virtual.txt", "".join([*lines, *(f"{file.name}\n" for file in files)]))
    without = emit(replace(served, server=replace(served.server, serving=None)))
    assert not any(b"virtual_servers" in file.data for file in without)


@pytest.mark.parametrize(
    ("number", "prime"),
    [(0, 3), (1, 3), (3, 3), (4, 5), (6, 7), (8, 11), (9, 11), (14, 17), (24, 29), (48, 53), (49, 53), (120, 127)],
)
def test_the_number_of_buckets_is_a_prime(number: int, prime: int) -> None:
    assert prime_from(number) == prime


def entries(blob: bytes, buckets: int, offset: int) -> list[list[tuple[bytes, int, int]]]:
    """Return the entries of each bucket of a table, as a reader finds them."""
    number = int.from_bytes
    starts = [number(blob[offset + 4 * n : offset + 4 * n + 4], "little") for n in range(buckets + 1)]
    found: list[list[tuple[bytes, int, int]]] = []
    for start, end in pairwise(starts):
        found.append([])
        while start < end:
            after = start + 1 + blob[start]
            key, place = blob[start + 1 : after], blob[after : after + 8]
            found[-1].append((key, number(place[:4], "little"), number(place[4:], "little")))
            start = after + 8
    return found


def test_a_table_has_each_name_in_its_bucket() -> None:
    longest, too_long = "n" * 255, "n" * 256
    digest = b"sha256:" + hashlib.sha256(too_long.encode()).hexdigest().encode()
    blob = Blob()
    assert add_table(blob, {}) == (0, 0)
    assert blob.bytes() == b""
    assert (blob.add(b"one"), blob.add(b"two"), blob.add(b"one")) == ((0, 3), (3, 3), (0, 3))
    records = {"a": (0, 3), "d": (3, 3), "b": (0, 3), longest: (3, 3), too_long: (0, 70_000)}
    buckets, offset = add_table(blob, records)
    keys = [b"a", b"d", b"b", longest.encode(), digest]
    expected: list[list[tuple[bytes, int, int]]] = [[] for _ in range(5)]
    for key, place in zip(keys, records.values(), strict=True):
        expected[int.from_bytes(key, "little") % 5].append((key, *place))
    assert (buckets, entries(blob.bytes(), buckets, offset)) == (5, expected)


def test_an_older_page_is_parts_of_the_newest_where_that_saves_enough() -> None:
    text = b'"d":"%b"' % bytes(8000)
    newest = [(b'"t":1', b'"n":1', text, b'"a":1'), (b'"n":2', b'"t":2'), (), (b'"n":4',)]
    older = [(b'"n":1', text), (b'"n":2',), (), (b'"n":5', b'"n":4')]
    blob = Blob()
    pages = ListPages(blob)
    whole = pages.add("a", 0, newest)
    assert whole == pages.add("a", 0, newest) == (0, len(b",".join(map(item_text, newest))))
    offset, length = pages.add("a", 0, older)
    end = 13 + len(text)
    parts = (b"{", 7, end, end + 6, end + 14, end + 20, end + 23, b'},{"n":5,', end + 26, end + 31, b"}")
    assert marshal.loads(blob.bytes()[offset : offset + (length ^ PARTS)]) == (whole, parts)
    assert pages.add("b", 0, older)[1] == pages.add("a", 1, older)[1] == len(b",".join(map(item_text, older)))
    least = len(dump_data((whole, (0, 1, b"}")))) + WORTH
    for size, is_parts in ((least, True), (least - 1, False)):
        pages = ListPages(Blob())
        pages.add("a", 0, [(b"1" * (size - 2), b"2")])
        assert (pages.add("a", 0, [(b"1" * (size - 2),)])[1] >= PARTS) is is_parts


def test_entries_of_sources_have_a_bounded_size(monkeypatch: pytest.MonkeyPatch) -> None:
    schemas = [tool.input for tool in checked_project("rich").server.tools if tool.input.decides][:2]

    def added(validators: Validators) -> tuple[list[tuple[int, int, int]], list[ArtifactFile]]:
        places = [
            place for schema in schemas for (place, _), *rest in [validators.add(schema)] for place in (place, *rest)
        ]
        return places, [*validators.sources()]

    places, (entry,) = added(Validators())
    assert [number for number, *_ in places] == [0, 0, 0, 0]
    size = sum(length for *_, length in places[:3])
    for limit, numbers in ((size, [0, 0, 0, 1]), (size - 1, [0, 0, 1, 1]), (1, [0, 1, 2, 3])):
        monkeypatch.setattr(generated_modules, "ENTRY_BYTES", limit)
        split, entries = added(Validators())
        assert [number for number, *_ in split] == numbers
        assert [file.name for file in entries] == [f"mcpc_app/validators/{number}" for number in sorted({*numbers})]
        texts = [entries[number].data[start : start + length] for number, start, length in split]
        assert texts == [entry.data[start : start + length] for _, start, length in places]


def test_a_layer_is_written_with_its_bytecode_and_an_index() -> None:
    files = {
        ".extracted/p/a.py": b"x = 1\n", ".extracted/p/large.txt": b"0" * 999, ".extracted/p/b.txt": b"0",
        ".extracted/pq/c.py": b"", "q.py": b"y = 1\n", "bad.py": b"x =\n", "data.txt": b"data",
    }  # fmt: skip
    parcels = [{"name": "p", "variants": [{"folder": ".extracted/p", "tags": ["py3-none-any"]}]}]
    layer = Layer(index={"modules": ["p", "q"], "parcels": parcels}, files=files)
    written, _ = layer_files(layer, "site", (HERE,))
    tag = cache_tag(HERE)
    compiled = [f".extracted/p/__pycache__/a.{tag}.pyc", f".extracted/pq/__pycache__/c.{tag}.pyc", "q.pyc"]
    assert sorted(written) == sorted((*files, *compiled, ".layer"))
    assert {name: written[name] for name in files} == files
    index = marshal.loads(written[".layer"])
    (variant,) = index["parcels"][0].pop("variants")
    assert (index, variant["folder"], variant["tags"]) == (
        {"modules": ["p", "q"], "parcels": [{"name": "p"}]},
        ".extracted/p",
        ["py3-none-any"],
    )
    sizes = {name: len(data) for name, data in written.items()}
    assert list(variant["files"]) == sorted(["large.txt", f"__pycache__/a.{tag}.pyc", "a.py", "b.txt"],
                                            key=lambda name: -sizes[f".extracted/p/{name}"])  # fmt: skip
    assert variant["files"]["b.txt"] == hashlib.sha256(b"0").hexdigest()
    names: dict[str, object] = {}
    exec(marshal.loads(written["q.pyc"][16:]), names)
    assert names["y"] == 1


@pytest.mark.parametrize(
    ("compiled", "minor", "path"),
    [
        ("a/b.pyc", "3.11", "a/b.pyc"),
        ("a/b.pyc", "3.12", "a/b.pyc.cpython-312"),
        (".extracted/a/b.pyc", "3.11", ".extracted/a/__pycache__/b.cpython-311.pyc"),
        (".extracted/a/b.pyc", "3.12", ".extracted/a/__pycache__/b.cpython-312.pyc"),
    ],
)
def test_the_name_of_bytecode(compiled: str, minor: str, path: str) -> None:
    assert bytecode_path(compiled, minor, ("3.11", "3.12")) == path
    assert tag_suffix(minor, ("3.11", "3.12")) == ("" if minor == "3.11" else ".cpython-312")


def test_interpreters_are_looked_for_on_the_path_and_then_where_installers_put_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = ["bin/python3.9", "bin/python", "pyenv/versions/3.9.2/bin/python3.9", "pyenv/versions/3.9.1/bin/python3.9",
                ".local/share/uv/python/cpython-3.9.7-linux/bin/python3.9", "pyenv/versions/3.8.1/bin/python3.8"]  # fmt: skip
    for name in programs:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\nprintf 'cpython 3.8'\n")
        path.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.delenv("UV_PYTHON_INSTALL_DIR", raising=False)
    assert list(candidates("3.9")) == [str(tmp_path / name) for name in programs[:5]]
    interpreters.interpreter.cache_clear()
    with pytest.raises(MissingPythonError, match=r"3\.9"):
        interpreters.interpreter("3.9")
    assert interpreters.interpreter("3.8") == str(tmp_path / "bin/python")
    interpreters.interpreter.cache_clear()


STRIPPED = {
    "signatures": (
        "def f(a: int, /, b: str='x', *c: int, d: bytes=b'', **e: object) -> None:\n    'Doc.'\n    g: int = 1\n    h: str\n    return g",
        "def f(a, /, b='x', *c, d=b'', **e):\n    pass\n    g = 1\n    pass\n    return g",
    ),
    "inner signatures": (
        "async def f() -> int:\n\n    def g(x: int) -> int:\n        return x\n    return g",
        "async def f():\n\n    def g(x):\n        return x\n    return g",
    ),
    "a named tuple": (
        "class A(NamedTuple):\n    'Doc.'\n    a: int\n    b: str = 'x'\n\n    def f(self) -> int:\n        c: int = 1",
        "class A(NamedTuple):\n    pass\n    a: None\n    b: None = 'x'\n\n    def f(self):\n        c = 1",
    ),
    "a dataclass": (
        "@dataclass(frozen=True)\nclass A:\n    a: int\n    b: str = 'x'",
        "@dataclass(frozen=True)\nclass A:\n    a: None\n    b: None = 'x'",
    ),
    "another class": (
        "class A(typing.NamedTuple, Base):\n    a: int\n    b: int = 1\n    c = 2",
        "class A(typing.NamedTuple, Base):\n    pass\n    b = 1\n    c = 2",
    ),
    "for type checkers": ("if TYPE_CHECKING:\n    import a", "pass"),
    "for type checkers, or not": ("if TYPE_CHECKING:\n    import a\nelse:\n    import b\n    import c", "import b\nimport c"),
    "other conditions": (
        "if typing.TYPE_CHECKING:\n    a: int = 1\nelif not TYPE_CHECKING:\n    'b'",
        "if typing.TYPE_CHECKING:\n    a = 1\nelif not TYPE_CHECKING:\n    pass",
    ),
    "imports": ("from __future__ import annotations\nfrom a import b\nfrom . import c", "pass\nfrom a import b\nfrom . import c"),
    "values alone": ("'text'\n5\nf()\na\n...", "pass\npass\nf()\na\npass"),
}  # fmt: skip


@pytest.mark.parametrize("case", STRIPPED)
def test_a_source_is_stripped(case: str) -> None:
    source, expected = STRIPPED[case]
    assert stripped_source(source.encode()).decode() == f"#\n{expected}"
    stripped, plain = (dump_code(code_of(text.encode(), "label", strip=is_whole)) for text, is_whole in
                       ((source, True), (source, False)))  # fmt: skip
    assert marshal.loads(stripped).co_filename == "label"
    assert (b"Doc." in plain, b"Doc." in stripped) == ("Doc." in source, False)


def test_a_bytecode_file_says_that_it_is_not_checked() -> None:
    source = b"x = 1\n"
    header = MAGIC + b"\1\0\0\0" + importlib.util.source_hash(source)
    code = code_of(source, "label", strip=False)
    assert pyc(code, source) == header + dump_code(code)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"properties": {"a": True, "b": False, "c": {"properties": {"d": True}}}, "x": True},
         {"properties": {"a": {}, "b": {"not": {}}, "c": {"properties": {"d": True}}}, "x": True}),
        ({"properties": True}, {"properties": True}), ({}, {}), (True, True), ([], []),
    ],
)  # fmt: skip
def test_properties_are_objects(schema: object, expected: object) -> None:
    assert without_boolean_properties(schema) == expected  # type: ignore[arg-type]
