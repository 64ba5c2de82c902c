"""A site for nginx in front of replicas: any of them serves any request, so none has to be the same client's again.

A request that a replica has not begun to answer goes to another one only if it was not sent: a call may have happened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpc.exports.deployment import Deployment

SITE = """# {label} behind nginx, written by `mcpc export nginx`: a file for conf.d or sites-enabled.
#
# Each replica is started with the same keys for state, and knows the name that clients use:
#   MCPC_STATE_KEYS_FILE=keys server.pyz serve --http 127.0.0.1:8001 \\
#     --path {path} --allow-host {host} --token-file tokens

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

    location = {path} {{
        proxy_pass http://{label};
        proxy_http_version 1.1;
        proxy_set_header Connection "";
        proxy_set_header Host $host;

        # Streams: what is said is passed on at once, and a silence of an hour ends nothing.
        proxy_buffering off;
        proxy_cache off;
        gzip off;
        proxy_read_timeout 1h;
        proxy_send_timeout 60s;

        # To another replica where this one cannot be reached or takes no more; never what it may have begun.
        proxy_connect_timeout 2s;
        proxy_next_upstream error timeout http_503;
        proxy_next_upstream_tries 3;
    }}

    location /.well-known/oauth-protected-resource {{
        proxy_pass http://{label};
        proxy_http_version 1.1;
        proxy_set_header Connection "";
        proxy_set_header Host $host;
    }}

    location / {{
        return 404;
    }}
}}
"""


def nginx(one: Deployment) -> str:
    """Return the site."""
    servers = "\n".join(f"    server {address} max_fails=1 fail_timeout=2s;" for address in one.upstreams)
    return SITE.format(label=one.label, host=one.host, path=one.path, servers=servers, listen=80)
