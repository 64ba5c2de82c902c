"""Container images as OCI layouts (image-spec 1.1), made without a daemon and without a network.

a file that any Python runs    on a base that has Python, for each processor that the base and the file share;
                               without a base it is a layer, of which `FROM` makes an image
a self-contained program       needs no base: a complete image from nothing

Blobs have canonical bytes, and those of a base are verified by their digests.
"""

from __future__ import annotations

import io
import json
import re
import tarfile
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from mcpc.model.ir.project import variable_text
from mcpc.release.carriers.built_server import (
    EXECUTABLE,
    LINUX,
    PLAIN,
    CarrierFile,
    UnusableFileError,
    UnusableValueError,
    sha256,
    tar_bytes,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from mcpc.release.carriers.built_server import BuiltServer

    Item = dict[str, Any]
    ReadFile = Callable[[str], bytes | None]

OCI, DOCKER = "application/vnd.oci.image.", "application/vnd.docker."
INDEX, MANIFEST, LAYER = f"{OCI}index.v1+json", f"{OCI}manifest.v1+json", f"{OCI}layer.v1.tar"
LAYERS = {
    **{media_type: media_type for media_type in (LAYER, f"{LAYER}+gzip", f"{LAYER}+zstd")},
    f"{DOCKER}image.rootfs.diff.tar": LAYER,
    f"{DOCKER}image.rootfs.diff.tar.gzip": f"{LAYER}+gzip",
}
"""Media types of layers, and those of OCI for the same bytes."""
DIGEST = re.compile(r"sha256:[a-f0-9]{64}")
ANNOTATION = "org.opencontainers.image"
REF_NAME = f"{ANNOTATION}.ref.name"
MACHINES = {
    "x86_64": "amd64",
    "aarch64": "arm64",
    "armv7l": "arm",
    "i686": "386",
    "ppc64le": "ppc64le",
    "s390x": "s390x",
}
"""Processors by the tags of packages, as OCI names them."""


@dataclass(frozen=True, slots=True)
class BaseImage:
    """The base for one processor: its configuration, its layers with their descriptors, the digest of its manifest."""

    config: Item
    layers: tuple[tuple[Item, bytes], ...]
    digest: str = ""

    @property
    def machine(self) -> str:
        """The processor, as `amd64`."""
        return str(self.config.get("architecture", ""))


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


def read_base(path: Path, digest: str = "") -> tuple[BaseImage, ...]:
    """Return the images of a layout, one for each processor; raise UnusableFileError if it cannot be used."""
    if digest and not DIGEST.fullmatch(digest):
        raise UnusableFileError(f"`{digest}` is not a digest; expected `sha256:` and 64 hexadecimal digits")
    try:
        with layout_reader(path) as read:
            images = tuple(images_of_layout(read, digest))
    except UnusableFileError as problem:
        raise UnusableFileError(f"{path}: {problem}") from None
    except (ValueError, LookupError, TypeError, AttributeError, tarfile.TarError):
        raise UnusableFileError(f"{path} is not an OCI layout") from None
    if not images:
        raise UnusableFileError(f"{path} has no image for Linux")
    return images


@contextmanager
def layout_reader(path: Path) -> Iterator[ReadFile]:
    """Yield a function that returns a file of a folder or an archive, or None if there is none."""
    if path.is_dir():
        yield lambda name: (path / name).read_bytes() if (path / name).is_file() else None
        return
    with tarfile.open(path) as archive:
        members = {member.name.removeprefix("./"): member for member in archive if member.isfile()}
        yield lambda name: (archive.extractfile(members[name]) or io.BytesIO()).read() if name in members else None


def images_of_layout(read: ReadFile, digest: str) -> Iterator[BaseImage]:
    """Yield the images of the entry with this digest, or of the only one."""
    entries = json.loads(read("index.json") or b"")["manifests"]
    rows = [(entry, (entry.get("annotations") or {}).get(REF_NAME, "")) for entry in entries]
    chosen = [(entry, name) for entry, name in rows if digest in ("", entry["digest"])]
    if len({name for _, name in chosen}) != 1:
        images = ", ".join(f"{entry['digest']} {name}".strip() for entry, name in rows)
        raise UnusableFileError(f"`--base-digest` has to name one of its images: {images}")
    for entry, _ in chosen:
        yield from images_of_entry(read, entry)


def images_of_entry(read: ReadFile, entry: Item) -> Iterator[BaseImage]:
    """Yield the images of an entry: one, or those of an index; attestations are not images."""
    if entry["mediaType"] in (INDEX, f"{DOCKER}distribution.manifest.list.v2+json"):
        for inner in json.loads(verified_blob(read, entry))["manifests"]:
            is_linux = (inner.get("platform") or {}).get("os", "linux") == "linux"
            if is_linux and read(blob_path(inner["digest"])) is not None:  # others may have been left out
                yield from images_of_entry(read, inner)
    elif entry["mediaType"] in (MANIFEST, f"{DOCKER}distribution.manifest.v2+json"):
        manifest = json.loads(verified_blob(read, entry))
        config = json.loads(verified_blob(read, manifest["config"]))
        if config.get("os") == "linux":
            layers = ((LAYERS[layer["mediaType"]], verified_blob(read, layer)) for layer in manifest["layers"])
            described = tuple((descriptor(media_type, data), data) for media_type, data in layers)
            yield BaseImage(config, described, entry["digest"])


def verified_blob(read: ReadFile, entry: Item) -> bytes:
    """Return the blob of a descriptor, if it is what the descriptor says."""
    data = read(blob_path(entry["digest"]))
    if data is None or sha256(data) != entry["digest"] or len(data) != entry["size"]:
        raise UnusableFileError(f"the blob {entry['digest']} is {'missing' if data is None else 'damaged'}")
    return data


def blob_path(digest: str) -> str:
    """Return the path of a blob; any text but a digest could lead anywhere."""
    if not DIGEST.fullmatch(digest):
        raise UnusableFileError(f"`{digest}` is not a digest of SHA-256")
    return f"blobs/sha256/{digest.removeprefix('sha256:')}"


def canonical_json(value: Item) -> bytes:
    """Return JSON with sorted keys and without spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def descriptor(media_type: str, data: bytes, **more: Any) -> Item:
    return {"mediaType": media_type, "digest": sha256(data), "size": len(data), **more}


def layout_archive(files: Iterable[CarrierFile]) -> bytes:
    """Return a layout as an archive, which `docker load` and others read."""
    return tar_bytes(files, (("blobs", 0o755), ("blobs/sha256", 0o755)))


def image_layout(servers: tuple[BuiltServer, ...], options: ImageOptions) -> tuple[CarrierFile, ...]:
    """Return the layout; `servers`: one built file, or one program for each processor.

    Raises UnusableFileError if the base and the file are for different processors.
    """
    server = servers[0]
    if options.port and not server.has_http:
        raise UnusableValueError("the server was built without HTTP support; build it with `mcpc build --http`")
    entries: list[Item] = []
    blobs: list[bytes] = []
    for program, machine, base in images_to_make(servers, options):
        manifest, image_blobs = one_image(program, machine, base, options)
        entries.append(manifest)
        blobs += image_blobs
    if len(entries) == 1:
        entry = entries[0]
    else:
        blobs.append(canonical_json({"schemaVersion": 2, "mediaType": INDEX, "manifests": entries}))
        entry = descriptor(INDEX, blobs[-1])
    # A tag has at most 128 of these characters, and begins with neither a dot nor a hyphen (OCI distribution-spec).
    tag = re.sub(r"[^\w.-]", "-", server.version, flags=re.ASCII)[:128].lstrip(".-") or "latest"
    entry["annotations"] = {REF_NAME: tag, "io.containerd.image.name": f"docker.io/library/{server.slug}:{tag}"}
    index = canonical_json({"schemaVersion": 2, "mediaType": INDEX, "manifests": [entry]})
    files = {"index.json": index, "oci-layout": canonical_json({"imageLayoutVersion": "1.0.0"})}
    files |= {blob_path(sha256(data)): data for data in blobs}
    return tuple(CarrierFile(path, PLAIN, data) for path, data in files.items())


def images_to_make(
    servers: tuple[BuiltServer, ...], options: ImageOptions
) -> list[tuple[BuiltServer, str, BaseImage | None]]:
    """Return each processor with its file and its base, sorted."""
    images: dict[str, tuple[BuiltServer, str, BaseImage | None]] = {}
    bases = {base.machine: base for base in options.base}
    for server in servers:
        for machine in machines_of(server) or tuple(bases) or ("amd64", "arm64"):
            if bases and machine not in bases:
                continue
            if machine in images:
                raise UnusableValueError(f"there are two files for {machine}; expected one for each processor")
            images[machine] = (server, machine, bases.get(machine))
    if not images:
        needed = ", ".join(sorted({machine for server in servers for machine in machines_of(server)}))
        raise UnusableFileError(f"the base is for {', '.join(sorted(bases))}, but the file is for {needed}")
    return [images[machine] for machine in sorted(images)]


def machines_of(server: BuiltServer) -> tuple[str, ...]:
    """Return the processors that a file is for; nothing if it is for all."""
    if server.target is not None:
        if server.target.system != LINUX:
            raise UnusableValueError(f"the file is a program for {server.target.system}; images run Linux")
        return (server.target.machine,)
    tags = {tag.rpartition("-")[2] for tag in server.platforms}
    machines = {name for tag in tags if "linux" in tag for machine, name in MACHINES.items() if tag.endswith(machine)}
    if tags and not machines:
        hint = "build it with `--platform manylinux2014_x86_64`"
        raise UnusableValueError(f"packages in the file are for {', '.join(sorted(tags))}, not for Linux: {hint}")
    return tuple(sorted(machines))


def one_image(
    server: BuiltServer, machine: str, base: BaseImage | None, options: ImageOptions
) -> tuple[Item, list[bytes]]:
    """Return the descriptor of one processor's image, and its blobs."""
    # An image from nothing has no folder for temporary files.
    needs_tmp = base is None and server.target is not None
    file = CarrierFile("server" if server.target else "server.pyz", EXECUTABLE, server.data)
    layer = tar_bytes([file], [("tmp", 0o1777)] if needs_tmp else [])
    layers = [*(base.layers if base else ()), (descriptor(LAYER, layer), layer)]
    annotations = image_annotations(server, options.revision)
    config: Item = {"os": "linux", "rootfs": {"type": "layers", "diff_ids": []}}
    if base is not None:
        config = base.config
        names = {f"{ANNOTATION}.base.digest": base.digest, f"{ANNOTATION}.base.name": options.base_name}
        annotations |= {name: value for name, value in names.items() if value}
    history = {
        "created": options.created,
        "created_by": "mcpc ship image",
        "comment": f"{server.slug} {server.version}",
    }
    config_data = canonical_json(
        {
            **{key: config[key] for key in ("os", "os.version", "os.features", "variant") if key in config},
            "architecture": machine,
            "created": options.created,
            "config": run_config(server, config.get("config") or {}, options),
            "rootfs": {"type": "layers", "diff_ids": [*config["rootfs"]["diff_ids"], sha256(layer)]},
            "history": [*(config.get("history") or []), history],
        }
    )
    manifest = canonical_json(
        {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": descriptor(f"{OCI}config.v1+json", config_data),
            "layers": [described for described, _ in layers],
            "annotations": annotations,
        }
    )
    variant = {"variant": config["variant"]} if config.get("variant") else {}
    platform = {"architecture": machine, "os": "linux", **variant}
    return descriptor(MANIFEST, manifest, platform=platform), [config_data, manifest, *(data for _, data in layers)]


def run_config(server: BuiltServer, inherited: Item, options: ImageOptions) -> Item:
    """Return what a container runs: what the base says, with the server as the program."""
    # What was meant for the program of the base.
    replaced = ("Cmd", "Healthcheck", "OnBuild", "ArgsEscaped", "Image", "Hostname", "Domainname", "StopSignal")
    config = {
        **{key: value for key, value in inherited.items() if key not in replaced},
        # Not root; the number is that of `nonroot` in distroless images.
        "User": "65532:65532",
        "WorkingDir": "/",
        "Env": inherited.get("Env") or ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
        "Entrypoint": ["/server"] if server.target is not None else ["python3", "/server.pyz"],
        "Labels": {
            **(inherited.get("Labels") or {}),
            **image_annotations(server, options.revision),
            "io.docker.server.metadata": docker_metadata(server),
        },
    }
    if options.port:
        config |= {"Cmd": ["serve", "--http", f"0.0.0.0:{options.port}"], "ExposedPorts": {f"{options.port}/tcp": {}}}
    return config


def image_annotations(server: BuiltServer, revision: str) -> dict[str, str]:
    """Return the annotations of a manifest; those without a value are left out."""
    values = {
        "title": server.display,
        "version": server.version,
        "description": server.summary,
        "licenses": server.project.license,
        "source": server.link("repository"),
        "url": server.link("homepage"),
        "documentation": server.link("documentation"),
        "authors": ", ".join(author.name or author.email for author in server.project.authors),
        "revision": revision,
    }
    annotations = {f"{ANNOTATION}.{name}": value for name, value in values.items() if value}
    registry_name = server.project.registry.name
    return annotations | ({"io.modelcontextprotocol.server.name": registry_name} if registry_name else {})


def docker_metadata(server: BuiltServer) -> str:
    """Return Docker's description of a server, as YAML.  Values of settings come from its configuration."""
    names = {setting: f"{server.slug}.{setting.name.lower()}" for setting in server.settings}
    others = [setting for setting in server.settings if not setting.secret]
    properties: Item = {}
    for setting in others:
        schema: Item = {"type": setting.type if setting.type in ("integer", "number", "boolean") else "string"}
        schema["description"] = setting.purpose
        if setting.default is not None:
            schema["default"] = setting.default
        if setting.choices:
            as_text = setting.type == "string"
            schema["enum"] = [variable_text(choice) if as_text else choice for choice in setting.choices]
        properties[setting.name.lower()] = schema
    config: Item = {"name": server.slug, "description": f"Settings of {server.display}", "type": "object"}
    config["properties"] = properties
    if required := [setting.name.lower() for setting in others if setting.required]:
        config["required"] = required
    members: Item = {
        "name": server.slug,
        "title": server.display,
        "description": server.summary,
        "type": "server",
        "image": next(iter(server.project.registry.oci), "").replace("{version}", server.version),
        "tools": [{key: tool[key] for key in ("name", "description") if tool.get(key)} for tool in server.tools],
        "secrets": [{"name": names[setting], "env": setting.name} for setting in server.settings if setting.secret],
        "env": [{"name": setting.name, "value": f"{{{{{names[setting]}}}}}"} for setting in others],
        "config": [config] if others else [],
    }
    members = {name: value for name, value in members.items() if value}
    # So wide that no text is folded.
    text: str = yaml.safe_dump(members, sort_keys=False, allow_unicode=True, width=1 << 16)
    return text


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
    kinds = ", ".join(sorted(server.contracts - {"python", "static"}))
    return f"it has no programs but the server, and handlers of these kinds start some: {kinds}" if kinds else ""
