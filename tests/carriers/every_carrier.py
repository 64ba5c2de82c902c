"""Make every carrier of one built file, and print their digests: run by other Pythons, in other environments."""

import hashlib
import json
import sys
from pathlib import Path

from mcpc.cli.carrier_files import read_built_server
from mcpc.cli.ship import deployment_of
from mcpc.release.carriers.built_server import archive_bytes
from mcpc.release.carriers.bundle import bundle_archive
from mcpc.release.carriers.image import ImageOptions, image_layout, layout_archive, read_base
from mcpc.release.carriers.plugin import FORMS, plugin_files
from mcpc.release.carriers.registry import Publication, registry_file
from mcpc.release.exports import EXPORTS

CHOSEN = {"url": "https://github.com/example/weather/releases/download/v1.4.0/server.pyz"}


def every_carrier(artifact: Path, base: Path) -> dict[str, bytes]:
    server = read_built_server(artifact)
    url = "https://github.com/example/weather/releases/download/v1.4.0/weather.mcpb"
    made = {f"bundle {version}": bundle_archive(server, version) for version in ("0.3", "0.4")}
    made["plugin"] = archive_bytes(plugin_files(server, "", tuple(FORMS)))
    made["image"] = layout_archive(image_layout((server,), ImageOptions(read_base(base), port=8000)))
    made["layer"] = layout_archive(image_layout((server,), ImageOptions()))
    made["registry"] = registry_file(server, Publication("io.github.example/weather", ((url, "0" * 64),))).encode()
    for kind, export in EXPORTS.items():
        made[kind] = export(deployment_of(server, kind, CHOSEN)).encode()
    return made


if __name__ == "__main__":
    found = every_carrier(*map(Path, sys.argv[1:]))
    sys.stdout.write(json.dumps({name: hashlib.sha256(data).hexdigest() for name, data in found.items()}))
