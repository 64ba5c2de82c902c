"""Images: OCI's schemas hold, Debian's tools take them, bases are verified, and an image from nothing runs."""

import hashlib
import io
import json
import os
import subprocess
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from mcpc.cli.carrier_files import write_files
from mcpc.release.carriers import BuiltServer, UnusableFileError, UnusableValueError
from mcpc.release.carriers.built_server import CarrierFile, ProgramTarget, tar_bytes
from mcpc.release.carriers.image import (
    LAYER,
    BaseImage,
    ImageOptions,
    descriptor,
    image_layout,
    layout_archive,
    missing_in_image,
    read_base,
)
from support.artifact import mcpc
from support.carriers import assert_valid
from support.needs import needs

PLAIN = ImageOptions()


def base_image(machine: str, variant: str = "") -> BaseImage:
    """A base as small as can be: one layer with one file."""
    layer = tar_bytes([CarrierFile(f"etc/{machine}", 0o644, machine.encode())])
    described = descriptor(LAYER, layer)
    config: dict[str, Any] = {
        "architecture": machine,
        "os": "linux",
        **({"variant": variant} if variant else {}),
        "config": {"Env": ["PATH=/usr/local/bin:/usr/bin", "LANG=C.UTF-8"], "Cmd": ["python3"], "Labels": {"a": "b"}},
        "rootfs": {"type": "layers", "diff_ids": [described["digest"]]},
        "history": [{"created_by": "base"}],
    }
    return BaseImage(config, ((described, layer),), "sha256:" + "1" * 64)


def blobs(files: tuple[CarrierFile, ...]) -> dict[str, bytes]:
    return {file.path: file.data for file in files}


