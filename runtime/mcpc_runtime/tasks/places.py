"""Where a server keeps its tasks: what MCPC_TASKS says, else a file of this user's state, else nowhere but in memory.

`sqlite:PATH`, `redis://…`, `rediss://…`, `unix://…`, `valkey://…` or `memory:`.  A place that was named and cannot be
used is never exchanged for another one: every request that needs it is refused, with the reason.
"""

from __future__ import annotations

import os

from mcpc_runtime.lazy import lazy
from mcpc_runtime.operator_log import log_line
from mcpc_runtime.platforms.posix.private_files import UnusableFolderError, refuse_shared
from mcpc_runtime.replicas.redis_connection import NOT_BUNDLED, is_redis_address
from mcpc_runtime.tasks.store import MemoryStore, StoreError, UnavailableStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hashlib import sha256

    from mcpc_runtime.tasks.redis import RedisStore
    from mcpc_runtime.tasks.sqlite import SqliteStore
    from mcpc_runtime.tasks.store import Store
else:
    RedisStore = lazy("mcpc_runtime.tasks.redis:RedisStore")
    SqliteStore = lazy("mcpc_runtime.tasks.sqlite:SqliteStore")
    sha256 = lazy("hashlib:sha256")

VARIABLE = "MCPC_TASKS"
MEMORY_ONLY = "tasks are stored in memory only and end with this server"
MOST_LETTERS = 64


def open_store(name: str, archive: str) -> Store:
    """Return the store of the server of this name in this archive; what is wrong with it, it says when it is used."""
    chosen = os.environ.get(VARIABLE, "").strip()
    scheme, _, rest = chosen.partition(":")
    try:
        if not chosen:
            return usual(name, archive)
        if scheme == "memory":
            return MemoryStore()
        if scheme == "sqlite" and rest:
            path = os.path.abspath(os.path.expanduser(rest))
            reason = shared(os.path.dirname(path))
            if reason:
                log_line(f"{reason}: another user could replace {path}")
            return sqlite(path)
        if is_redis_address(chosen):
            return redis(chosen, name, archive)
        raise StoreError(f"{VARIABLE} must be sqlite:PATH, redis://…, or memory:")
    except StoreError as problem:
        log_line(str(problem))
        return UnavailableStore(str(problem))


def usual(name: str, archive: str) -> Store:
    """Return the file of a server that was told nothing, or memory where there is no place for a file."""
    home = os.environ.get("HOME", "")
    state = os.environ.get("XDG_STATE_HOME", "") or (os.path.join(home, ".local", "state") if home else "")
    if not os.path.isabs(state):
        log_line(f"no folder for the task database ({VARIABLE}, XDG_STATE_HOME and HOME are not set): {MEMORY_ONLY}")
        return MemoryStore()
    folder = os.path.join(state, "mcpc")
    if not writable(folder):
        log_line(f"{folder} is not writable: {MEMORY_ONLY}")
        return MemoryStore()
    reason = shared(folder)
    if reason:
        log_line(f"{reason}: {MEMORY_ONLY}")
        return MemoryStore()
    try:
        return sqlite(os.path.join(folder, file_name(name, archive)))
    except StoreError as problem:
        log_line(f"{problem}: {MEMORY_ONLY}")
        return MemoryStore()


def shared(folder: str) -> str:
    """Return why a folder, or what of it is there, or one above, is not this user's alone; or nothing."""
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    try:
        refuse_shared(os.path.realpath(folder))
    except UnusableFolderError as problem:
        return str(problem)
    return ""


def file_name(name: str, archive: str) -> str:
    """Return the name of a server's file: it is the same for all that is ever built to this place under this name."""
    letters = "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in name)[:MOST_LETTERS]
    whole = f"{name}\n{os.path.realpath(archive)}".encode("utf-8", "backslashreplace")
    return f"{letters}-{sha256(whole).hexdigest()[:16]}.db"


def writable(folder: str) -> bool:
    """Tell whether a folder, or what of it is there, lets this process make files."""
    while not os.path.lexists(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    return os.path.isdir(folder) and os.access(
        folder, os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids
    )


def sqlite(path: str) -> Store:
    """Return the store in this file."""
    try:
        store: Store = SqliteStore(path)
    except ImportError as problem:
        raise StoreError(f"this Python lacks SQLite ({problem})") from None
    return store


def redis(url: str, name: str, archive: str) -> Store:
    """Return the store in this Redis."""
    try:
        store: Store = RedisStore(url, name, archive)
    except ImportError:
        raise StoreError(NOT_BUNDLED) from None
    return store
