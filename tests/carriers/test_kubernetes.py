"""Manifests of `mcpc ship kubernetes` hold against Kubernetes' own schemas, whatever a server is called."""

from typing import Any

import kubernetes_validate
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpc.release.exports import EXPORTS, Deployment

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


@settings(max_examples=20, deadline=None)
@given(name=st.text(max_size=80), version=st.text(max_size=80))
def test_no_name_of_a_server_leaves_its_place(name: str, version: str) -> None:
    for one in objects(Deployment(name, version).checked()):
        kubernetes_validate.validate(one, VERSIONS[-1], strict=True)
