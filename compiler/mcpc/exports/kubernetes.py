"""Manifests for Kubernetes: replicas that share nothing but keys and, if there are tasks, Valkey.

Nothing runs as root, writes to its image, or holds a right it does not need.  Secrets are named and never written: they
reach a server as variables, because a mounted secret belongs to root and is a symbolic link, which a server refuses.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from mcpc.exports.deployment import Deployment
    from mcpc.sources import Json

    Object = dict[str, Json]

USER = 10001
VALKEY_USER = 999
VALKEY_IMAGE = "valkey/valkey:8-alpine"
VALKEY_PORT = 6379
SECONDS_TO_DRAIN, SECONDS_OF_GRACE = 5, 20
CONTAINER: Object = {
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
}


def kubernetes(one: Deployment) -> str:
    """Return the manifests, and how they are used, as one text."""
    parts = PARTS + VALKEY_PARTS if one.valkey else PARTS
    return "---\n".join((head(one), *(document(part(one)) for part in parts)))


class Plain(yaml.SafeDumper):
    """Writes what stands twice twice: people do not read anchors."""

    def ignore_aliases(self, data: object) -> bool:
        """Take nothing for a repetition."""
        return True


def document(value: Json) -> str:
    """Return one document."""
    text: str = yaml.dump(value, Dumper=Plain, sort_keys=False, width=120)
    return text


def head(one: Deployment) -> str:
    """Return how to use it, as a comment."""
    valkey_secret = ' \\\n#     --from-literal=valkey-password="$(openssl rand -hex 24)"' if one.valkey else ""
    return f"""# {one.label} {plain(one.version)} on Kubernetes, written by `mcpc export kubernetes`.
#
# The image, with a file that `mcpc build --http{" --redis" if one.valkey else ""}` made:
#     FROM {one.base}
#     COPY server.pyz /server.pyz
#
# The secrets, which every replica has: who may call (see `server.pyz serve --help`), and what signs state.
#   kubectl create secret generic {one.label} \\
#     --from-file=tokens=FILE --from-literal=state-keys="$(openssl rand -hex 32)"{valkey_secret}
"""


def plain(text: str) -> str:
    """Return a text that ends no comment."""
    return "".join(character if character.isprintable() else "?" for character in text)


def named(one: Deployment, kind: str, version: str, name: str = "", part: str = "server") -> Object:
    """Return the beginning of an object."""
    labels: Object = {**selector(one, part), "app.kubernetes.io/version": version_label(one)}
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name or one.label, "labels": labels}}


def selector(one: Deployment, part: str = "server") -> Object:
    """Return the labels by which the pods of a part are found."""
    return {"app.kubernetes.io/name": one.label, "app.kubernetes.io/component": part}


def version_label(one: Deployment) -> str:
    """Return the version as a label's value can have it."""
    kept = re.sub(r"[^A-Za-z0-9._-]", "-", one.version)
    return kept[:63].strip("-._") or "unknown"


def account(one: Deployment) -> Object:
    """Return whose name the pods run in: nobody who may ask the cluster anything."""
    return {**named(one, "ServiceAccount", "v1"), "automountServiceAccountToken": False}


def secret(one: Deployment, variable: str, key: str) -> Object:
    """Return a variable whose value is in the secret."""
    return {"name": variable, "valueFrom": {"secretKeyRef": {"name": one.label, "key": key}}}


def probe(path: str, seconds: int, failures: int) -> Object:
    """Return a question that is asked again and again."""
    return {"httpGet": {"path": path, "port": "http"}, "periodSeconds": seconds, "failureThreshold": failures}


def container(one: Deployment) -> Object:
    """Return the container of the server."""
    words: list[Json] = ["serve", "--http", f"0.0.0.0:{one.port}", "--path", one.path, "--allow-host", one.host]
    words += ["--url", f"https://{one.host}{one.path}", "--grace", str(SECONDS_OF_GRACE)]
    variables: list[Json] = [secret(one, "MCPC_TOKENS", "tokens"), secret(one, "MCPC_STATE_KEYS", "state-keys")]
    if one.valkey:
        address = f"redis://:$(VALKEY_PASSWORD)@{one.label}-valkey:{VALKEY_PORT}/0"
        variables += [secret(one, "VALKEY_PASSWORD", "valkey-password")]
        variables += [{"name": "MCPC_TASKS", "value": address}, {"name": "MCPC_EVENTS", "value": address}]
    return {
        "name": "server",
        "image": one.image or f"{one.label}:{version_label(one)}",
        "command": ["python3", "/server.pyz"],
        "args": words,
        "env": variables,
        "ports": [{"name": "http", "containerPort": one.port}],
        "startupProbe": probe("/readyz", 1, 30),
        "livenessProbe": probe("/healthz", 10, 3),
        "readinessProbe": probe("/readyz", 2, 2),
        # So that nobody is sent here any more when the server stops to listen.
        "lifecycle": {"preStop": {"exec": {"command": ["sleep", str(SECONDS_TO_DRAIN)]}}},
        "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"memory": "512Mi"}},
        "securityContext": CONTAINER,
        "volumeMounts": [{"name": "scratch", "mountPath": "/tmp"}],
    }


def pod(one: Deployment, account_name: str, user: int, containers: Json) -> Object:
    """Return what every pod has."""
    return {
        "serviceAccountName": account_name,
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": SECONDS_TO_DRAIN + SECONDS_OF_GRACE + 10,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": user,
            "runAsGroup": user,
            "fsGroup": user,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": containers,
    }


