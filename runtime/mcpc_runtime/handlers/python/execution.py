"""The execution of a handler's function, in a worker or inline: its packages, its interruption, its result as JSON.

An asynchronous exception is raised in the thread of one call, and never in that of another.  Its section is a list with
one item while the handler's code runs.  The thread that removes the item decides: the call itself when its handler has
ended, or the thread that interrupts it.  Then the call waits until the exception was set, and clears it if it was not
raised meanwhile.
"""

from __future__ import annotations

import sys
from _thread import allocate_lock, get_ident, start_new_thread
from atexit import _ncallbacks, _run_exitfuncs
from binascii import b2a_base64
from time import sleep
from traceback import format_exception

from mcpc_runtime.artifact import packages
from mcpc_runtime.handlers.python.bindings.dumping import result_to_json
from mcpc_runtime.handlers.python.program_bytecode import use_program_code
from mcpc_runtime.protocol.jsonrpc import Json, encode_text, parse, quote
from mcpc_runtime.transports.platforms.pipes import write_patiently

try:
    from _json import make_encoder
except ImportError:  # an interpreter without the C accelerator: slower, same result
    from mcpc_runtime.protocol.json_fallback import make_encoder  # type: ignore[assignment]


POLL_SECONDS = 0.0002
STARTING = ("__init__", "__enter__", "_execute_child", "_posix_spawn", "run", "call")
"""Functions of `subprocess` in which a process may have started that nobody could end if they raised an exception."""
STARTING_POLLS, STARTING_POLL_SECONDS = 200, 0.005
EXIT_SECONDS = 2.0
"""How long what was registered with `atexit` may take."""
INTENDED = ("ToolError", "ProtocolError", "Cancelled", "CancelledError")
BLOB, TO_BASE64 = "mcpc/blob", "binascii:b2a_base64"
"""The key of resource contents that a function returned as bytes; see `mcpc_runtime.handlers.results.BLOB`."""


class InterruptibleSection:
    """The part of a call in which its handler runs."""

    __slots__ = ("_inside", "_thread", "_was_set")

    def __init__(self) -> None:
        self._inside: list[None] = []
        self._was_set = False
        self._thread = 0

    def enter(self) -> None:
        """Become interruptible, in this thread."""
        self._thread = get_ident()
        self._inside.append(None)

    def leave(self) -> None:
        """Stop being interruptible; a pending exception is raised here or cleared.  Call again if it raises."""
        try:
            self._inside.pop()
        except IndexError:
            while not self._was_set:
                sleep(POLL_SECONDS)
            raise_in_thread(self._thread, None)

    @property
    def mine(self) -> bool:
        """Whether this is the section's thread."""
        return self._thread == get_ident()

    @property
    def open(self) -> bool:
        """Whether it can be interrupted."""
        return bool(self._inside)

    def pause(self) -> bool:
        """Suspend interruption until `resume`; False if an exception is pending."""
        try:
            self._inside.pop()
        except IndexError:
            return False
        return True

    def resume(self) -> None:
        """Be interruptible again."""
        self._inside.append(None)

    def interrupt(self, kind: type[BaseException]) -> bool:
        """Raise an exception in the section; False if it is not interruptible.

        It waits while the handler starts a process, for about a second.
        """
        for _ in range(STARTING_POLLS):
            # In a signal's handler this may be the section's own thread, which does not go on while it waits here.
            if not self.open or self.mine or not starts_process(self._thread):
                break
            sleep(STARTING_POLL_SECONDS)
        if not self.pause():
            return False
        try:
            raise_in_thread(self._thread, kind)
        finally:
            # Even if nothing could be raised: `leave` waits for this.
            self._was_set = True
        return True


def raise_in_thread(thread: int, kind: type[BaseException] | None) -> None:
    """Raise an exception in a thread as soon as it runs Python code; None clears a pending one."""
    try:
        ctypes = __import__("ctypes")
    except ImportError:  # an interpreter without it: the handler can still ask its context
        return
    raised = None if kind is None else ctypes.py_object(kind)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), raised)


