"""Where the first line of a server, and `python3 server.pyz`, begin.

This file is read by any Python there is: what is too old is told so, in words.  In the bytecode beside it BUNDLE holds
the modules of the start path, so that they need not be looked up one by one.
"""
import sys

if sys.version_info < (3, 11):
    sys.stderr.write(
        "this server needs Python 3.11 or newer; %s is Python %d.%d\n"
        % ((sys.executable or "this",) + tuple(sys.version_info[:2]))
    )
    sys.exit(8)

ARCHIVE = __file__[: -len(__file__.replace("\\", "/").rpartition("/")[2]) - 1]
BUNDLE = "BUNDLE"

if type(BUNDLE) is tuple:
    for name, is_package, code in BUNDLE:
        module = sys.modules[name] = type(sys)(name)
        module.__loader__ = __loader__
        module.__file__ = ARCHIVE + "/" + name.replace(".", "/") + ("/__init__.py" if is_package else ".py")
        module.__package__ = name if is_package else name.rpartition(".")[0]
        if is_package:
            module.__path__ = [ARCHIVE + "/" + name.replace(".", "/")]
        exec(code, module.__dict__)

from mcpc_app.index import INDEX  # noqa: E402
from mcpc_runtime.main import main  # noqa: E402

main(ARCHIVE, sys.argv[2:] if sys.argv[0] == "-c" else sys.argv[1:], __loader__, INDEX)
