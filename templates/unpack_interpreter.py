"""Complete the interpreter that a launcher began to unpack: write its other files, and verify all of them.

It is run by that interpreter, which has its standard library and no extension modules yet, with the program's file `f`
at the table behind this script. A line has a file's name, its place and length in the program, how it is stored, and
its digest.
"""

import hashlib
import sys
import zlib

CANNOT_RUN = 8


def refuse(problem):
    """Write one line and end: the launcher removes what was written."""
    sys.stderr.write("cannot unpack Python: %s\n" % problem)
    sys.exit(CANNOT_RUN)


def unpack(program, folder):
    """Write and verify the files of the table."""
    rows = [line.decode().rstrip("\n").split("\t") for line in iter(program.readline, b"\n")]
    for name, place, length, method, digest in rows:
        path = folder + "\\" + name
        if method == "deflated":
            program.seek(int(place))
            data = zlib.decompress(program.read(int(length)))
            with open(path, "xb") as file:  # noqa: PTH123 - few modules
                file.write(data)
        else:
            with open(path, "rb") as file:  # noqa: PTH123
                data = file.read()
        if hashlib.sha256(data).hexdigest() != digest:
            refuse("%s is damaged: copy or download %s again" % (name, sys.argv[1]))


try:
    unpack(globals()["f"], sys.argv[2])
except zlib.error:
    refuse("%s is damaged: copy or download it again" % sys.argv[1])
except OSError as problem:
    refuse("%s: %s" % (problem.filename or sys.argv[2], problem.strerror))
