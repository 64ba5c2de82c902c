"""Run at the start of Python processes of handlers: what their parent can import, they can, too.

The sitecustomize of the system or of an environment, which this one hides, is run afterwards.
"""

import os
import sys

PLACE = __file__.rpartition(os.sep)[0]
ARCHIVE = __file__.rsplit(os.sep, 3)[0]


def is_child(executable):
    """Tell whether this process was started as the Python of its parent, and not by a program that uses Python."""
    started = getattr(sys, "orig_argv", [""])[0]
    return executable in (started, sys.executable if os.name == "nt" else started)


def mount_server():
    """Mount the server's file; without it the process runs as any other."""
    executable, *facts = os.environ.get("MCPC_CHILDREN", "").split("\n")
    index = sys.path.index(PLACE) if PLACE in sys.path else 0
    sys.path[:] = [path for path in sys.path if path != PLACE]
    if not facts or not is_child(executable):
        return
    sys.path.append(ARCHIVE)
    try:
        from mcpc_runtime.handlers.python.children import mount  # noqa: PLC0415 - only where it is there
    finally:
        sys.path.remove(ARCHIVE)
    mount(ARCHIVE, index, *facts)


def run_hidden():
    """Run the sitecustomize that comes next on the path."""
    ours = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401, PLC0415 - another one
    except ImportError as problem:
        if ours is not None:
            sys.modules["sitecustomize"] = ours
        if problem.name != "sitecustomize":
            raise


try:
    mount_server()
except Exception as problem:  # noqa: BLE001 - the process may do without
    sys.stderr.write("the modules of the server cannot be imported here: %s\n" % problem)
run_hidden()
