"""Manifests for Kubernetes: replicas that share only keys and, if there are tasks, Valkey.

Nothing runs as root, writes to its image, or has a right that it does not need. Secrets are referenced and never
written: they are environment variables, because a mounted secret belongs to root and is a symbolic link, which a server
refuses.
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


def kubernetes(target: Deployment) -> str:
    """Return the manifests with a usage comment, as one text."""
    parts = MANIFESTS + VALKEY_MANIFESTS if target.valkey else MANIFESTS
    return "---\n".join((usage_comment(target), *(document(part(target)) for part in parts)))


class PlainDumper(yaml.SafeDumper):
    """Writes repeated values in full, without YAML anchors."""

    def ignore_aliases(self, data: object) -> bool:
        """Disable aliases for every value."""
        return True


def document(value: Json) -> str:
    """Return one YAML document."""
    text: str = yaml.dump(value, Dumper=PlainDumper, sort_keys=False, width=120)
    return text


def usage_comment(target: Deployment) -> str:
    """Return how to use the manifests, as a comment."""
    valkey_secret = ' \\\n#     --from-literal=valkey-password="$(openssl rand -hex 24)"' if target.valkey else ""
    return f"""# {target.label} {comment_text(target.version)} on Kubernetes, written by `mcpc export kubernetes`.
#
# The image, with a file that `mcpc build --http{" --redis" if target.valkey else ""}` made:
#     FROM {target.base}
#     COPY server.pyz /server.pyz
#
# The secrets, equal for all replicas: tokens of clients (see `server.pyz serve --help`), and the state keys.
#   kubectl create secret generic {target.label} \\
#     --from-file=tokens=FILE --from-literal=state-keys="$(openssl rand -hex 32)"{valkey_secret}
"""


def comment_text(text: str) -> str:
    """Return a text without line breaks, for a comment."""
    return "".join(character if character.isprintable() else "?" for character in text)


def object_head(target: Deployment, kind: str, version: str, name: str = "", part: str = "server") -> Object:
    """Return the common head of an object."""
    labels: Object = {**selector(target, part), "app.kubernetes.io/version": version_label(target)}
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name or target.label, "labels": labels}}


def selector(target: Deployment, part: str = "server") -> Object:
    """Return the labels that select the pods of a part."""
    return {"app.kubernetes.io/name": target.label, "app.kubernetes.io/component": part}


def version_label(target: Deployment) -> str:
    """Return the version as a valid label value."""
    kept = re.sub(r"[^A-Za-z0-9._-]", "-", target.version)
    return kept[:63].strip("-._") or "unknown"


def account(target: Deployment) -> Object:
    """Return the service account of the pods, which has no access to the cluster's API."""
    return {**object_head(target, "ServiceAccount", "v1"), "automountServiceAccountToken": False}


def secret_variable(target: Deployment, variable: str, key: str) -> Object:
    """Return an environment variable whose value comes from the secret."""
    return {"name": variable, "valueFrom": {"secretKeyRef": {"name": target.label, "key": key}}}


def probe(path: str, seconds: int, failures: int) -> Object:
    """Return a periodic HTTP probe."""
    return {"httpGet": {"path": path, "port": "http"}, "periodSeconds": seconds, "failureThreshold": failures}


def container(target: Deployment) -> Object:
    """Return the container of the server."""
    words: list[Json] = [
        "serve",
        "--http",
        f"0.0.0.0:{target.port}",
        "--path",
        target.path,
        "--allow-host",
        target.host,
    ]
    words += ["--url", f"https://{target.host}{target.path}", "--grace", str(SECONDS_OF_GRACE)]
    variables: list[Json] = [
        secret_variable(target, "MCPC_TOKENS", "tokens"),
        secret_variable(target, "MCPC_STATE_KEYS", "state-keys"),
    ]
    if target.valkey:
        address = f"redis://:$(VALKEY_PASSWORD)@{target.label}-valkey:{VALKEY_PORT}/0"
        variables += [secret_variable(target, "VALKEY_PASSWORD", "valkey-password")]
        variables += [{"name": "MCPC_TASKS", "value": address}, {"name": "MCPC_EVENTS", "value": address}]
    return {
        "name": "server",
        "image": target.image or f"{target.label}:{version_label(target)}",
        "command": ["python3", "/server.pyz"],
        "args": words,
        "env": variables,
        "ports": [{"name": "http", "containerPort": target.port}],
        "startupProbe": probe("/readyz", 1, 30),
        "livenessProbe": probe("/healthz", 10, 3),
        "readinessProbe": probe("/readyz", 2, 2),
        # No more requests arrive by the time the server stops listening.
        "lifecycle": {"preStop": {"exec": {"command": ["sleep", str(SECONDS_TO_DRAIN)]}}},
        "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"memory": "512Mi"}},
        "securityContext": CONTAINER,
        "volumeMounts": [{"name": "scratch", "mountPath": "/tmp"}],
    }


def pod_template(target: Deployment, account_name: str, user: int, containers: Json) -> Object:
    """Return the common part of all pods."""
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


