"""An image of a server: the layers of its base, if any, and one layer with the built file.

a file that any Python runs    on a base that has Python, for each processor that the base and the file share;
without a base it is a layer, of which `FROM` makes an image
a self-contained program       needs no base: a complete image from nothing
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc.release.carriers.errors import UnusableFileError, UnusableValueError
from mcpc.release.carriers.files import EXECUTABLE, CarrierFile
from mcpc.release.carriers.image.blobs import (
    CONFIG,
    CONTAINERD_NAME,
    INDEX,
    LAYER,
    MANIFEST,
    REF_NAME,
    canonical_json,
    descriptor,
    layout_files,
    tar_bytes,
)
from mcpc.release.carriers.image.labels import OCI, image_annotations, image_labels
from mcpc.release.carriers.programs import LINUX

if TYPE_CHECKING:
    from mcpc.release.carriers.built_server import BuiltServer
    from mcpc.release.carriers.image.base import BaseImage

    Item = dict[str, Any]

USER = "65532:65532"
PYTHON = "python3"
MACHINES = {
    "x86_64": "amd64",
    "aarch64": "arm64",
    "armv7l": "arm",
    "i686": "386",
    "ppc64le": "ppc64le",
    "s390x": "s390x",
}
"""Processors by the tags of packages, as OCI names them."""
DEFAULT_MACHINES = ("amd64", "arm64")
PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
SHELLLESS = frozenset({"python", "static"})
"""Contracts of handlers that start no program of the system."""


@dataclass(frozen=True, slots=True)
class ImageOptions:
    """How an image is made.

    `port`: where it serves over HTTP, or 0 for standard input and output.  `created`: its time (RFC 3339).
    `base_name`: the name of the base in a registry.  `revision`: the commit of the sources.
    """

    base: tuple[BaseImage, ...] = ()
    base_name: str = ""
    port: int = 0
    created: str = "1970-01-01T00:00:00Z"
    revision: str = ""


def image_layout(servers: tuple[BuiltServer, ...], options: ImageOptions) -> tuple[CarrierFile, ...]:
    """Return the layout; `servers`: one built file, or one program for each processor.

    Raises UnusableFileError if the base and the file are for different processors.
    """
    server = servers[0]
    if options.port and not server.has_http:
        raise UnusableValueError("the server was built without HTTP support; build it with `mcpc build --http`")
    entries: list[Item] = []
    blobs: list[bytes] = []
    for each, machine, base in images_to_make(servers, options):
        entry, made = one_image(each, machine, base, options)
        entries.append(entry)
        blobs += made
    tag = re.sub(r"[^\w.-]", "-", server.version, flags=re.ASCII)[:128].lstrip(".-") or "latest"
    named = {REF_NAME: tag, CONTAINERD_NAME: f"docker.io/library/{server.slug}:{tag}"}
    if len(entries) == 1:
        return layout_files({**entries[0], "annotations": named}, blobs)
    index = canonical_json({"schemaVersion": 2, "mediaType": INDEX, "manifests": entries})
    return layout_files(descriptor(INDEX, index, annotations=named), [*blobs, index])


def images_to_make(
    servers: tuple[BuiltServer, ...], options: ImageOptions
) -> list[tuple[BuiltServer, str, BaseImage | None]]:
    """Return each processor with its file and its base, sorted."""
    found: dict[str, tuple[BuiltServer, str, BaseImage | None]] = {}
    bases = {base.machine: base for base in options.base}
    for server in servers:
        able = machines_of(server)
        wanted = able or tuple(bases) or DEFAULT_MACHINES
        for machine in wanted:
            if not bases or machine in bases:
                if machine in found:
                    raise UnusableValueError(f"there are two files for {machine}; expected one for each processor")
                found[machine] = (server, machine, bases.get(machine))
    if not found:
        needed = ", ".join(sorted({machine for server in servers for machine in machines_of(server)}))
        raise UnusableFileError(f"the base is for {', '.join(sorted(bases))}, but the file is for {needed}")
    return [found[machine] for machine in sorted(found)]


def machines_of(server: BuiltServer) -> tuple[str, ...]:
    """Return the processors that a file is for; nothing if it is for all."""
    if server.target is not None:
        if server.target.system != LINUX:
            raise UnusableValueError(f"the file is a program for {server.target.system}; images run Linux")
        return (server.target.machine,)
    tags = [tag.rpartition("-")[2] for tag in server.platforms]
    found = {name for tag in tags if "linux" in tag for machine, name in MACHINES.items() if tag.endswith(machine)}
    if tags and not found:
        hint = "build it with `--platform manylinux2014_x86_64`"
        raise UnusableValueError(f"packages in the file are for {', '.join(sorted({*tags}))}, not for Linux: {hint}")
    return tuple(sorted(found))


def one_image(
    server: BuiltServer, machine: str, base: BaseImage | None, options: ImageOptions
) -> tuple[Item, list[bytes]]:
    """Return the descriptor of one processor's image, and its blobs."""
    layer = server_layer(server, is_alone=base is None)
    config = canonical_json(image_config(server, machine, base, options, descriptor(LAYER, layer)["digest"]))
    layers = [*(base.layers if base else ()), (descriptor(LAYER, layer), layer)]
    noted = image_annotations(server, options.revision)
    if base is not None:
        origin = {f"{OCI}.base.digest": base.digest, f"{OCI}.base.name": options.base_name}
        noted |= {name: value for name, value in origin.items() if value}
    manifest = canonical_json(
        {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": descriptor(CONFIG, config),
            "layers": [described for described, _ in layers],
            "annotations": noted,
        }
    )
    variant = base.config.get("variant") if base else None
    platform = {"architecture": machine, "os": "linux", **({"variant": variant} if variant else {})}
    return descriptor(MANIFEST, manifest, platform=platform), [config, manifest, *(data for _, data in layers)]


