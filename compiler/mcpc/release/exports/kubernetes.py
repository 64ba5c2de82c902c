"""Manifests for Kubernetes: replicas that share only keys and, if there are tasks, Valkey.

Nothing runs as root, writes to its image, or has a right that it does not need. Secrets are referenced and never
written: they are environment variables, because a mounted secret belongs to root and is a symbolic link, which a server
refuses. The objects are in `templates/kubernetes.yaml.j2`.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import yaml

from mcpc.emit.templates import render
from mcpc.model.ir.settings import variable_text

if TYPE_CHECKING:
    from mcpc.reading import Json
    from mcpc.release.carriers import DeclaredSetting
    from mcpc.release.exports.deployment import Deployment


def kubernetes(target: Deployment) -> str:
    """Return the manifests with a usage comment, as one text."""
    version = re.sub(r"[^A-Za-z0-9._-]", "-", target.version)[:63].strip("-._") or "unknown"
    selector = {"app.kubernetes.io/name": target.label, "app.kubernetes.io/component": "server"}
    valkey_selector = {**selector, "app.kubernetes.io/component": "valkey"}
    text = render(
        "kubernetes.yaml.j2",
        json.dumps,
        label=target.label,
        selector=selector,
        labels={**selector, "app.kubernetes.io/version": version},
        image=target.image or f"{target.label}:{version}",
        host=target.host,
        path=target.path,
        port=target.port,
        replicas=target.replicas,
        max_replicas=max(10, 3 * target.replicas),
        configured=[configured_variable(target, setting) for setting in target.settings],
        config=target.label + CONFIG_SUFFIX,
        config_data={setting.name: default_text(setting) for setting in target.settings if not setting.secret},
        with_valkey=target.valkey,
        valkey_label=f"{target.label}-valkey",
        valkey_selector=valkey_selector,
        valkey_labels={**valkey_selector, "app.kubernetes.io/version": version},
        valkey_address=f"redis://:$(VALKEY_PASSWORD)@{target.label}-valkey:6379/0",
    )
    return "---\n".join((usage_comment(target), *map(document, yaml.safe_load_all(text))))


CONFIG_SUFFIX = "-settings"


def configured_variable(target: Deployment, setting: DeclaredSetting) -> Json:
    """Return the variable of a setting: a key of the secret, or of the configuration."""
    if setting.secret:
        key: Json = {"name": target.label, "key": setting.name, "optional": not setting.required}
        return {"name": setting.name, "valueFrom": {"secretKeyRef": key}}
    key = {"name": target.label + CONFIG_SUFFIX, "key": setting.name}
    return {"name": setting.name, "valueFrom": {"configMapKeyRef": key}}


def default_text(setting: DeclaredSetting) -> str:
    """Return what a setting is at first; a server takes an empty text as not set."""
    return "" if setting.default is None else variable_text(setting.default)


def document(value: Json) -> str:
    """Return one YAML document."""
    text: str = yaml.safe_dump(value, sort_keys=False, width=120)
    return text


def usage_comment(target: Deployment) -> str:
    """Return how to use the manifests, as a comment."""
    version = "".join(character if character.isprintable() else "?" for character in target.version)
    secrets = "".join(f" \\\n#     --from-file={each.name}=FILE" for each in target.settings if each.secret)
    valkey_secret = ' \\\n#     --from-literal=valkey-password="$(openssl rand -hex 24)"' if target.valkey else ""
    return f"""# {target.label} {version} on Kubernetes, written by `mcpc ship kubernetes`.
#
# The image, with a file that `mcpc build --http{" --redis" if target.valkey else ""}` made:
#     FROM {target.base}
#     COPY server.pyz /server.pyz
#
# The secrets, equal for all replicas: tokens of clients, a line `NAME TOKEN` each, and the state keys.
#   kubectl create secret generic {target.label} \\
#     --from-file=tokens=FILE --from-literal=state-keys="$(openssl rand -hex 32)"{valkey_secret}{secrets}
"""
