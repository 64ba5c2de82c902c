"""A compose file: one service that can neither write nor gain rights; secrets are files, other settings variables.

A value of a setting is a reference to a variable of `.env`; `$` in a default is doubled, as compose reads it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from mcpc.model.ir.settings import variable_text
from mcpc.release.exports.yaml_text import yaml_text

if TYPE_CHECKING:
    from mcpc.release.carriers import DeclaredSetting
    from mcpc.release.exports.deployment import Deployment

USER = "65532:65532"
SERVER_VARIABLES = {
    "MCPC_TOKENS": "${MCPC_TOKENS:?set the tokens of clients in .env}",
    "MCPC_STATE_KEYS": "${MCPC_STATE_KEYS:?set it in .env to the output of openssl rand -hex 32}",
}


def compose(target: Deployment) -> str:
    """Return the compose file with a usage comment."""
    secrets = [setting for setting in target.settings if setting.secret]
    service: dict[str, Any] = {
        "image": target.image or f"{target.label}:{image_tag(target.version)}",
        "command": [
            *("serve", "--http", f"0.0.0.0:{target.port}", "--path", target.path, "--allow-host", target.host),
            *("--url", f"https://{target.host}{target.path}", "--grace", "20"),
        ],
        "environment": {
            **SERVER_VARIABLES,
            **{setting.name: variable(setting) for setting in target.settings if not setting.secret},
            **{f"{setting.name}_FILE": f"/run/secrets/{setting.name}" for setting in secrets},
        },
        "secrets": [setting.name for setting in secrets],
        "ports": [f"127.0.0.1:{target.port}:{target.port}"],
        "user": USER,
        "read_only": True,
        "tmpfs": ["/tmp"],
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges:true"],
        "init": True,
        "restart": "unless-stopped",
        "stop_grace_period": "35s",
        "mem_limit": "512m",
        "pids_limit": 512,
    }
    document: dict[str, Any] = {
        "name": target.label,
        "services": {target.label: {key: value for key, value in service.items() if value != []}},
    }
    if secrets:
        document["secrets"] = {setting.name: {"file": f"./secrets/{setting.name}"} for setting in secrets}
    text = yaml_text(document)
    return usage_comment(target, secrets) + text


def variable(setting: DeclaredSetting) -> str:
    """Return the value of a setting: that of `.env`, else its default; a required one without either is an error."""
    if setting.default is not None:
        default = variable_text(setting.default)
        simple = re.fullmatch(r"[^${}\\]*", default)
        return f"${{{setting.name}:-{default}}}" if simple else default.replace("$", "$$")
    return f"${{{setting.name}:?set it in .env}}" if setting.required else f"${{{setting.name}:-}}"


def image_tag(version: str) -> str:
    """Return a version as the tag of an image."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", version)[:128].strip("-.") or "latest"


def usage_comment(target: Deployment, secrets: list[DeclaredSetting]) -> str:
    """Return how to use the file, as a comment."""
    lines = [
        f"# {target.label} with compose, written by `mcpc ship compose`.",
        "#",
        "# The image: `mcpc ship image --http --base LAYOUT -o image.tar`, then `docker load -i image.tar`.",
        "# Beside this file: `.env` with the variables that it names.",
    ]
    lines += [
        f"# The secret {setting.name} is in ./secrets/{setting.name}; an empty file if not set." for setting in secrets
    ]
    lines += [f"# User {USER.partition(':')[0]} must be able to read the secrets."] if secrets else []
    return "".join(f"{line}\n" for line in lines)