def file_path(server: BuiltServer) -> str:
    """Return the path of the server in an image, without the first `/`."""
    return "server" if server.target is not None else "server.pyz"


def server_layer(server: BuiltServer, *, is_alone: bool) -> bytes:
    """Return the layer with the server; one without a base has a folder for temporary files, too."""
    file = CarrierFile(file_path(server), EXECUTABLE, server.data)
    return tar_bytes([file], [("tmp", 0o1777)] if is_alone and server.target is not None else [])


def image_config(server: BuiltServer, machine: str, base: BaseImage | None, options: ImageOptions, layer: str) -> Item:
    """Return the configuration: that of the base, with the server as what is run."""
    config: Item = dict(base.config) if base else {"os": "linux", "rootfs": {"type": "layers", "diff_ids": []}}
    inherited = {**(config.get("config") or {})}
    for name in ("Cmd", "Healthcheck", "OnBuild", "ArgsEscaped", "Image", "Hostname", "Domainname", "StopSignal"):
        inherited.pop(name, None)
    path = f"/{file_path(server)}"
    run = {
        **inherited,
        "User": USER,
        "WorkingDir": "/",
        "Env": inherited.get("Env") or [PATH],
        "Entrypoint": [path] if server.target is not None else [PYTHON, path],
        "Labels": {**(inherited.get("Labels") or {}), **image_labels(server, options.revision)},
    }
    if options.port:
        run |= {"Cmd": ["serve", "--http", f"0.0.0.0:{options.port}"], "ExposedPorts": {f"{options.port}/tcp": {}}}
    made = {"created": options.created, "created_by": "mcpc ship image", "comment": f"{server.slug} {server.version}"}
    kept = {key: value for key, value in config.items() if key in ("os", "os.version", "os.features", "variant")}
    return {
        **kept,
        "architecture": machine,
        "created": options.created,
        "config": run,
        "rootfs": {"type": "layers", "diff_ids": [*config["rootfs"]["diff_ids"], layer]},
        "history": [*(config.get("history") or []), made],
    }


def missing_in_image(server: BuiltServer, options: ImageOptions) -> str:
    """Return what an image without a base lacks to run, as a sentence; empty if it is complete."""
    if options.base:
        return ""
    if server.target is None:
        return (
            "it has no Python, so it does not run: it is a layer for `FROM`. A file of `mcpc build --self-contained` "
            "needs no base; or name one with `--base`"
        )
    if server.target.is_script:
        return "it has no shell, which starts this file: name a base with `--base`"
    others = sorted(server.contracts - SHELLLESS)
    if others:
        return f"it has no programs but the server, and handlers of these kinds start some: {', '.join(others)}"
    return ""
