"""`mcpc export`: manifests hold against Kubernetes' own schemas, the site against nginx itself, names against both."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import kubernetes_validate
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from artifact import build, mcpc
from mcpc.exports import EXPORTS, Deployment, UnfitError
from mcpc.exports.kubernetes import document
from needs import needs
from talking import write_project

if TYPE_CHECKING:
    from pathlib import Path

PLAIN = Deployment("demo", "1.0.0", host="mcp.example.org", image="registry.example.org/demo:1")
VERSIONS = ("1.30", "1.34")
"""Of Kubernetes: an old one that is still met, and a newer one."""


def objects(one: Deployment) -> list[dict[str, Any]]:
    return [found for found in yaml.safe_load_all(EXPORTS["kubernetes"](one)) if found]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("valkey", [False, True])
def test_manifests_hold_against_the_schemas_of_kubernetes(version: str, valkey: bool) -> None:
    found = objects(Deployment("My Server!", "1.0 (beta)", valkey=valkey))
    assert len(found) == (10 if valkey else 7)
    for one in found:
        kubernetes_validate.validate(one, version, strict=True)


def test_the_schemas_would_find_a_mistake() -> None:
    one = next(found for found in objects(PLAIN) if found["kind"] == "Deployment")
    one["spec"]["template"]["spec"]["containers"][0]["ports"][0]["containerPort"] = "eight thousand"
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(one, VERSIONS[0], strict=True)


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
    """Ask nginx what it thinks of a site."""
    (folder / "site.conf").write_text(site)
    main = folder / "nginx.conf"
    main.write_text(
        f"pid {folder}/pid;\nerror_log stderr;\nevents {{}}\nhttp {{ access_log off; include {folder}/site.conf; }}\n"
    )
    program = shutil.which("nginx") or "nginx"
    argv = [program, "-t", "-c", str(main), "-p", str(folder)]
    return subprocess.run(argv, capture_output=True, text=True, timeout=20, check=False)


def test_replicas_are_named_in_the_site() -> None:
    site = EXPORTS["nginx"](Deployment("demo", "1", upstreams=("10.0.0.1:80", "[::1]:81", "backend.internal:82")))
    for address in ("10.0.0.1:80", "[::1]:81", "backend.internal:82"):
        assert f"    server {address} max_fails" in site


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
    with pytest.raises(UnfitError):
        Deployment("demo", "1", **values).checked()


@settings(max_examples=20, deadline=None)
@given(name=st.text(max_size=80), version=st.text(max_size=80))
def test_no_name_of_a_server_leaves_its_place(name: str, version: str) -> None:
    one = Deployment(name, version).checked()
    for found in objects(one):
        kubernetes_validate.validate(found, VERSIONS[-1], strict=True)
    plain = Deployment(one.label, "1")
    assert EXPORTS["nginx"](one) == EXPORTS["nginx"](plain)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)


@settings(deadline=None)
@given(value=JSON)
def test_yaml_is_read_as_it_was_meant(value: object) -> None:
    assert yaml.safe_load(document(value)) == value  # type: ignore[arg-type]


def test_the_command_writes_what_it_was_asked_for(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project")
    environment = {"MCPC_CACHE_DIR": str(tmp_path / "cache"), "PATH": os.environ["PATH"]}
    done = mcpc("export", "kubernetes", project, "--host", "mcp.example.org", "--valkey", environment=environment)
    assert done.returncode == 0, done.stderr
    kinds = [one["kind"] for one in yaml.safe_load_all(done.stdout) if one]
    assert {"Deployment", "Service", "NetworkPolicy", "PodDisruptionBudget", "HorizontalPodAutoscaler"} <= set(kinds)
    artifact = build(project, tmp_path / "plain.pyz")
    refused = mcpc("export", "nginx", artifact, environment=environment)
    assert refused.returncode == 2
    assert "--http" in refused.stderr
    wrong = mcpc("export", "nginx", project, "--host", "a;b", environment=environment)
    assert wrong.returncode == 2
    assert "mcp.example.com" in wrong.stderr
