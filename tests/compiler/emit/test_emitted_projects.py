"""What is written to an artifact: the index, each piece of the blob that it refers to, and every generated file."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from mcpc.emit import ArtifactFile, build_index, emit
from mcpc.emit.blob import Blob, Reference
from mcpc.emit.static_answers import place_static_results
from mcpc.emit.validators import Validators
from mcpc.model.ir import CheckedServer, Layer, VirtualServer
from mcpc.options import Options
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
    validators = Validators(blob)
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
