"""Load every validator of a built server in a new Python process, and print the cost.

    python3 -I -S cold_validators.py SERVER < VALUES

VALUES: valid arguments of each tool, by its name, as JSON.
"""

import gc
import posix
import sys
import time
import zipimport

gc.disable()
ARCHIVE = sys.argv[1]
sys.path.insert(0, ARCHIVE)
LOADER = zipimport.zipimporter(ARCHIVE)

from mcpc_app.index import INDEX  # noqa: E402

from mcpc_runtime.artifact.image import open_image  # noqa: E402
from mcpc_runtime.protocol.definitions import Validator  # noqa: E402, TC001


def resident() -> int:
    """Return the KiB of memory of this process."""
    descriptor = posix.open("/proc/self/statm", posix.O_RDONLY)
    pages = int(posix.read(descriptor, 100).split()[1])
    posix.close(descriptor)
    return pages * posix.sysconf("SC_PAGE_SIZE") // 1024


def main() -> None:
    """Find, load and run each validator once."""
    import json  # noqa: PLC0415 - after the rest, for it is no part of a server

    values = json.load(sys.stdin)
    image = open_image(ARCHIVE, LOADER, INDEX)
    before = resident()
    began = time.perf_counter()
    tools = [image.tool(name) for name in values]
    found = time.perf_counter()
    validators = [tool.input for tool in tools if tool]
    loaded = time.perf_counter()
    after = resident()
    first = [judged(validator, value) for validator, value in zip(validators, values.values(), strict=True)]
    figures = {
        "find": (found - began) * 1e3,
        "load": (loaded - found) * 1e3,
        "first": sorted(first)[len(first) // 2] * 1e3,
        "slowest_first": max(first) * 1e3,
        "kib": after - before,
    }
    print(json.dumps(figures))


def judged(validator: "Validator | None", value: object) -> float:
    """Return the seconds of the first validation by a validator."""
    began = time.perf_counter()
    answer = validator is None or validator.accepts(value)
    took = time.perf_counter() - began
    if not answer:
        raise ValueError(f"refused {value!r}: {validator.errors(value) if validator else ''}")
    return took


main()
