"""Program that gets files of a lock with pip's session and settings, and runs nothing of them.

The command line: the folder to write to, and options of `pip index`.  Standard input: JSON with `files` (each a name of
a package, the name of its file, and its address or an empty text), `links` (pages that are searched first), and
`offline`, which leaves out addresses and registries.  It prints the reasons for which files were not found, as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def main(folder: str, *options: str) -> None:
    """Get the files; whether they are the right ones is decided by who asked."""
    from pip._internal.cli.cmdoptions import make_target_python  # noqa: PLC0415
    from pip._internal.commands import create_command  # noqa: PLC0415

    asked = json.load(sys.stdin)
    command: Any = create_command("index")
    values, _ = command.parse_args([*options, "versions", "x"])
    target = make_target_python(values)
    reasons: dict[str, str] = {}
    with command.main_context():
        session = command._build_session(values)
        configured = list(values.find_links)
        values.find_links, values.no_index = asked["links"], True
        linked = command._build_package_finder(values, session, target, True)
        values.find_links, values.no_index = configured, "--no-index" in options
        indexed = command._build_package_finder(values, session, target, True)
        for name, file, address in asked["files"]:
            finders = [linked] if asked["offline"] else [linked, address, indexed]
            data, reasons[file] = _get(session, finders, name, file)
            if data is not None:
                Path(folder, file).write_bytes(data)
                del reasons[file]
    sys.stdout.write(json.dumps(reasons))


def _get(session: Any, finders: list[Any], name: str, file: str) -> tuple[bytes | None, str]:
    """Return the first answer of these places, an address or what finds one; None with the last reason."""
    reason = "no folder, page or registry has it"
    for place in filter(None, finders):
        try:
            address = place if isinstance(place, str) else _address(place, name, file)
            if address:
                reply = session.get(address, headers={"Accept-Encoding": "identity"})
                reply.raise_for_status()
                return reply.content, ""
        except OSError as problem:  # what requests raises is one, too
            reason = type(problem).__name__
    return None, reason


def _address(finder: Any, name: str, file: str) -> str:
    """Return the address of the file of this name, an empty text if there is none."""
    links = (candidate.link for candidate in finder.find_all_candidates(name))
    return next((link.url_without_fragment for link in links if link.filename == file), "")


if __name__ == "__main__":
    main(*sys.argv[1:])
