"""Program that downloads one file of a package with pip's session and settings, and runs nothing of it.

pip has no command for that: `pip download` prepares metadata, which runs the package's code.  The command line: the
requirement, the folder, and options of `pip index`; `--only-index=ADDRESS` asks this registry and no other.  It prints
the name of the file and its address, as JSON.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

ONLY_INDEX = "--only-index="


def main(requirement: str, folder: str, *options: str) -> None:
    """Download the newest file that a requirement and the options allow."""
    from pip._internal.commands import create_command  # noqa: PLC0415
    from pip._vendor.packaging.requirements import Requirement  # noqa: PLC0415

    wanted = Requirement(requirement)
    command: Any = create_command("index")
    only = [option.removeprefix(ONLY_INDEX) for option in options if option.startswith(ONLY_INDEX)]
    others = [option for option in options if not option.startswith(ONLY_INDEX)]
    values, _ = command.parse_args([*others, "versions", wanted.name])
    if only:  # whatever pip's configuration says
        values.index_url, values.extra_index_urls, values.find_links, values.no_index = only[0], [], [], False
    with command.main_context():
        session = command._build_session(values)
        finder = command._build_package_finder(values, session)
        best = finder.find_best_candidate(wanted.name, wanted.specifier).best_candidate
        if best is None:
            sys.exit(f"ERROR: No source distribution or wheel of {requirement}")
        reply = session.get(best.link.url_without_fragment, headers={"Accept-Encoding": "identity"})
        reply.raise_for_status()
        data = reply.content
    if best.link.hash_name and hashlib.new(best.link.hash_name, data).hexdigest() != best.link.hash:
        sys.exit(f"ERROR: {best.link.filename} is not what the registry says: its digest differs")
    Path(folder, best.link.filename).write_bytes(data)
    sys.stdout.write(json.dumps([best.link.filename, best.link.url_without_fragment]))


if __name__ == "__main__":
    main(*sys.argv[1:])
