"""An nginx site in front of replicas: any replica serves any request, so that sessions need no affinity.

A request is retried on another replica only if it was not sent: a call may have had effects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpc.release.exports.deployment import Deployment

SITE = """# {label} behind nginx, written by `mcpc ship nginx`: a file for conf.d or sites-enabled.
#
# Start each replica with the same state keys and the host name that clients use:
#   server.pyz serve --http 127.0.0.1:8001 --path {path} --allow-host {host} \\
#     --trust-proxy 127.0.0.1 --token-file tokens --state-keys-file keys
#
# To replace a replica, stop it, start it again, and wait for its /readyz before the next one.

upstream {label} {{
    least_conn;
{servers}
    keepalive 64;
}}

server {{
    # With certificates: listen 443 ssl; ssl_certificate ...; ssl_certificate_key ...;
    listen {listen};
    server_name {host};
    server_tokens off;

    client_max_body_size 18m;
    client_header_timeout 10s;
    client_body_timeout 30s;
    large_client_header_buffers 4 16k;

    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_set_header Host $host;
    proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    proxy_set_header X-Forwarded-Proto $scheme;

    location = {path} {{
        proxy_pass http://{label};

        # Streams: do not buffer events, and keep idle streams open for an hour.
        proxy_buffering off;
        proxy_cache off;
        gzip off;
        proxy_read_timeout 1h;
        proxy_send_timeout 60s;

        # Try another replica if this one is unreachable or overloaded; never repeat a request that it may have started.
        proxy_connect_timeout 2s;
        proxy_next_upstream error timeout http_503;
        proxy_next_upstream_tries 3;
    }}

    # What says where the server is, and who gives tokens for it.
    location = {path}/server-card {{
        proxy_pass http://{label};
    }}

    location /.well-known/ {{
        proxy_pass http://{label};
    }}

    location / {{
        return 404;
    }}
}}
"""


def nginx(deployment: Deployment) -> str:
    """Return the site configuration."""
    servers = "\n".join(f"    server {address} max_fails=0;" for address in deployment.upstreams)
    return SITE.format(label=deployment.label, host=deployment.host, path=deployment.path, servers=servers, listen=80)
