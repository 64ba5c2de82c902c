"""`mcpc ship`: manifests leave no rights, the site holds against nginx itself, and no name leaves its place."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpc.release.exports import EXPORTS, Deployment, UnusableValueError, yaml_scalar
from support.artifact import build, mcpc
from support.needs import needs
from support.talking import write_project
from support.wheels import variables, wheel

pytestmark = pytest.mark.sampled(2)

PLAIN = Deployment("demo", "1.0.0", host="mcp.example.org", image="registry.example.org/demo:1")


def objects(one: Deployment) -> list[dict[str, Any]]:
    return [found for found in yaml.safe_load_all(EXPORTS["kubernetes"](one)) if found]


def test_every_pod_is_without_rights() -> None:
    pods = [one["spec"]["template"]["spec"] for one in objects(Deployment("demo", "1", valkey=True))
            if "template" in one.get("spec", {})]  # fmt: skip
    assert len(pods) == 2
    for pod in pods:
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in pod["containers"]:
            rights = container["securityContext"]
            assert rights["readOnlyRootFilesystem"] is True
            assert rights["allowPrivilegeEscalation"] is False
            assert rights["capabilities"] == {"drop": ["ALL"]}
            assert container["resources"]["limits"]["memory"]


def test_probes_ask_what_the_server_answers_and_secrets_are_only_named() -> None:
    pod = next(found for found in objects(PLAIN) if found["kind"] == "Deployment")["spec"]["template"]["spec"]
    container = pod["containers"][0]
    assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert [one["name"] for one in container["env"]] == ["MCPC_TOKENS", "MCPC_STATE_KEYS"]
    assert all("value" not in one for one in container["env"])
    assert pod["terminationGracePeriodSeconds"] > int(container["args"][container["args"].index("--grace") + 1])


def test_the_words_of_a_manifest_are_words_of_serve(tmp_path: Path) -> None:
    """They are followed up to the point where there is nobody to let in."""
    container = next(found for found in objects(PLAIN) if found["kind"] == "Deployment")["spec"]["template"]["spec"]
    artifact = build(write_project(tmp_path / "project"), tmp_path / "server.pyz", "--http")
    argv = ["python3", str(artifact), *container["containers"][0]["args"]]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 2
    assert "--token-file" in done.stderr
    assert "no option" not in done.stderr


def test_nginx_takes_the_site(tmp_path: Path) -> None:
    needs("nginx")
    site = EXPORTS["nginx"](PLAIN).replace("listen 80;", "listen 127.0.0.1:8099;")
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


UNFIT: list[dict[str, Any]] = [
    {"host": "a b"},
    {"host": "a;b"},
    {"host": "-a"},
    {"host": ""},
    {"host": "a.example\n"},
    {"path": "mcp"},
    {"path": "/a b"},
    {"path": "/a;}"},
    {"image": "a b"},
    {"image": "a\nb"},
    {"upstreams": ("127.0.0.1",)},
    {"upstreams": ("127.0.0.1:80; }",)},
]


@pytest.mark.parametrize("values", UNFIT, ids=str)
def test_what_could_leave_its_place_is_refused(values: dict[str, Any]) -> None:
    with pytest.raises(UnusableValueError):
        Deployment("demo", "1", **values).checked()


@settings(max_examples=20, deadline=None)
@given(name=st.text(max_size=80), version=st.text(max_size=80))
def test_no_name_of_a_server_leaves_its_place(name: str, version: str) -> None:
    one = Deployment(name, version).checked()
    plain = Deployment(one.label, "1")
    assert EXPORTS["nginx"](one) == EXPORTS["nginx"](plain)


@settings(deadline=None)
@given(text=st.text(max_size=40))
def test_yaml_is_read_as_it_was_meant(text: str) -> None:
    assert yaml.safe_load(f"a:\n- {yaml_scalar(text)}\n- b: {yaml_scalar(text)}\n") == {"a": [text, {"b": text}]}


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
