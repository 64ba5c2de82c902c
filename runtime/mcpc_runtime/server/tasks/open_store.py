"""Open the task store: MCPC_TASKS, by default a file in this user's state folder, or memory without such a folder.

MCPC_TASKS: `sqlite:PATH`, `redis://…`, `rediss://…`, `unix://…`, `valkey://…` or `memory:`.  A configured store that
cannot be used is never replaced by another: every request that needs it is refused, with the reason.
"""

from __future__ import annotations

import os
from hashlib import sha256

from mcpc_runtime.log import log_line
from mcpc_runtime.server.replicas.redis import is_redis_address, why_not_imported
from mcpc_runtime.server.tasks.redis import RedisStore
from mcpc_runtime.server.tasks.sqlite import SqliteStore
from mcpc_runtime.server.tasks.store import MemoryStore, Store, StoreError, UnavailableStore
from mcpc_runtime.transports.platforms.files import UnusableFolderError, check_unshared, state_folder

VARIABLE = "MCPC_TASKS"
MEMORY_ONLY = "tasks are stored in memory only and end with this server"
MAX_LETTERS = 64


def open_store(name: str, archive: str) -> Store:
    """Return the store of the server of this name in this archive; an unusable store fails when it is used."""
    address = os.environ.get(VARIABLE, "").strip()
    scheme, _, rest = address.partition(":")
    try:
        if not address:
            return open_default_store(name, archive)
        if scheme == "memory":
            return MemoryStore()
        if scheme == "sqlite" and rest:
            path = os.path.abspath(os.path.expanduser(rest))
            # Only a warning: whoever configures a path has decided; the default falls back to memory.
            reason = shared_reason(os.path.dirname(path))
            if reason:
                log_line(f"{reason}: another user could replace {path}")
            return open_sqlite(path)
        if is_redis_address(address):
            return open_redis(address, name, archive)
        raise StoreError(f"{VARIABLE} must be sqlite:PATH, redis://…, or memory:")
    except StoreError as problem:
        log_line(str(problem))
        return UnavailableStore(str(problem))


def open_default_store(name: str, archive: str) -> Store:
    """Return the default store: a database file, or memory if no folder is usable."""
    state = state_folder()
    if not os.path.isabs(state):
        log_line(f"no folder for the task database ({VARIABLE}, XDG_STATE_HOME and HOME are not set): {MEMORY_ONLY}")
        return MemoryStore()
    folder = os.path.join(state, "mcpc")
    if not is_writable(folder):
        log_line(f"{folder} is not writable: {MEMORY_ONLY}")
        return MemoryStore()
    reason = shared_reason(folder)
    if reason:
        log_line(f"{reason}: {MEMORY_ONLY}")
        return MemoryStore()
    try:
        return open_sqlite(os.path.join(folder, database_name(name, archive)))
    except StoreError as problem:
        log_line(f"{problem}: {MEMORY_ONLY}")
        return MemoryStore()


def shared_reason(folder: str) -> str:
    """Return why other users could replace a folder, its nearest existing parent, or one above; or nothing."""
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    try:
        check_unshared(os.path.realpath(folder))
    except UnusableFolderError as problem:
        return str(problem)
    return ""


def database_name(name: str, archive: str) -> str:
    """Return the name of a server's database: the same for every build with this name and path."""
    # The letters are for people; the digest tells apart names that differ in what is replaced or cut.
    letters = "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in name)[:MAX_LETTERS]
    identity = f"{name}\n{os.path.realpath(archive)}".encode("utf-8", "backslashreplace")
    return f"{letters}-{sha256(identity).hexdigest()[:16]}.db"


def is_writable(folder: str) -> bool:
    """Tell whether this process can make files in a folder or its nearest existing parent."""
    while not os.path.lexists(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    # By default `access` asks for the real user, but files are opened as the effective one.
    return os.path.isdir(folder) and os.access(
        folder, os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids
    )


def open_sqlite(path: str) -> Store:
    """Return a store in this file."""
    try:
        store: Store = SqliteStore(path)
    except ImportError as problem:
        raise StoreError(f"this Python lacks SQLite ({problem})") from None
    return store


def open_redis(url: str, name: str, archive: str) -> Store:
    """Return a store in this Redis."""
    try:
        store: Store = RedisStore(url, name, archive)
    except ImportError as problem:
        raise StoreError(why_not_imported(problem)) from None
    return store
