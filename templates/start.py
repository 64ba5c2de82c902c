"""How a server starts: imports the modules of its start path, and runs it.

The bytecode of this file is that of `__main__`, by which Python runs an archive.  In it BUNDLE holds the modules of the
start path, so that they need not be looked up one by one.
"""

import gc
import sys

# Nothing made up to the first answer is garbage: looking for some would cost half a millisecond.
gc.disable()

import zipimport  # noqa: E402

if sys.platform == "win32":  # a module that is missing would be looked for in every folder
    import nt as posix
else:
    import posix

BUNDLE = "BUNDLE"
BY_FIRST_LINE = "z" in globals()
LOADER = globals()["z"] if BY_FIRST_LINE else __loader__
FILE = ARCHIVE = LOADER.archive
NULL = "/dev/null" if posix.__name__ == "posix" else "NUL"
globals().pop("b", None)  # what the first line read to start this
WORDS = sys.argv[2 if BY_FIRST_LINE else 1 :]

# An empty file is put where a standard stream is missing, so that no file of ours gets its number.
for number in (0, 1, 2):
    try:
        posix.fstat(number)
    except OSError:
        posix.open(NULL, posix.O_RDWR)  # takes the lowest number that is free, which is this one


# The file is opened once: whatever takes its name later, this server goes on as it began.
try:
    place = "/proc/%d/fd/%d" % (posix.getpid(), posix.open(FILE, posix.O_RDONLY | posix.O_CLOEXEC))
    posix.stat(place)
    # The archive's directory as the importer keeps it, with each entry where `place` says it is.
    zipimport._zip_directory_cache[place] = {
        name: (place + row[0][len(FILE) :], *row[1:]) if row else row
        for name, row in zipimport._zip_directory_cache[FILE].items()
    }
    LOADER, ARCHIVE = zipimport.zipimporter(place), place
except (OSError, AttributeError, KeyError):
    pass
if BY_FIRST_LINE:
    sys.path.insert(0, ARCHIVE)
elif FILE in sys.path:
    sys.path[sys.path.index(FILE)] = ARCHIVE
if type(BUNDLE) is tuple:
    for name, is_package, code in BUNDLE:
        module = sys.modules[name] = type(sys)(name)
        module.__loader__ = LOADER
        module.__file__ = ARCHIVE + "/" + name.replace(".", "/") + ("/__init__.py" if is_package else ".py")
        module.__package__ = name if is_package else name.rpartition(".")[0]
        if is_package:
            module.__path__ = [ARCHIVE + "/" + name.replace(".", "/")]
        exec(code, module.__dict__)

from mcpc_app.index import INDEX  # noqa: E402
from mcpc_runtime.main import main  # noqa: E402

main(FILE, WORDS, LOADER, INDEX)
