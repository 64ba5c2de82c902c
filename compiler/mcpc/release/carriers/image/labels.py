"""Labels and annotations of an image: OCI's own, the name in the MCP registry, and Docker's description of a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from mcpc.model.ir.settings import variable_text

if TYPE_CHECKING:
    from mcpc.release.carriers.built_server import BuiltServer, DeclaredSetting

    Item = dict[str, Any]

OCI = "org.opencontainers.image"
REGISTRY_NAME, DOCKER_METADATA = "io.modelcontextprotocol.server.name", "io.docker.server.metadata"


def image_annotations(server: BuiltServer, revision: str = "") -> dict[str, str]:
    """Return the annotations of a manifest; those without a value are left out."""
    values = {
        f"{OCI}.title": server.display,
        f"{OCI}.version": server.version,
        f"{OCI}.description": server.summary,
        f"{OCI}.licenses": server.project.license,
        f"{OCI}.source": server.link("repository"),
        f"{OCI}.url": server.link("homepage"),
        f"{OCI}.documentation": server.link("documentation"),
        f"{OCI}.authors": ", ".join(author.name or author.email for author in server.project.authors),
        f"{OCI}.revision": revision,
        REGISTRY_NAME: server.project.registry.name,
    }
    return {name: value for name, value in sorted(values.items()) if value}


def image_labels(server: BuiltServer, revision: str = "") -> dict[str, str]:
    """Return the labels of a configuration: the annotations, and what Docker's gateway reads."""
    return {**image_annotations(server, revision), DOCKER_METADATA: docker_metadata(server)}


def docker_metadata(server: BuiltServer) -> str:
    """Return Docker's description of a server, as YAML.  Values of settings come from its configuration."""
    secrets = [setting for setting in server.settings if setting.secret]
    others = [setting for setting in server.settings if not setting.secret]
    described: Item = {
        "name": server.slug,
        "title": server.display,
        "description": server.summary,
        "type": "server",
        "image": next(iter(server.project.registry.oci), "").replace("{version}", server.version),
        "tools": [{key: tool[key] for key in ("name", "description") if tool.get(key)} for tool in server.tools],
        "secrets": [{"name": docker_name(server, setting), "env": setting.name} for setting in secrets],
        "env": [{"name": setting.name, "value": f"{{{{{docker_name(server, setting)}}}}}"} for setting in others],
        "config": [docker_config(server, others)] if others else [],
    }
    text: str = yaml.safe_dump(
        {name: value for name, value in described.items() if value}, sort_keys=False, allow_unicode=True, width=1 << 16
    )
    return text


def docker_name(server: BuiltServer, setting: DeclaredSetting) -> str:
    """Return the name of a setting in Docker's configuration."""
    return f"{server.slug}.{setting.name.lower()}"


def docker_config(server: BuiltServer, settings: list[DeclaredSetting]) -> Item:
    """Return the object of settings that are not secret."""
    types = {"integer": "integer", "number": "number", "boolean": "boolean"}
    properties = {}
    for setting in settings:
        described: Item = {"type": types.get(setting.type, "string"), "description": setting.purpose}
        if setting.default is not None:
            described["default"] = setting.default
        if setting.choices:
            described["enum"] = (
                [*map(variable_text, setting.choices)] if setting.type == "string" else [*setting.choices]
            )
        properties[setting.name.lower()] = described
    required = [setting.name.lower() for setting in settings if setting.required]
    return {
        "name": server.slug,
        "description": f"Settings of {server.display}",
        "type": "object",
        "properties": properties,
        **({"required": required} if required else {}),
    }