def deployment(target: Deployment) -> Object:
    """Return the replicas."""
    spread: Json = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": selector(target)},
    }
    scratch: Json = {"name": "scratch", "emptyDir": {"sizeLimit": "256Mi"}}
    spec = {
        **pod_template(target, target.label, USER, [container(target)]),
        "volumes": [scratch],
        "topologySpreadConstraints": [spread],
    }
    return {
        **object_head(target, "Deployment", "apps/v1"),
        "spec": {
            "replicas": target.replicas,
            "selector": {"matchLabels": selector(target)},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}},
            "template": {"metadata": {"labels": selector(target)}, "spec": spec},
        },
    }


def service(target: Deployment) -> Object:
    """Return the service of the replicas."""
    ports: Json = [{"name": "http", "port": 80, "targetPort": "http"}]
    return {**object_head(target, "Service", "v1"), "spec": {"selector": selector(target), "ports": ports}}


def ingress(target: Deployment) -> Object:
    """Return the ingress: streams are neither buffered nor cut off."""
    found = object_head(target, "Ingress", "networking.k8s.io/v1")
    prefix = "nginx.ingress.kubernetes.io"
    annotations = {
        f"{prefix}/proxy-buffering": "off",
        f"{prefix}/proxy-read-timeout": "3600",
        f"{prefix}/proxy-body-size": "18m",
    }
    backend: Json = {"service": {"name": target.label, "port": {"name": "http"}}}
    paths: Json = [
        {"path": path, "pathType": kind, "backend": backend}
        for path, kind in ((target.path, "Exact"), ("/.well-known/oauth-protected-resource", "Prefix"))
    ]
    return {
        **found,
        "metadata": {**found["metadata"], "annotations": annotations},  # type: ignore[dict-item]
        "spec": {
            "ingressClassName": "nginx",
            "tls": [{"hosts": [target.host], "secretName": f"{target.label}-tls"}],
            "rules": [{"host": target.host, "http": {"paths": paths}}],
        },
    }


def network_policy(target: Deployment) -> Object:
    """Return the policy for connections to the replicas: any source, but only the serving port."""
    return {
        **object_head(target, "NetworkPolicy", "networking.k8s.io/v1"),
        "spec": {
            "podSelector": {"matchLabels": selector(target)},
            "policyTypes": ["Ingress"],
            "ingress": [{"ports": [{"protocol": "TCP", "port": "http"}]}],
        },
    }


def disruption_budget(target: Deployment) -> Object:
    """Return how many replicas may be unavailable at once."""
    spec: Json = {"maxUnavailable": 1, "selector": {"matchLabels": selector(target)}}
    return {**object_head(target, "PodDisruptionBudget", "policy/v1"), "spec": spec}


def autoscaler(target: Deployment) -> Object:
    """Return when replicas are added."""
    usage: Json = {"type": "Utilization", "averageUtilization": 70}
    return {
        **object_head(target, "HorizontalPodAutoscaler", "autoscaling/v2"),
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": target.label},
            "minReplicas": target.replicas,
            "maxReplicas": max(10, 3 * target.replicas),
            "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": usage}}],
        },
    }


def valkey(target: Deployment) -> Object:
    """Return the Valkey deployment, which stores tasks and sends changes between replicas."""
    name = f"{target.label}-valkey"
    words: Json = ["--requirepass", "$(VALKEY_PASSWORD)", "--appendonly", "yes", "--dir", "/data"]
    check: Json = {"tcpSocket": {"port": "valkey"}, "periodSeconds": 5}
    server: Object = {
        "name": "valkey",
        "image": VALKEY_IMAGE,
        "command": ["valkey-server"],
        "args": words,
        "env": [secret_variable(target, "VALKEY_PASSWORD", "valkey-password")],
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
        **object_head(target, "StatefulSet", "apps/v1", name, "valkey"),
        "spec": {
            "serviceName": name,
            "replicas": 1,
            "selector": {"matchLabels": selector(target, "valkey")},
            "template": {
                "metadata": {"labels": selector(target, "valkey")},
                "spec": pod_template(target, target.label, VALKEY_USER, [server]),
            },
            "volumeClaimTemplates": [claim],
        },
    }


def valkey_service(target: Deployment) -> Object:
    """Return the service of Valkey."""
    ports: Json = [{"name": "valkey", "port": VALKEY_PORT, "targetPort": "valkey"}]
    spec: Json = {"selector": selector(target, "valkey"), "ports": ports}
    return {**object_head(target, "Service", "v1", f"{target.label}-valkey", "valkey"), "spec": spec}


def valkey_policy(target: Deployment) -> Object:
    """Return the policy for Valkey: only the replicas may connect to it, and it connects to no other host."""
    replicas: Json = {"podSelector": {"matchLabels": selector(target)}}
    return {
        **object_head(target, "NetworkPolicy", "networking.k8s.io/v1", f"{target.label}-valkey", "valkey"),
        "spec": {
            "podSelector": {"matchLabels": selector(target, "valkey")},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [{"from": [replicas], "ports": [{"protocol": "TCP", "port": "valkey"}]}],
        },
    }


MANIFESTS = (account, deployment, service, ingress, network_policy, disruption_budget, autoscaler)
VALKEY_MANIFESTS = (valkey, valkey_service, valkey_policy)
"""The objects to write, in this order."""