def starts_process(thread: int) -> bool:
    """Tell whether a thread is just starting a process by `subprocess`."""
    frame = sys._current_frames().get(thread)
    while frame is not None and frame.f_globals.get("__name__") != "subprocess":
        frame = frame.f_back
    return frame is not None and frame.f_code.co_name in STARTING


def add_handlers(archive: str, folder: str) -> bool:
    """Make the project's modules importable: from `folder` if handlers find files in it, else from the archive.

    Return whether they were not yet.
    """
    place = folder or f"{archive}/handlers"
    if place in sys.path:
        return False
    if folder:
        use_program_code(sys.modules["mcpc_runtime"].__loader__, folder)
    sys.path.insert(0, place)
    return True


def activate_packages(archive: str) -> None:
    """Make bundled packages importable; an archive without packages lacks the module for that."""
    try:
        activate = packages.activate_packages
    except ModuleNotFoundError:
        return
    activate(archive)


def json_bytes(value: object) -> bytes:
    """Return a value as JSON; raise an exception if that fails.  Bytes become a BLOB object."""
    if isinstance(value, bytes | bytearray | memoryview):
        value = {BLOB: b2a_base64(value, newline=False).decode()}
    # The last three: keys are not sorted, none is skipped, and NaN is refused.
    writer = make_encoder({}, refuse_object, quote, None, ":", ",", False, False, False)
    try:
        parts = writer(value, 0)
    except (TypeError, ValueError):
        parts = writer(result_to_json(value), 0)
    return encode_text("".join(parts))


def refuse_object(value: object) -> object:
    """Raise TypeError for a value that is not JSON as it is: the whole result is converted then, once."""
    raise TypeError(f"{type(value).__name__} is converted")


def protocol_error_of(problem: BaseException) -> dict[str, Json] | None:
    """Return the JSON-RPC error of a ProtocolError, None for other exceptions; data that is not JSON is dropped."""
    code = getattr(problem, "code", None)
    # By name: frameworks have classes of their own with this name.
    if type(code) is not int or all(kind.__name__ != "ProtocolError" for kind in type(problem).__mro__):
        return None
    try:
        data = parse(json_bytes(getattr(problem, "data", None)))
    except Exception:  # noqa: BLE001 - the data is the handler's, and so are the methods that make JSON of it
        data = None
    return {"code": code, "message": str(problem), **({} if data is None else {"data": data})}


def is_intended(problem: BaseException) -> bool:
    """Tell whether an exception is an intended answer to the caller, which needs no traceback."""
    return any(kind.__name__ in INTENDED for kind in type(problem).__mro__)


def exception_message(problem: BaseException) -> str:
    """Return the text of an exception for the model: that of a ToolError, kind and text of others."""
    kind = type(problem).__name__
    try:
        text = str(problem)
    except Exception:  # noqa: BLE001 - `__str__` of the handler's exception; its kind is the answer then
        text = ""
    if text and any(base.__name__ == "ToolError" for base in type(problem).__mro__):
        return text
    return f"{kind}: {text}" if text else kind


RUNTIME = "mcpc_runtime."


def print_traceback(problem: BaseException) -> None:
    """Write the traceback, from the handler's own lines on, to standard error, as far as there is room."""
    first = problem.__traceback__
    while first is not None and str(first.tb_frame.f_globals.get("__name__")).startswith(RUNTIME):
        first = first.tb_next
    try:
        text = "".join(format_exception(type(problem), problem, first or problem.__traceback__))
        sys.stderr.flush()
    except Exception as second:  # noqa: BLE001 - the exception and the stream are the handler's: both may raise
        text = f"{type(problem).__name__}, whose traceback cannot be made: {type(second).__name__}\n"
    write_patiently(2, text.encode("utf-8", "backslashreplace"))


def run_exit_functions() -> None:
    """Call what was registered with `atexit`, and wait EXIT_SECONDS at most."""

    def run() -> None:
        try:
            _run_exitfuncs()
            # What the handler printed comes first: the traceback is not written through Python's buffer.
            sys.stderr.flush()
        finally:
            over.release()

    # In another thread, because a function that never returns must not keep the process.
    if _ncallbacks():
        over = allocate_lock()
        over.acquire()
        start_new_thread(run, ())
        over.acquire(timeout=EXIT_SECONDS)
