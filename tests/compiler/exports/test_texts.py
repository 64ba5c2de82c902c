"""The text of every export, of a plain server and of one with everything, compared with golden files; and its parts."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpc.release import exports
from mcpc.release.carriers.built_server import DeclaredSetting
from mcpc.release.exports import (
    EXPORTS,
    OVER_HTTP,
    Deployment,
    UnusableValueError,
    base_image,
    chosen_minor,
    class_name,
    comment_text,
    compose_variable,
    homebrew,
    image_tag,
    kubernetes,
    one_sentence,
    quoted_or_word,
    ruby_text,
    shell_text,
    systemd,
    unit_text,
    yaml_mapping,
    yaml_scalar,
)
from support.artifact import build, mcpc
from support.needs import ROOT, needs
from support.talking import write_project
from support.wheels import variables, wheel

SETTINGS = (
    DeclaredSetting("API_KEY", description="The key", required=True, secret=True),
    DeclaredSetting("OTHER_KEY", title="Another key.", secret=True),
    DeclaredSetting("UNITS", choices=("metric", 1), default="a$b", required=True),
    DeclaredSetting("PLAIN", default=7),
    DeclaredSetting("NEEDED", "number", required=True),
    DeclaredSetting("FREE", "boolean"),
)
PLAIN = Deployment("demo", "1.0.0", homepage="https://h.org", url="https://u.org/d.pyz", digest="0" * 64)
WHOLE = Deployment(
    "My Server!",
    "1.0 (beta)",
    host="mcp.example.org",
    image="registry.example.org/demo:1",
    base="--platform=linux/amd64 python:3.12-slim",
    path="/a/b",
    replicas=4,
    port=9000,
    valkey=True,
    upstreams=("10.0.0.1:80", "[::1]:81"),
    settings=SETTINGS,
    summary="Does 100 % of \\it.",
    homepage="https://h.org/#x",
    license="MIT",
    url="https://u.org/my.pyz",
    digest="f" * 64,
    python="3.12",
    project="servers/my server",
)


@pytest.mark.parametrize("kind", EXPORTS)
@pytest.mark.parametrize("name", ["plain", "whole"])
def test_an_export_is_exactly_this(
    kind: str, name: str, golden: Callable[[Path, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "__version__", "0.0.0")
    text = EXPORTS[kind](PLAIN if name == "plain" else WHOLE)
    golden(ROOT / f"tests/golden/exports/{kind}-{name}.txt", text)
    assert kind in OVER_HTTP or "/mcp" not in text


def test_replicas_may_grow_to_three_times_as_many_and_to_ten_at_least() -> None:
    for replicas, most in ((3, 10), (4, 12)):
        assert f"maxReplicas: {most}\n" in kubernetes(replace(PLAIN, replicas=replicas))
    assert "# demo 1?2 on Kubernetes" in kubernetes(replace(PLAIN, version="1\x002"))
    assert "app.kubernetes.io/version: unknown" in kubernetes(replace(PLAIN, version="()"))
    assert f"app.kubernetes.io/version: {'v' * 63}\n" in kubernetes(replace(PLAIN, version="v" * 64))


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        (DeclaredSetting("A"), "${A:-}"),
        (DeclaredSetting("A", required=True), "${A:?set it in .env}"),
        (DeclaredSetting("A", default="x y", required=True), "${A:-x y}"),
        (DeclaredSetting("A", default=""), "${A:-}"),
        (DeclaredSetting("A", default=False), "${A:-false}"),
        (DeclaredSetting("A", default="a$b"), "a$$b"),
        (DeclaredSetting("A", default="{x}"), "{x}"),
        (DeclaredSetting("A", default="a\\b"), "a\\b"),
    ],
)
def test_the_value_of_a_setting_in_compose(setting: DeclaredSetting, text: str) -> None:
    assert compose_variable(setting) == text


def test_versions_are_tags_of_images() -> None:
    assert [image_tag(each) for each in ("1.0+x", "-1-", "()", "9" * 129)] == ["1.0-x", "1", "latest", "9" * 128]


UNFIT: list[dict[str, Any]] = [
    *({"host": host} for host in ("a b", "a;b", "-a", "", "a.example\n")),
    *({"path": path} for path in ("mcp", "/a b", "/a;}")),
    *({"image": image} for image in ("a b", "a\nb")),
    *({"upstreams": (upstream,)} for upstream in ("127.0.0.1", "127.0.0.1:80; }")),
    {"host": "a" * 64},
    {"host": ".".join(["a" * 63] * 4)},
    {"path": "/" + "a" * 201},
    {"image": "a" * 256},
    {"url": "ftp://u.org"},
    {"project": "../x"},
    {"project": "/x"},
    {"project": "a" * 202},
    {"project": ""},
    {"upstreams": ("a:1", "a:123456")},
]
FIT: list[dict[str, Any]] = [
    {"host": "a" * 63},
    {"host": ".".join(["a" * 63] * 3 + ["a" * 61])},
    {"path": "/" + "a" * 200},
    {"image": "a" * 255},
    {"url": "https://u.org"},
    {"project": "a/.b"},
    {"project": "a" * 201},
    {"upstreams": ("a:12345", "[::1]:1")},
]


def test_values_are_checked_at_their_limits() -> None:
    for values in FIT:
        assert replace(PLAIN, **values).checked() == replace(PLAIN, **values)
    for values in UNFIT:
        with pytest.raises(UnusableValueError):
            replace(PLAIN, **values).checked()


@pytest.mark.parametrize(
    ("minor", "tags", "chosen"),
    [
        (12, [], 12),
        (12, [("py3", "none")], 12),
        (10, [("py3", "none")], 11),
        (12, [("cp311", "cp311")], 11),
        (12, [("cp311", "cp311"), ("cp312", "cp312")], 12),
        (12, [("cp313", "cp313"), ("cp314", "cp314t")], 14),
        (12, [("cp313", "abi3"), ("cp39", "abi3")], 13),
        (13, [("cp312", "abi3")], 13),
        (12, [("cp311", "cp311"), ("cp313", "abi3")], 11),
        (12, [("cpx", "abi3"), ("cpx", "cp3")], 12),
    ],
)
def test_the_python_that_loads_all_modules(minor: int, tags: list[tuple[str, str]], chosen: int) -> None:
    assert chosen_minor(minor, tags) == chosen


@pytest.mark.parametrize(
    ("platforms", "image"),
    [
        ((), "python:3.12-slim"),
        (("cp312-cp312-musllinux_1_2_x86_64", "cp312-cp312-manylinux_2_17_x86_64"), "--platform=linux/amd64 python:3.12-slim"),
        (("cp312-cp312-musllinux_1_2_aarch64",), "--platform=linux/arm64 python:3.12-alpine"),
        (("cp312-cp312-linux_x86_64", "cp312-cp312-linux_aarch64", "cp312-cp312-win_amd64"), "python:3.12-slim"),
    ],
)  # fmt: skip
def test_the_image_is_for_the_machines_of_the_modules(platforms: tuple[str, ...], image: str) -> None:
    assert base_image("3.12.1,3.11.2", platforms) == image
    with pytest.raises(UnusableValueError, match="for macosx_11_0_arm64, win_amd64, but"):
        base_image("3.12.1", ("cp312-cp312-win_amd64", "cp312-cp312-macosx_11_0_arm64"))


def test_a_formula_needs_two_addresses() -> None:
    for missing in ("url", "homepage"):
        with pytest.raises(UnusableValueError, match=missing):
            homebrew(replace(PLAIN, **{missing: ""}))
    for text in ("a\nb", "a\x00"):
        with pytest.raises(UnusableValueError):
            ruby_text(text)
    assert ruby_text('a"#{x}é') == '"a\\"\\#{x}é"'
    assert "license" not in homebrew(replace(PLAIN, license="MIT OR x"))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Does  it.\nWell.", "Does it. Well"),
        ("a" * 80, "a" * 80),
        (f"{'a' * 70} {'b' * 10}", f"{'a' * 70}…"),
        (f"{'a' * 40} {'b' * 37} {'c' * 10}", f"{'a' * 40} {'b' * 37}…"),
        ("a" * 81, "a" * 79 + "…"),
    ],
)
def test_a_description_is_short(text: str, line: str) -> None:
    assert one_sentence(text) == line
    assert [class_name(each) for each in ("my-server", "1st-x", "a")] == ["MyServer", "Mcp1stX", "A"]


def test_texts_of_a_unit_are_one_printable_line() -> None:
    assert comment_text(" a\n b \\\\") == "a b "
    assert len(comment_text("a" * 501)) == 500
    assert comment_text("a" * 499 + "\\b") == "a" * 499
    assert unit_text("50 % of \\x") == "50 %% of /x"
    with pytest.raises(UnusableValueError):
        unit_text("a\x00")
    read = replace(PLAIN, settings=(DeclaredSetting("A", "file"),))
    assert "ProtectHome=read-only\n" in systemd(read)
    assert "ProtectHome=read-only\n" in systemd(replace(read, settings=(DeclaredSetting("A", "directory"),)))


def test_scalars_of_yaml_are_on_one_line_and_strings_stay_strings() -> None:
    texts = ["a", "on", "1.0", "", "- a", "a: b", "a #b", "x\ny ", "é\x85", "\U0001f600", "w " * 90, 7, True]
    scalars = [yaml_scalar(text) for text in texts]
    assert [yaml.safe_load(f"a:\n- {scalar}\n- 1\n") for scalar in scalars] == [{"a": [text, 1]} for text in texts]
    assert not [scalar for scalar in scalars if "\n" in scalar]
    assert yaml_mapping({"no": "1", "a": "b"}, 2) == "\n  'no': '1'\n  a: b"


def test_a_value_without_a_filter_is_a_word() -> None:
    assert [quoted_or_word(each) for each in ("/a/b", 80, shell_text("a b"))] == ["/a/b", "80", "'a b'"]
    for text in ("a b", "a;", "$a", "%a", "", "a\n", "é", "{a"):
        with pytest.raises(UnusableValueError):
            quoted_or_word(text)
    with pytest.raises(UnusableValueError):
        shell_text("a\nb")


SHIPPED = Deployment("demo", "1.0.0", host="mcp.example.org", image="registry.example.org/demo:1")


def objects(one: Deployment) -> list[dict[str, Any]]:
    return [found for found in yaml.safe_load_all(EXPORTS["kubernetes"](one)) if found]


def test_the_words_of_a_manifest_are_words_of_serve(tmp_path: Path) -> None:
    """They are followed up to the point where there is nobody to let in."""
    container = next(found for found in objects(SHIPPED) if found["kind"] == "Deployment")["spec"]["template"]["spec"]
    artifact = build(write_project(tmp_path / "project"), tmp_path / "server.pyz", "--http")
    argv = ["python3", str(artifact), *container["containers"][0]["args"]]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 2
    assert "--token-file" in done.stderr
    assert "no option" not in done.stderr


def test_nginx_takes_the_site(tmp_path: Path) -> None:
    needs("nginx")
    site = re.sub(r" +ssl_certificate.*\n", "", EXPORTS["nginx"](SHIPPED)).replace(
        "listen 443 ssl;", "listen 127.0.0.1:8098;"
    )
    site = site.replace("listen 80;", "listen 127.0.0.1:8099;")
    assert nginx_says(tmp_path, site).returncode == 0, nginx_says(tmp_path, site).stderr
    assert nginx_says(tmp_path, site.replace("proxy_buffering off", "proxy_buffering perhaps")).returncode != 0


def nginx_says(folder: Path, site: str) -> subprocess.CompletedProcess[str]:
    (folder / "site.conf").write_text(site)
    main = folder / "nginx.conf"
    main.write_text(
        f"pid {folder}/pid;\nerror_log stderr;\nevents {{}}\nhttp {{ access_log off; include {folder}/site.conf; }}\n"
    )
    program = shutil.which("nginx") or "nginx"
    argv = [program, "-t", "-c", str(main), "-p", str(folder)]
    return subprocess.run(argv, capture_output=True, text=True, timeout=20, check=False)


@settings(max_examples=20, deadline=None)
@given(name=st.text(max_size=80), version=st.text(max_size=80))
def test_no_name_of_a_server_leaves_its_place(name: str, version: str) -> None:
    one = Deployment(name, version).checked()
    plain = Deployment(one.label, "1")
    assert EXPORTS["nginx"](one) == EXPORTS["nginx"](plain)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.sampled(2)
def test_the_manifest_takes_its_python_from_the_file(tmp_path: Path, cache: Path, native: bool) -> None:
    minor = sys.version_info[1]
    tag = f"cp3{minor}-cp3{minor}-manylinux2014_x86_64"
    files = {"nat.cpython.so": b"\x7fELF"} if native else {"nat.py": ""}
    version = "2.0" if native else "1.0"  # the cache knows a package by its version
    shop = wheel(tmp_path / "shop", "nat", version, files, tag=tag if native else "").parent
    project = write_project(tmp_path / "project")
    (project / "requirements.txt").write_text(f"nat=={version}\n")
    bought = {**variables(shop), "MCPC_CACHE_DIR": str(cache), "PATH": os.environ["PATH"]}
    artifact = tmp_path / "server.pyz"
    done = mcpc("build", project, "-o", artifact, "--http", environment=bought)
    assert done.returncode == 0, done.stdout + done.stderr
    made = mcpc("ship", "kubernetes", artifact, environment=bought)
    assert made.returncode == 0, made.stderr
    expected = f"{'--platform=linux/amd64 ' if native else ''}python:3.{minor}-slim"
    assert f"#     FROM {expected}\n" in made.stdout
