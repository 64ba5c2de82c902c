"""What goes out: frames, each written whole; a call's answer is its last one.

A frame is four bytes of length, then a JSON object: `{"call": 7, "value": …}`, or `error`, `raised`, `refused` or
`note` in the place of `value`; `{"begun": 7}`; `{"ready": true}`.
"""

from __future__ import annotations

import posix
import sys
from _thread import allocate_lock
from select import POLLOUT, poll

from mcpc_runtime.lazy import lazy
from mcpc_runtime.protocol.jsonrpc import encode, parse, quote

try:
    from _json import make_encoder
except ImportError:  # an interpreter without the C accelerator: slower, and the same
    from mcpc_runtime.protocol.json_fallback import make_encoder  # type: ignore[assignment]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from binascii import b2a_base64
    from collections.abc import Callable
    from traceback import format_exception

    from mcpc_runtime.handlers.python.bindings.models import dump
    from mcpc_runtime.protocol.jsonrpc import Json
else:
    b2a_base64 = lazy("binascii:b2a_base64")
    dump = lazy("mcpc_runtime.handlers.python.bindings.models:dump")
    format_exception = lazy("traceback:format_exception")

FRAME_LIMIT = 64 << 20
PIECE = 4096
PATIENCE_MS = 100
"""How long standard error may take to take the next piece; the server reads what it can."""
SPECIAL: tuple[tuple[str, dict[str, str]], ...] = (
    ("model_dump", {"mode": "json"}),
    ("isoformat", {}),
    ("__fspath__", {}),
)
"""Methods by which an object says what it is in JSON, with their keywords: models, times, paths."""
MEANT = ("ToolError", "ProtocolError", "Cancelled", "CancelledError")
BLOB, TO_BASE64 = "mcpc/blob", "binascii:b2a_base64"
"""What the contents of a resource are that a function returned as bytes; see `mcpc_runtime.handlers.results.BLOB`."""
OURS = "mcpc_app.models."
"""Models that were generated from a schema leave out what the schema would not want to find."""


class ReplyWriter:
    """The way to the server.  When it has gone, frames are dropped; the intake sees it, too, and ends the process."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = allocate_lock()

    def send(self, frame: bytes, ended: list[bool], last: bool = False) -> None:
        """Write a frame of a call, unless its last one was written; `ended` says so."""
        with self._lock:
            if ended[0]:
                return
            ended[0] = last
            self._write(frame)

    def tell(self, frame: bytes) -> None:
        """Write a frame that belongs to no call."""
        with self._lock:
            self._write(frame)

    def _write(self, frame: bytes) -> None:
        data = memoryview(len(frame).to_bytes(4, "little") + frame)
        try:
            while data:
                data = data[posix.write(self._descriptor, data) :]
        except BrokenPipeError:
            return


def said(number: int, what: bytes, value: object) -> bytes:
    """Return a frame about a call; raise what JSON, or the value itself, has against it."""
    frame = b'{"call":%d,"%b":%b}' % (number, what, written(value))
    if len(frame) > FRAME_LIMIT:
        raise ValueError(f"the result takes {len(frame) >> 20} MiB; the maximum is {FRAME_LIMIT >> 20} MiB")
    return frame


def written(value: object) -> bytes:
    """Return a value as JSON; raise what JSON, or the value itself, has against it.  Bytes are what stands for them."""
    if isinstance(value, bytes | bytearray | memoryview):
        value = {BLOB: b2a_base64(value, newline=False).decode()}
    writer = make_encoder({}, plain, quote, None, ":", ",", False, False, False)
    return "".join(writer(value, 0)).encode("utf-8", "backslashreplace")


def failed(number: int, problem: BaseException) -> bytes:
    """Return the frame that says what was raised."""
    error = error_of(problem)
    if error is not None:
        return b'{"call":%d,"raised":%b}' % (number, encode(error))
    return b'{"call":%d,"error":%b}' % (number, encode(message_of(problem)))


def error_of(problem: BaseException) -> dict[str, Json] | None:
    """Return the JSON-RPC error that an exception is meant to be, None for any other; data that is no JSON is lost."""
    code = getattr(problem, "code", None)
    if type(code) is not int or all(kind.__name__ != "ProtocolError" for kind in type(problem).__mro__):
        return None
    try:
        data = parse(written(getattr(problem, "data", None)))
    except Exception:  # noqa: BLE001 - what the value itself has against being written
        data = None
    return {"code": code, "message": str(problem), **({} if data is None else {"data": data})}


def plain(value: object) -> object:
    """Return what JSON can carry of an object that is no JSON value; raise TypeError if it does not say."""
    if any(kind.__module__.startswith(OURS) for kind in type(value).__mro__):
        return dump(value)
    for method, keywords in SPECIAL:
        say: Callable[..., object] | None = getattr(value, method, None)
        if say is not None and not isinstance(value, type):
            return say(**keywords)
    if hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
        return {name: getattr(value, name) for name in value.__dataclass_fields__}
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError(f"the handler returned a {type(value).__name__}, which cannot be written as JSON")


def is_meant(problem: BaseException) -> bool:
    """Tell whether an exception is the handler's own word to the caller, and nobody else's business."""
    return any(kind.__name__ in MEANT for kind in type(problem).__mro__)


def message_of(problem: BaseException) -> str:
    """Return an exception as one text for the model: what a ToolError says, the kind and the text of any other."""
    kind = type(problem).__name__
    try:
        text = str(problem)
    except Exception:  # noqa: BLE001 - an exception of the handler's may fail in this, too
        text = ""
    if text and any(one.__name__ == "ToolError" for one in type(problem).__mro__):
        return text
    return f"{kind}: {text}" if text else kind


def report(problem: BaseException) -> None:
    """Write the traceback to standard error, for the person who runs the server, as far as it is read."""
    try:
        lines = format_exception(problem)
        sys.stderr.flush()
    except Exception:  # noqa: BLE001 - an exception of the handler's may fail in this, too
        return
    data = "".join(lines).encode("utf-8", "backslashreplace")
    waiting = poll()
    waiting.register(2, POLLOUT)
    for start in range(0, len(data), PIECE):
        if not any(event & POLLOUT for _, event in waiting.poll(PATIENCE_MS)):
            return
        try:
            posix.write(2, data[start : start + PIECE])
        except OSError:
            return
