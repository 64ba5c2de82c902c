"""A systemd service: a separate user, nothing to write but its state, and no right that serving does not need.

Secrets are credentials: root's files, which systemd hands to this service only; the server reads them by `NAME_FILE`.
Other settings are in an environment file.  Values are quoted as systemd reads them, `%` and `$` included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.release.carriers.errors import UnusableValueError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.release.exports.deployment import Deployment

UNIT = """# {label} as a service, written by `mcpc ship systemd`: /etc/systemd/system/{label}.service
#
#   install -D -m 755 server.pyz /opt/{label}/server.pyz
#   install -D -m 600 tokens /etc/{label}/secrets/tokens     # who may call: a line `NAME TOKEN` for each
#   (umask 077; openssl rand -hex 32 >/etc/{label}/secrets/state-keys)
#   systemctl enable --now {label}
#
# It does not start without the two files. `mcpc ship nginx` writes the proxy that it is for.
{comment}
[Unit]
Description={description}
After=network-online.target
Wants=network-online.target

[Service]
Type=exec
ExecStart=/opt/{label}/server.pyz serve --http 127.0.0.1:{port} --path {path} \\
    --allow-host {host} --url https://{host}{path} --trust-proxy 127.0.0.1 --grace 20 \\
    --token-file %d/tokens --state-keys-file %d/state-keys
LoadCredential=tokens:/etc/{label}/secrets/tokens
LoadCredential=state-keys:/etc/{label}/secrets/state-keys
{settings}Restart=on-failure
TimeoutStopSec=35
KillMode=mixed

DynamicUser=yes
StateDirectory={label}
CacheDirectory={label}
WorkingDirectory=%S/{label}
Environment=HOME=%S/{label}
Environment=MCPC_RUNTIME_CACHE=%C/{label}

AmbientCapabilities=
CapabilityBoundingSet=
LockPersonality=yes
MemoryMax=512M
NoNewPrivileges=yes
PrivateDevices=yes
PrivateTmp=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHome={home}
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
ProtectSystem=strict
RemoveIPC=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
SystemCallErrorNumber=EPERM
SystemCallFilter=@system-service
UMask=0077

[Install]
WantedBy=multi-user.target
"""


def systemd(target: Deployment) -> str:
    """Return the unit with a usage comment."""
    lines = [*_settings(target)]
    described = f"{target.label}: {target.summary}" if target.summary else f"{target.label}, an MCP server"
    paths = any(setting.type in ("file", "directory") for setting in target.settings)
    return UNIT.format(
        label=target.label,
        description=unit_text(described),
        port=target.port,
        path=target.path,
        host=target.host,
        settings="".join(f"{line}\n" for line in lines),
        comment="".join(f"{line}\n" for line in _usage(target)),
        home="read-only" if paths else "yes",
    )


def _settings(target: Deployment) -> Iterator[str]:
    """Yield the lines that give settings to the service; an optional secret is a comment, as it may be missing."""
    for setting in target.settings:
        if setting.secret:
            sign = "" if setting.required else "#"
            yield f"{sign}LoadCredential={setting.name}:/etc/{target.label}/secrets/{setting.name}"
            yield f"{sign}Environment={setting.name}_FILE=%d/{setting.name}"
    if any(not setting.secret for setting in target.settings):
        yield f"EnvironmentFile=-/etc/{target.label}/settings.env"


def _usage(target: Deployment) -> Iterator[str]:
    """Yield which settings there are, as comments."""
    for setting in target.settings:
        place = f"/etc/{target.label}/" + (f"secrets/{setting.name}" if setting.secret else "settings.env")
        need = "required" if setting.required else "optional: remove `#` below" if setting.secret else "optional"
        yield f"# {setting.name} ({need}) in {place}: {comment_text(setting.purpose)}"


def unit_text(text: str) -> str:
    """Return a text for a line of a unit: printable, `%` twice, and no backslash, which would continue the line."""
    return comment_text(text).replace("\\", "/").replace("%", "%%")


def comment_text(text: str) -> str:
    """Return a text as one printable line."""
    line = " ".join(text.split())
    if not line.isprintable():
        raise UnusableValueError(f"{text!r} has characters that cannot be in a unit")
    return line.rstrip("\\")[:500]
