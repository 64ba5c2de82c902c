"""Verify the files of an unpacked interpreter beside this one, and give their folder its name: that of its digest.

It is run once by that interpreter. FILES has a line for each file, as `sha256sum` prints it.
"""

import hashlib
import os
import sys

FILES = "files.sha256"
CANNOT_RUN = 8

folder, target = os.path.dirname(os.path.abspath(__file__)), sys.argv[1]  # noqa: PTH100, PTH120 - few modules
with open(os.path.join(folder, FILES), encoding="utf-8") as lines:  # noqa: PTH118, PTH123
    for line in lines:
        digest, _, name = line.rstrip("\n").partition("  ")
        with open(os.path.join(folder, name), "rb") as file:  # noqa: PTH118, PTH123
            if hashlib.sha256(file.read()).hexdigest() != digest:
                sys.stderr.write("%s is damaged\n" % name)
                sys.exit(CANNOT_RUN)
try:
    os.rename(folder, target)  # noqa: PTH104
except OSError:
    if not os.path.isdir(target):  # noqa: PTH112 - else another start was faster
        raise
