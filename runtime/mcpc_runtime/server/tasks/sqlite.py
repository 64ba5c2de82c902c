"""Task store in an SQLite file: for any number of processes of one machine; tasks survive restarts.

A stored task is on disk (WAL, synchronous=FULL).  The file is private to its owner and is made with the first task.  It
is never repaired or deleted here: errors are reported to the operator.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from stat import S_ISREG
from time import time

from mcpc_runtime.protocol.jsonrpc import encode
from mcpc_runtime.protocol.tasks import StaleTaskError, Step, Task
from mcpc_runtime.server.tasks.store import (
    StoredCall,
    StoreError,
    check_limits,
    dump_task,
    load_call,
    load_task,
    set_queue_position,
)
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.files import access_of_others, is_own_file, make_private_folders

FORMAT = 1
BUSY_SECONDS = 3.0
OVERLAP_MS = 2000
"""How far `news` looks back before its last call: another process may write a change late."""
MAX_NEWS = 1000
UNKNOWN = -1
"""No `data_version`: `news` reads what has changed since it last did."""
TABLES = """
CREATE TABLE IF NOT EXISTS tasks (
  identifier TEXT PRIMARY KEY, principal TEXT NOT NULL, over INTEGER NOT NULL, fence INTEGER NOT NULL,
  lease INTEGER NOT NULL, expires INTEGER NOT NULL, moved INTEGER NOT NULL, state BLOB NOT NULL, call BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS by_lease ON tasks (over, lease);
CREATE INDEX IF NOT EXISTS by_expiry ON tasks (expires);
CREATE INDEX IF NOT EXISTS by_change ON tasks (moved);
CREATE INDEX IF NOT EXISTS by_principal ON tasks (principal, over);
"""


class SqliteStore:
    """Tasks in the file `path`."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._open: sqlite3.Connection | None = None
        self._version = UNKNOWN
        self._news_since = self.now()
        self._own_versions: dict[str, int] = {}

    def now(self) -> int:
        """Return this machine's time."""
        return int(time() * 1000)

    def add(self, task: Task, call: StoredCall) -> None:
        """Store a new task."""
        with self._changing(create=True) as connection:
            query = "SELECT count(*), coalesce(sum(over = 0), 0) FROM tasks WHERE principal = ?"
            count, under_way = connection.execute(query, (task.principal,)).fetchone()
            check_limits(under_way, count, connection.execute("SELECT count(*) FROM tasks").fetchone()[0])
            set_queue_position(task, under_way)
            row = (task.identifier, task.principal, *self._columns(task), encode(call))
            connection.execute("INSERT INTO tasks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        self._own_versions[task.identifier] = task.version

    def read(self, identifier: str) -> Task | None:
        """Return a task."""
        with self._using() as connection:
            return self._read(connection, identifier)

    def called(self, identifier: str) -> StoredCall:
        """Return what a task calls."""
        with self._using() as connection:
            row = connection.execute("SELECT call FROM tasks WHERE identifier = ?", (identifier,)).fetchone()
        if row is None:
            raise StaleTaskError("the task no longer exists")
        return load_call(row[0])

    def change(self, identifier: str, step: Step) -> Task | None:
        """Apply a step in an exclusive transaction."""
        with self._changing() as connection:
            task = self._read(connection, identifier)
            if task is not None:
                task = step(task, self.now())
                sets = "over = ?, fence = ?, lease = ?, expires = ?, moved = ?, state = ?"
                connection.execute(f"UPDATE tasks SET {sets} WHERE identifier = ?", (*self._columns(task), identifier))
        if task is not None:  # not before: a change that failed may have the version of another process
            self._own_versions[identifier] = task.version
        return task

    def remove(self, identifier: str) -> None:
        """Remove a task."""
        with self._changing() as connection:
            connection.execute("DELETE FROM tasks WHERE identifier = ?", (identifier,))

    def due(self, most: int, without: Collection[str] = ()) -> list[Task]:
        """Return tasks without an owner; remove expired tasks."""
        now = self.now()
        with self._using() as connection:
            # Asked first: a DELETE locks the database for writers, even if it deletes nothing.
            if connection.execute("SELECT 1 FROM tasks WHERE expires <= ? LIMIT 1", (now,)).fetchone():
                connection.execute("DELETE FROM tasks WHERE expires <= ?", (now,))
            others = f"principal NOT IN ({', '.join('?' * len(without))})"
            query = f"SELECT state, lease FROM tasks WHERE over = 0 AND lease <= ? AND {others} ORDER BY lease LIMIT ?"
            return [task_of_row(row) for row in connection.execute(query, (now, *without, most))]

    def renew(self, fences: dict[str, int], milliseconds: int) -> dict[str, Task]:
        """Renew leases, in one transaction."""
        renewed = {}
        with self._changing() as connection:
            put_off = "UPDATE tasks SET lease = ? WHERE identifier = ? AND fence = ? AND over = 0"
            for identifier, fence in fences.items():
                if connection.execute(put_off, (self.now() + milliseconds, identifier, fence)).rowcount:
                    task = self._read(connection, identifier)
                    if task is not None:
                        renewed[identifier] = task
        return renewed

    def news(self) -> list[Task]:
        """Return the tasks that other processes have changed; `data_version` tells whether there are any."""
        with self._using() as connection:
            # It changes with the commits of other connections only.
            version = connection.execute("PRAGMA data_version").fetchone()[0]
            if version == self._version:
                if len(self._own_versions) > MAX_NEWS:
                    self._own_versions.clear()
                return []
            since, now = self._news_since - OVERLAP_MS, self.now()
            query = "SELECT state, lease FROM tasks WHERE moved >= ? ORDER BY moved LIMIT ?"
            tasks = [task_of_row(row) for row in connection.execute(query, (since, MAX_NEWS))]
            self._version, self._news_since = version, now
        fresh = [task for task in tasks if self._own_versions.get(task.identifier) != task.version]
        self._own_versions = {task.identifier: task.version for task in tasks}
        return fresh

    def close(self) -> None:
        """Close the file."""
        connection, self._open = self._open, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()

    def _read(self, connection: sqlite3.Connection, identifier: str) -> Task | None:
        query = "SELECT state, lease FROM tasks WHERE identifier = ? AND expires > ?"
        row = connection.execute(query, (identifier, self.now())).fetchone()
        return None if row is None else task_of_row(row)

    def _columns(self, task: Task) -> tuple[int, int, int, int, int, bytes]:
        """Return the columns of a task from `over` to `state`."""
        return int(task.is_finished), task.fence, task.lease, task.expires, self.now(), dump_task(task)

    @contextmanager
    def _changing(self, *, create: bool = False) -> Iterator[sqlite3.Connection]:
        """Yield the connection in a transaction."""
        with self._using(create=create) as connection:
            # One that begins by reading fails at once if another process writes before it does, whatever the timeout.
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    @contextmanager
    def _using(self, *, create: bool = False) -> Iterator[sqlite3.Connection]:
        """Yield the connection; after an error of SQLite the file is reopened the next time."""
        try:
            if self._open is None and (create or os.path.lexists(self.path)):
                self._open = self._connect()
            with nullcontext(self._open) if self._open is not None else empty_database() as connection:
                yield connection
        except (sqlite3.Error, OSError) as problem:
            self.close()
            raise StoreError(f"{self.path}: {problem}") from None

    def _connect(self) -> sqlite3.Connection:
        """Open the file; make it if it is missing."""
        make_private_file(self.path)
        connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            number = connection.execute("PRAGMA user_version").fetchone()[0]
            if number not in (0, FORMAT):
                raise sqlite3.DatabaseError(f"the database has format {number}, but this server uses format {FORMAT}")
            if number == 0:
                # Another process may do the same at this moment: what exists then is left as it is.
                connection.executescript(f"BEGIN IMMEDIATE; {TABLES} PRAGMA user_version = {FORMAT}; COMMIT")
        except sqlite3.Error:
            connection.close()
            raise
        self._version = UNKNOWN  # others may have changed tasks while it was closed
        return connection


def task_of_row(row: tuple[bytes, int]) -> Task:
    """Return the task of a row; its lease may have been renewed since its state was written."""
    task = load_task(row[0])
    task.lease = row[1]
    return task


def empty_database() -> closing[sqlite3.Connection]:
    """Return an empty database, which replaces a missing file during one operation."""
    empty = sqlite3.connect(":memory:", isolation_level=None)
    empty.executescript(TABLES)
    return closing(empty)


def make_private_file(path: str) -> None:
    """Make the file and its folder if they are missing; raise OSError if it is not a private regular file.

    An existing file is not opened: closing it would release the locks that this process may hold on it.
    """
    make_private_folders(os.path.dirname(os.path.abspath(path)))
    with suppress(FileExistsError):
        system.close(system.open(path, system.O_RDWR | system.O_CREAT | system.O_EXCL | system.O_CLOEXEC, 0o600))
    status = os.lstat(path)
    if not S_ISREG(status.st_mode) or not is_own_file(status) or access_of_others(status):
        raise OSError("it must be a regular file that only this user may read and write (chmod 600)")