def entry_of(files: tuple[CarrierFile, ...]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(blobs(files)["index.json"])["manifests"][0]
    return found


def blob(files: tuple[CarrierFile, ...], described: dict[str, Any]) -> bytes:
    return blobs(files)["blobs/sha256/" + described["digest"].removeprefix("sha256:")]


def images(files: tuple[CarrierFile, ...]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Every manifest and configuration of a layout, after its index or indexes were held against the schemas."""
    entry = entry_of(files)
    assert_valid("oci/image-layout-schema.json", json.loads(blobs(files)["oci-layout"]))
    assert_valid("oci/image-index-schema.json", json.loads(blobs(files)["index.json"]))
    entries = [entry]
    if "index" in entry["mediaType"]:
        index = json.loads(blob(files, entry))
        assert_valid("oci/image-index-schema.json", index)
        entries = index["manifests"]
    found = []
    for each in entries:
        manifest = json.loads(blob(files, each))
        config = json.loads(blob(files, manifest["config"]))
        assert_valid("oci/image-manifest-schema.json", manifest)
        assert_valid("oci/config-schema.json", config)
        layers = [blob(files, layer) for layer in manifest["layers"]]
        assert [f"sha256:{hashlib.sha256(layer).hexdigest()}" for layer in layers] == config["rootfs"]["diff_ids"]
        found.append((manifest, config))
    return found


def write_layout(folder: Path, files: tuple[CarrierFile, ...]) -> Path:
    write_files(folder, files)
    return folder


def test_the_schemas_hold_for_every_processor(server: BuiltServer) -> None:
    options = ImageOptions(
        (base_image("amd64"), base_image("arm64", "v8")), "python:3.13", port=8000, revision="a" * 40
    )
    found = images(image_layout((server,), options))
    assert [config["architecture"] for _, config in found] == ["amd64", "arm64"]
    for manifest, config in found:
        assert len(manifest["layers"]) == 2
        assert manifest["layers"][1] == found[0][0]["layers"][1]
        assert manifest["annotations"]["org.opencontainers.image.base.name"] == "python:3.13"
        assert manifest["annotations"]["org.opencontainers.image.revision"] == "a" * 40
        run = config["config"]
        assert (run["User"], run["Entrypoint"]) == ("65532:65532", ["python3", "/server.pyz"])
        assert run["Cmd"] == ["serve", "--http", "0.0.0.0:8000"]
        assert run["ExposedPorts"] == {"8000/tcp": {}}
        assert run["Env"] == ["PATH=/usr/local/bin:/usr/bin", "LANG=C.UTF-8"]
        assert run["Labels"]["a"] == "b"
        assert run["Labels"]["io.modelcontextprotocol.server.name"] == "io.github.example/weather"


def test_what_docker_reads_is_yaml_and_names_no_value(server: BuiltServer) -> None:
    _, config = images(image_layout((server,), PLAIN))[0]
    found = yaml.safe_load(config["config"]["Labels"]["io.docker.server.metadata"])
    assert found["type"] == "server"
    assert found["tools"] == [{"name": "forecast", "description": "Tell the weather of a place."}]
    assert {each["env"]: each["name"] for each in found["secrets"]} == {
        "API_KEY": "weather.api_key", "SPARE_KEY": "weather.spare_key",
    }  # fmt: skip
    assert {"name": "REGION", "value": "{{weather.region}}"} in found["env"]
    assert found["config"][0]["required"] == ["root"]


@pytest.mark.parametrize("kind", ["folder", "archive"])
def test_a_base_is_read_from_a_layout(tmp_path: Path, server: BuiltServer, kind: str) -> None:
    base = image_layout((server,), ImageOptions((base_image("amd64"), base_image("arm64"))))
    place = tmp_path / "base"
    if kind == "folder":
        write_layout(place, base)
    else:
        place.write_bytes(layout_archive(base))
    found = read_base(place, entry_of(base)["digest"])
    assert [each.machine for each in found] == ["amd64", "arm64"]
    assert [len(manifest["layers"]) for manifest, _ in images(image_layout((server,), ImageOptions(found)))] == [3, 3]


def test_a_base_without_its_other_processors_is_read(tmp_path: Path, server: BuiltServer) -> None:
    """As `docker save` writes the whole index, and the blobs of one processor."""
    base = image_layout((server,), ImageOptions((base_image("amd64"), base_image("arm64"))))
    left_out = json.loads(blob(base, entry_of(base)))["manifests"][1]["digest"].removeprefix("sha256:")
    place = write_layout(tmp_path / "base", tuple(file for file in base if not file.path.endswith(left_out)))
    assert [each.machine for each in read_base(place)] == ["amd64"]


def test_an_archive_that_is_no_layout_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "saved.tar"
    for files in ([], [CarrierFile("manifest.json", 0o644, b"[]")]):
        place.write_bytes(tar_bytes(files))
        with pytest.raises(UnusableFileError, match="is not an OCI layout"):
            read_base(place)
    place.write_bytes(b"x")
    with pytest.raises(UnusableFileError, match="is not an OCI layout"):
        read_base(place)


def damaged(folder: Path) -> None:
    largest = max((folder / "blobs/sha256").iterdir(), key=lambda path: path.stat().st_size)
    data = bytearray(largest.read_bytes())
    data[len(data) // 2] ^= 1
    largest.write_bytes(data)


def without_blob(folder: Path) -> None:
    min((folder / "blobs/sha256").iterdir(), key=lambda path: path.stat().st_size).unlink()


def climbing(folder: Path) -> None:
    index = json.loads((folder / "index.json").read_text())
    index["manifests"][0]["digest"] = "sha256:../../../../etc/passwd"
    (folder / "index.json").write_text(json.dumps(index))


def not_json(folder: Path) -> None:
    (folder / "index.json").write_text("[1, 2")


@pytest.mark.parametrize("harm", [damaged, without_blob, climbing, not_json])
def test_a_harmed_base_is_a_wrong_file(tmp_path: Path, artifact: Path, server: BuiltServer, harm: Any) -> None:
    base = write_layout(tmp_path / "base", image_layout((server,), ImageOptions((base_image("amd64"),))))
    harm(base)
    place = tmp_path / "image"
    done = mcpc("ship", "image", artifact, "--base", base, "-o", place)
    assert (done.returncode, place.exists()) == (6, False), done.stderr
    assert "base" in done.stderr


def test_a_base_for_another_processor_is_refused(tmp_path: Path, server: BuiltServer) -> None:
    native = replace(server, platforms=("cp311-cp311-manylinux_2_17_aarch64",))
    with pytest.raises(UnusableFileError, match="amd64, but the file is for arm64"):
        image_layout((native,), ImageOptions((base_image("amd64"),)))
    program = replace(server, target=ProgramTarget("linux", "arm64"))
    with pytest.raises(UnusableFileError, match="amd64, but the file is for arm64"):
        image_layout((program,), ImageOptions((base_image("amd64"),)))
    with pytest.raises(UnusableValueError, match="win32"):
        image_layout((replace(server, target=ProgramTarget("win32", "amd64")),), PLAIN)
    with pytest.raises(UnusableValueError, match="macosx_11_0_arm64"):
        image_layout((replace(server, platforms=("cp311-cp311-macosx_11_0_arm64",)),), PLAIN)


def test_without_a_base_it_says_what_is_missing(server: BuiltServer) -> None:
    assert "no Python" in missing_in_image(server, PLAIN)
    assert "shell" in missing_in_image(replace(server, target=ProgramTarget("linux", "amd64", True)), PLAIN)
    program = replace(server, target=ProgramTarget("linux", "amd64"))
    assert missing_in_image(program, PLAIN) == ""
    assert "mcbox" in missing_in_image(replace(program, contracts=frozenset({"mcbox"})), PLAIN)


def test_debian_takes_every_layout(tmp_path: Path, server: BuiltServer) -> None:
    needs("skopeo", "umoci")
    options = ImageOptions((base_image("amd64"), base_image("arm64")))
    layout = write_layout(tmp_path / "image", image_layout((server,), options))
    read = run("skopeo", "--override-arch", "arm64", "inspect", f"oci:{layout}:1.4.0")
    assert json.loads(read.stdout)["Architecture"] == "arm64"
    archive = tmp_path / "image.tar"
    archive.write_bytes(layout_archive(image_layout((server,), options)))
    run(
        "skopeo", "--override-arch", "amd64", "copy", f"oci-archive:{archive}:1.4.0", f"docker-archive:{tmp_path}/d.tar"
    )
    with tarfile.open(tmp_path / "d.tar") as saved:
        assert "manifest.json" in saved.getnames()
    single = write_layout(tmp_path / "one", image_layout((server,), ImageOptions((base_image("amd64"),))))
    run("umoci", "unpack", "--rootless", "--image", f"{single}:1.4.0", str(tmp_path / "bundle"))
    assert (tmp_path / "bundle/rootfs/server.pyz").read_bytes() == server.data
    assert (tmp_path / "bundle/rootfs/etc/amd64").read_bytes() == b"amd64"


def run(*argv: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.slow
def test_an_image_from_nothing_runs(tmp_path: Path, artifact: Path) -> None:
    needs("umoci")
    if os.geteuid() != 0:
        pytest.skip("only root can change the root folder of a process")
    project = artifact.parent / "project"
    program = tmp_path / "server"
    mcpc("build", project, "--self-contained", "-o", program, status=0)
    done = mcpc("ship", "image", program, "-o", tmp_path / "image", status=0)
    assert "note" not in done.stderr
    run("umoci", "unpack", "--rootless", "--image", f"{tmp_path}/image:1.4.0", str(tmp_path / "bundle"))
    config = json.loads((tmp_path / "bundle/config.json").read_text())["process"]
    assert config["args"] == ["/server"]
    listed = run("chroot", "--userspec=65532:65532", str(tmp_path / "bundle/rootfs"), "/server", "list", "--json")
    assert "forecast" in listed.stdout


def test_the_command_writes_an_archive_at_a_given_time(tmp_path: Path, artifact: Path) -> None:
    place = tmp_path / "image.tar"
    environment = {"SOURCE_DATE_EPOCH": "1000000000"}
    mcpc("ship", "image", artifact, "-o", place, "--port", "9000", environment=environment, status=0)
    with tarfile.open(fileobj=io.BytesIO(place.read_bytes())) as archive:
        assert {(member.uid, member.gid, member.mtime) for member in archive.getmembers()} == {(0, 0, 0)}
        configs = [archive.extractfile(name) for name in archive.getnames() if name.startswith("blobs/sha256/")]
        texts = [file.read() for file in configs if file is not None]
    assert any(b'"created":"2001-09-09T01:46:40Z"' in text and b'"9000/tcp"' in text for text in texts)
    wrong = mcpc("ship", "image", artifact, "-o", tmp_path / "x.tar", environment={"SOURCE_DATE_EPOCH": "today"})
    assert (wrong.returncode, (tmp_path / "x.tar").exists()) == (2, False)
