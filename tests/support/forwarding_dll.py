"""A library for Windows that only forwards calls to other libraries: what this version of Wine does not have.

Wine 8 has no `bcryptprimitives.dll`, from which native packages written in Rust take random bytes.
"""

import struct
from pathlib import Path

MISSING_IN_WINE = {"bcryptprimitives.dll": {"ProcessPrng": "advapi32.SystemFunction036"}}
"""Libraries and their functions, each with the function that answers in its place."""
SECTION = 0x1000
FILE_ALIGNMENT = 0x200
AMD64, DLL_FOR_64_BITS, PE32_PLUS = 0x8664, 0x2022, 0x20B
READABLE_DATA = 0x40000040


def forwarding_dll(name: str, functions: dict[str, str]) -> bytes:
    """Return a library with these functions: one section, which is the table of its exports."""
    exports = export_table(name, functions)
    size = -(-len(exports) // FILE_ALIGNMENT) * FILE_ALIGNMENT
    stub = b"MZ".ljust(0x3C, b"\0") + struct.pack("<I", 0x40)
    coff = b"PE\0\0" + struct.pack("<HHIIIHH", AMD64, 1, 0, 0, 0, 0xF0, DLL_FOR_64_BITS)
    optional = struct.pack("<HBBIIIII", PE32_PLUS, 14, 0, 0, size, 0, 0, SECTION)
    optional += struct.pack("<QIIHHHHHHI", 0x180000000, SECTION, FILE_ALIGNMENT, 6, 0, 0, 0, 6, 0, 0)
    optional += struct.pack(
        "<IIIHHQQQQII", 2 * SECTION, FILE_ALIGNMENT, 0, 2, 0x140, 1 << 20, 4096, 1 << 20, 4096, 0, 16
    )
    optional += struct.pack("<II", SECTION, len(exports)) + bytes(8 * 15)
    section = struct.pack(
        "<8sIIIIIIHHI", b".edata", len(exports), SECTION, size, FILE_ALIGNMENT, 0, 0, 0, 0, READABLE_DATA
    )
    return (stub + coff + optional + section).ljust(FILE_ALIGNMENT, b"\0") + exports.ljust(size, b"\0")


def export_table(name: str, functions: dict[str, str]) -> bytes:
    """Return the directory of exports: an address within it stands for a forwarded function's name."""
    names = sorted(functions)
    count = len(names)
    addresses = SECTION + 40
    texts = addresses + 10 * count
    places: dict[str, int] = {}
    data = b""
    for text in (name, *names, *functions.values()):
        places[text] = texts + len(data)
        data += text.encode() + b"\0"
    head = (0, 0, 0, 0, places[name], 1, count, count, addresses, addresses + 4 * count, addresses + 8 * count)
    directory = struct.pack("<IIHHIIIIIII", *head)
    tables = struct.pack(f"<{count}I", *(places[functions[each]] for each in names))
    tables += struct.pack(f"<{count}I", *(places[each] for each in names)) + struct.pack(f"<{count}H", *range(count))
    return directory + tables + data


def add_missing_libraries(folder: Path) -> None:
    """Write the libraries beside a program."""
    for name, functions in MISSING_IN_WINE.items():
        (folder / name).write_bytes(forwarding_dll(name, functions))
