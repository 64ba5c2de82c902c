"""Task store in Redis or Valkey: for servers on many machines.

A task is a hash; it is changed in an optimistic transaction, which is retried if another server changed it meanwhile.
Each transaction adds the task's name to a stream of changes, of which every server reads what it has not read yet: a
change is not lost while Redis is unavailable, nor if its answer comes too late.  The time is that of Redis.  Tasks are
as durable as this Redis is (`appendonly`, `appendfsync`).  All keys of a server have one hash tag, so a cluster stores
them on one node.  No message contains the address or password of Redis.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from typing import Any

from redis import exceptions

from mcpc_runtime.protocol.jsonrpc import encode
from mcpc_runtime.protocol.tasks import StaleTaskError, Step, Task
from mcpc_runtime.server.replicas.redis import RedisError, connect_redis, hide_secrets, redis_errors
from mcpc_runtime.server.tasks.store import (
    StoredCall,
    StoreError,
    check_limits,
    dump_task,
    load_call,
    load_task,
    set_queue_position,
)

TRIES = 50
MAX_NEWS = 1000
"""The most changes that `news` reads at once; it reads further ones the next time."""
MAX_CHANGES = 10_000
"""About so many changes are kept: a server that was away for longer misses the earlier ones."""
CHANGES_MS = 3_600_000
"""How long the stream of changes is kept after the last one."""
OVERLAP_MS = 2000
"""How far the first `news` looks back: a client may have subscribed before it."""
MAX_SKIPPED = 2000
"""The most tasks that `due` reads in addition, to find some of principals that have room."""
MARGIN_MS = 60_000
"""How much longer than required a task is stored: Redis removes it then."""


class RedisStore:
    """Tasks at an address; `name`: the server that owns them."""

    def __init__(self, url: str, name: str, archive: str) -> None:
        self._prefix = f"mcpc:{{{name}}}:"
        self._url = url
        try:
            self._redis = connect_redis(url, archive)
        except RedisError as problem:
            raise StoreError(str(problem)) from None
        self._errors = redis_errors()
        self._conflict: type[Exception] = exceptions.WatchError
        self._changes = self._prefix + "changes of tasks"
        self._last_read: bytes | str = ""
        self._own_versions: dict[str, int] = {}

    def now(self) -> int:
        """Return Redis' time."""
        with self._translated_errors():
            seconds, micros = self._redis.time()
            return int(seconds) * 1000 + int(micros) // 1000

    def add(self, task: Task, call: StoredCall) -> None:
        """Store a new task."""
        now = self.now()
        running, stored = self._set_of(task.principal), self._set_of(task.principal, "kept")
        every = self._prefix + "all"
        with self._translated_errors():
            for names in (every, running, stored):
                # Expired tasks do not count.
                self._redis.zremrangebyscore(names, 0, now)
            under_way = self._redis.zcard(running)
            check_limits(under_way, self._redis.zcard(stored), self._redis.zcard(every))
            set_queue_position(task, under_way)
            with self._redis.pipeline() as batch:
                batch.hset(self._key(task.identifier), "call", encode(call))
                self._put(batch, task)
                batch.zadd(every, {task.identifier: task.expires})
                batch.zadd(stored, {task.identifier: task.expires})
                batch.pexpireat(stored, task.expires + MARGIN_MS)
                batch.execute()
        self._own_versions[task.identifier] = task.version

    def read(self, identifier: str) -> Task | None:
        """Return a task."""
        with self._translated_errors():
            return current_task(self._redis.hmget(self._key(identifier), "state", "lease"), self.now())

    def called(self, identifier: str) -> StoredCall:
        """Return what a task calls."""
        with self._translated_errors():
            data = self._redis.hget(self._key(identifier), "call")
        if data is None:
            raise StaleTaskError("the task no longer exists")
        return load_call(data)

    def change(self, identifier: str, step: Step) -> Task | None:
        """Apply a step."""

        def write(batch: Any, task: Task, now: int) -> Task:
            task = step(task, now)
            # While a key is watched, commands are executed at once; from here on they are one transaction.
            batch.multi()
            self._put(batch, task)
            return task

        changed = self._transact(identifier, write)
        if changed is not None:  # not before: what Redis did not confirm may be the version of another server
            self._own_versions[identifier] = changed.version
        return changed

    def remove(self, identifier: str) -> None:
        """Remove a task."""
        with self._translated_errors(), self._redis.pipeline() as batch:
            state = self._redis.hget(self._key(identifier), "state")
            batch.delete(self._key(identifier))
            batch.zrem(self._prefix + "leases", identifier)
            batch.zrem(self._prefix + "all", identifier)
            if state is not None:
                principal = load_task(state).principal
                batch.zrem(self._set_of(principal), identifier)
                batch.zrem(self._set_of(principal, "kept"), identifier)
            batch.execute()

    def due(self, most: int, without: Collection[str] = ()) -> list[Task]:
        """Return tasks without an owner; at most MAX_SKIPPED tasks of ignored principals are read for that."""
        leases, now = self._prefix + "leases", self.now()
        tasks: list[Task] = []
        with self._translated_errors():
            names = self._redis.zrangebyscore(leases, 0, now, start=0, num=most + (MAX_SKIPPED if without else 0))
            for name in names:
                task = current_task(self._redis.hmget(self._key(text_of(name)), "state", "lease"), now)
                if task is None or task.is_finished:
                    self._redis.zrem(leases, name)  # it has expired
                elif task.lease <= now and task.principal not in without:
                    tasks.append(task)
                if len(tasks) >= most:
                    break
        return tasks

    def renew(self, fences: dict[str, int], milliseconds: int) -> dict[str, Task]:
        """Renew leases; one that another server changes at this moment is renewed the next time."""
        renewed = {}
        for identifier, fence in fences.items():
            task = self._renew(identifier, fence, milliseconds)
            if task is not None:
                renewed[identifier] = task
        return renewed

    def _renew(self, identifier: str, fence: int, milliseconds: int) -> Task | None:
        def write(batch: Any, task: Task, now: int) -> Task | None:
            if task.is_finished or task.fence != fence:
                return None
            task.lease = now + milliseconds
            batch.multi()
            batch.hset(self._key(identifier), "lease", task.lease)
            batch.zadd(self._prefix + "leases", {identifier: task.lease})
            return task

        return self._transact(identifier, write)

    def _transact(self, identifier: str, write: Callable[[Any, Task, int], Task | None]) -> Task | None:
        """Change a task in a transaction, which is repeated if another server was quicker; None: it is not changed."""
        key, now = self._key(identifier), self.now()
        with self._translated_errors(), self._redis.pipeline() as batch:
            for _ in range(TRIES):
                try:
                    batch.watch(key)
                    stored = current_task(batch.hmget(key, "state", "lease"), now)
                    task = None if stored is None else write(batch, stored, now)
                    if task is not None:
                        batch.execute()
                except self._conflict:
                    continue
                return task
        raise StoreError("Redis: gave up after too many write conflicts")

    def news(self) -> list[Task]:
        """Return the tasks that other servers have changed; what was not returned because of an error is read again."""
        last = self._last_read = self._last_read or str(self.now() - OVERLAP_MS)
        with self._translated_errors():
            changes = self._redis.xrange(self._changes, min=last, count=MAX_NEWS)  # the one that was read last is first
        # What another program has put into the stream is no task of ours.
        identifiers = {text_of(fields.get(b"task", b"")): None for number, fields in changes if number != last}
        tasks = [self.read(identifier) for identifier in identifiers]
        if changes:
            self._last_read = changes[-1][0]
        changed = [
            task for task in tasks if task is not None and self._own_versions.get(task.identifier) != task.version
        ]
        # A change of our own is met once in the stream; those that never are, are dropped when there are many.
        for identifier in identifiers if len(self._own_versions) < MAX_NEWS else list(self._own_versions):
            self._own_versions.pop(identifier, None)
        return changed

    def close(self) -> None:
        """Close the connections."""
        with suppress(*self._errors):
            self._redis.close()

    def _put(self, batch: Any, task: Task) -> None:
        """Write the state of a task, update the indexes, and record the change."""
        key, identifier, until = self._key(task.identifier), task.identifier, task.expires
        batch.hset(key, mapping={"state": dump_task(task), "lease": task.lease})
        batch.pexpireat(key, until + MARGIN_MS)
        if task.is_finished:
            batch.zrem(self._prefix + "leases", identifier)
            batch.zrem(self._set_of(task.principal), identifier)
            batch.zadd(self._prefix + "all", {identifier: until})
            batch.zadd(self._set_of(task.principal, "kept"), {identifier: until}, xx=True)
        else:
            batch.zadd(self._prefix + "leases", {identifier: task.lease})
            batch.zadd(self._set_of(task.principal), {identifier: until})
            batch.pexpireat(self._set_of(task.principal), until + MARGIN_MS)
        # Cut to about so many: Redis removes whole nodes of the stream, which is cheaper.
        batch.xadd(self._changes, {"task": identifier}, maxlen=MAX_CHANGES)
        batch.pexpire(self._changes, CHANGES_MS)

    def _key(self, identifier: str) -> str:
        return f"{self._prefix}task:{identifier}"

    def _set_of(self, principal: str, kind: str = "of") -> str:
        """Return the name of a principal's tasks: those that run (`of`), or all that are stored (`kept`)."""
        digest = sha256(principal.encode("utf-8", "backslashreplace")).hexdigest()
        return f"{self._prefix}{kind}:{digest}"

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        """Turn errors of Redis into StoreError."""
        try:
            yield
        except self._errors as problem:
            raise StoreError(f"Redis: {hide_secrets(problem, self._url)}") from None


def current_task(row: list[bytes | None], now: int) -> Task | None:
    """Return the task of a row, unless it has expired."""
    state, lease = row
    if state is None or lease is None:
        return None
    task = load_task(state)
    task.lease = int(lease)
    return task if task.expires > now else None


def text_of(data: bytes) -> str:
    """Return the name of a task; that of another program's entry may be any bytes, and is then the name of none."""
    return data.decode("utf-8", "replace")