def deployment(one: Deployment) -> Object:
    """Return the replicas."""
    spread: Json = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": selector(one)},
    }
    scratch: Json = {"name": "scratch", "emptyDir": {"sizeLimit": "256Mi"}}
    spec = {**pod(one, one.label, USER, [container(one)]), "volumes": [scratch], "topologySpreadConstraints": [spread]}
    return {
        **named(one, "Deployment", "apps/v1"),
        "spec": {
            "replicas": one.replicas,
            "selector": {"matchLabels": selector(one)},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}},
            "template": {"metadata": {"labels": selector(one)}, "spec": spec},
        },
    }


def service(one: Deployment) -> Object:
    """Return the name under which the replicas are found."""
    ports: Json = [{"name": "http", "port": 80, "targetPort": "http"}]
    return {**named(one, "Service", "v1"), "spec": {"selector": selector(one), "ports": ports}}


def ingress(one: Deployment) -> Object:
    """Return the way in: streams are neither held back nor cut off."""
    found = named(one, "Ingress", "networking.k8s.io/v1")
    prefix = "nginx.ingress.kubernetes.io"
    annotations = {
        f"{prefix}/proxy-buffering": "off",
        f"{prefix}/proxy-read-timeout": "3600",
        f"{prefix}/proxy-body-size": "18m",
    }
    backend: Json = {"service": {"name": one.label, "port": {"name": "http"}}}
    paths: Json = [
        {"path": path, "pathType": kind, "backend": backend}
        for path, kind in ((one.path, "Exact"), ("/.well-known/oauth-protected-resource", "Prefix"))
    ]
    return {
        **found,
        "metadata": {**found["metadata"], "annotations": annotations},  # type: ignore[dict-item]
        "spec": {
            "ingressClassName": "nginx",
            "tls": [{"hosts": [one.host], "secretName": f"{one.label}-tls"}],
            "rules": [{"host": one.host, "http": {"paths": paths}}],
        },
    }


def network_policy(one: Deployment) -> Object:
    """Return who may connect to the replicas: anybody, to the one port that they serve at."""
    return {
        **named(one, "NetworkPolicy", "networking.k8s.io/v1"),
        "spec": {
            "podSelector": {"matchLabels": selector(one)},
            "policyTypes": ["Ingress"],
            "ingress": [{"ports": [{"protocol": "TCP", "port": "http"}]}],
        },
    }


def disruption_budget(one: Deployment) -> Object:
    """Return how many replicas may be taken away at once."""
    spec: Json = {"maxUnavailable": 1, "selector": {"matchLabels": selector(one)}}
    return {**named(one, "PodDisruptionBudget", "policy/v1"), "spec": spec}


def autoscaler(one: Deployment) -> Object:
    """Return when there are to be more replicas."""
    usage: Json = {"type": "Utilization", "averageUtilization": 70}
    return {
        **named(one, "HorizontalPodAutoscaler", "autoscaling/v2"),
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": one.label},
            "minReplicas": one.replicas,
            "maxReplicas": max(10, 3 * one.replicas),
            "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": usage}}],
        },
    }


def valkey(one: Deployment) -> Object:
    """Return where tasks are kept, and what carries changes from one replica to the others."""
    name = f"{one.label}-valkey"
    words: Json = ["--requirepass", "$(VALKEY_PASSWORD)", "--appendonly", "yes", "--dir", "/data"]
    check: Json = {"tcpSocket": {"port": "valkey"}, "periodSeconds": 5}
    server: Object = {
        "name": "valkey",
        "image": VALKEY_IMAGE,
        "command": ["valkey-server"],
        "args": words,
        "env": [secret(one, "VALKEY_PASSWORD", "valkey-password")],
        "ports": [{"name": "valkey", "containerPort": VALKEY_PORT}],
        "readinessProbe": check,
        "livenessProbe": check,
        "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"memory": "512Mi"}},
        "securityContext": CONTAINER,
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    }
    claim: Json = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    return {
        **named(one, "StatefulSet", "apps/v1", name, "valkey"),
        "spec": {
            "serviceName": name,
            "replicas": 1,
            "selector": {"matchLabels": selector(one, "valkey")},
            "template": {
                "metadata": {"labels": selector(one, "valkey")},
                "spec": pod(one, one.label, VALKEY_USER, [server]),
            },
            "volumeClaimTemplates": [claim],
        },
    }


def valkey_service(one: Deployment) -> Object:
    """Return the name under which it is found."""
    ports: Json = [{"name": "valkey", "port": VALKEY_PORT, "targetPort": "valkey"}]
    spec: Json = {"selector": selector(one, "valkey"), "ports": ports}
    return {**named(one, "Service", "v1", f"{one.label}-valkey", "valkey"), "spec": spec}


def valkey_policy(one: Deployment) -> Object:
    """Return who may connect to it: the replicas, and nobody else; it connects to nobody."""
    replicas: Json = {"podSelector": {"matchLabels": selector(one)}}
    return {
        **named(one, "NetworkPolicy", "networking.k8s.io/v1", f"{one.label}-valkey", "valkey"),
        "spec": {
            "podSelector": {"matchLabels": selector(one, "valkey")},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [{"from": [replicas], "ports": [{"protocol": "TCP", "port": "valkey"}]}],
        },
    }


PARTS = (account, deployment, service, ingress, network_policy, disruption_budget, autoscaler)
VALKEY_PARTS = (valkey, valkey_service, valkey_policy)
"""What is written, in this order."""
