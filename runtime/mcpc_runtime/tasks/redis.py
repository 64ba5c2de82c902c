"""Tasks in Redis or Valkey: for servers on many machines.

A task is a hash of four fields; it is changed in a transaction that fails, and is tried again, if somebody else changed
it meanwhile.  The time is Redis' own.  What was taken is as durable as this Redis is (`appendonly`, `appendfsync`).
All keys of a server have one hash tag, so a cluster keeps them in one place.  Nothing here says where Redis is, or by
which password.
"""

from __future__ import annotations

from contextlib import contextmanager

from mcpc_runtime.lazy import lazy
from mcpc_runtime.protocol.jsonrpc import encode
from mcpc_runtime.protocol.task_state import StaleTaskError
from mcpc_runtime.replicas.redis_connection import RedisError, connect_redis, hide_secrets, redis_errors
from mcpc_runtime.tasks.store import StoreError, dump, load, load_call, refuse_too_many, turn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from hashlib import sha256
    from typing import Any

    from redis import exceptions

    from mcpc_runtime.protocol.task_state import Step, Task
    from mcpc_runtime.tasks.store import Kept
else:
    sha256 = lazy("hashlib:sha256")
    exceptions = lazy("redis.exceptions")

TRIES = 50
MOST_NEWS = 1000
MOST_PASSED = 2000
"""So many tasks are read beyond those that are wanted, to find some of principals that have room."""
MARGIN_MS = 60_000
"""How much longer than it must be a task is kept: Redis forgets it by itself then."""


class RedisStore:
    """Tasks at an address; `name` is that of the server, whose tasks they are."""

    def __init__(self, url: str, name: str, archive: str) -> None:
        self._prefix = f"mcpc:{{{name}}}:"
        self._url = url
        try:
            self._redis: Any = connect_redis(url, archive)
        except RedisError as problem:
            raise StoreError(str(problem)) from None
        self._errors = redis_errors()
        self._conflict: type[Exception] = exceptions.WatchError
        self._news: Any = None
        self._own: dict[str, int] = {}

    def now(self) -> int:
        """Return Redis' time."""
        with self._asking():
            seconds, micros = self._redis.time()
            return int(seconds) * 1000 + int(micros) // 1000

    def add(self, task: Task, call: Kept) -> None:
        """Keep a new task."""
        now = self.now()
        of, every, kept = self._of(task.principal), self._prefix + "all", self._of(task.principal, "kept")
        with self._asking():
            for names in (every, of, kept):
                self._redis.zremrangebyscore(names, 0, now)
            under_way = self._redis.zcard(of)
            refuse_too_many(under_way, self._redis.zcard(kept), self._redis.zcard(every))
            turn(task, under_way)
            with self._redis.pipeline() as batch:
                batch.hset(self._key(task.identifier), "call", encode(call))
                self._put(batch, task)
                batch.zadd(every, {task.identifier: task.expires})
                batch.zadd(kept, {task.identifier: task.expires})
                batch.pexpireat(kept, task.expires + MARGIN_MS)
                batch.execute()

    def read(self, identifier: str) -> Task | None:
        """Return a task."""
        with self._asking():
            return fresh(self._redis.hmget(self._key(identifier), "state", "lease"), self.now())

    def called(self, identifier: str) -> Kept:
        """Return what a task calls."""
        with self._asking():
            data = self._redis.hget(self._key(identifier), "call")
        if data is None:
            raise StaleTaskError("the task no longer exists")
        return load_call(data)

    def change(self, identifier: str, step: Step) -> Task | None:
        """Do a step, again if somebody else was quicker."""
        key, now = self._key(identifier), self.now()
        with self._asking(), self._redis.pipeline() as batch:
            for _ in range(TRIES):
                try:
                    batch.watch(key)
                    task = fresh(batch.hmget(key, "state", "lease"), now)
                    if task is None:
                        return None
                    task = step(task, now)
                    batch.multi()
                    self._put(batch, task)
                    batch.execute()
                except self._conflict:
                    continue
                return task
        raise StoreError("Redis: gave up after too many write conflicts")

    def remove(self, identifier: str) -> None:
        """Forget a task."""
        with self._asking(), self._redis.pipeline() as batch:
            state = self._redis.hget(self._key(identifier), "state")
            batch.delete(self._key(identifier))
            batch.zrem(self._prefix + "leases", identifier)
            batch.zrem(self._prefix + "all", identifier)
            if state is not None:
                principal = load(state).principal
                batch.zrem(self._of(principal), identifier)
                batch.zrem(self._of(principal, "kept"), identifier)
            batch.execute()

    def due(self, most: int, without: Collection[str] = ()) -> list[Task]:
        """Return tasks that nobody runs; those of principals that are passed over are read, but not very many."""
        leases, now = self._prefix + "leases", self.now()
        found: list[Task] = []
        with self._asking():
            names = self._redis.zrangebyscore(leases, 0, now, start=0, num=most + (MOST_PASSED if without else 0))
            for name in names:
                task = fresh(self._redis.hmget(self._key(name.decode()), "state", "lease"), now)
                if task is None or task.over:
                    self._redis.zrem(leases, name)  # it was forgotten
                elif task.lease <= now and task.principal not in without:
                    found.append(task)
                if len(found) >= most:
                    break
        return found

    def renew(self, fences: dict[str, int], milliseconds: int) -> dict[str, Task]:
        """Put off the end of leases; one that somebody else changes at this moment is put off the next time round."""
        renewed = {}
        for identifier, fence in fences.items():
            task = self._renew(identifier, fence, milliseconds)
            if task is not None:
                renewed[identifier] = task
        return renewed

    def _renew(self, identifier: str, fence: int, milliseconds: int) -> Task | None:
        key, now = self._key(identifier), self.now()
        with self._asking(), self._redis.pipeline() as batch:
            for _ in range(TRIES):
                try:
                    batch.watch(key)
                    task = fresh(batch.hmget(key, "state", "lease"), now)
                    if task is None or task.over or task.fence != fence:
                        return None
                    task.lease = now + milliseconds
                    batch.multi()
                    batch.hset(key, "lease", task.lease)
                    batch.zadd(self._prefix + "leases", {identifier: task.lease})
                    batch.execute()
                except self._conflict:
                    continue
                return task
        raise StoreError("Redis: gave up after too many write conflicts")

    def news(self) -> list[Task]:
        """Return the tasks that others have changed; what was said while Redis was away is lost."""
        names: dict[str, None] = {}
        with self._asking():
            if self._news is None:
                self._news = self._redis.pubsub(ignore_subscribe_messages=True)
                self._news.subscribe(self._prefix + "tasks")
            for _ in range(MOST_NEWS):
                message = self._news.get_message(timeout=0)
                if message is None and not self._news.connection.can_read(timeout=0):
                    break
                if message is not None:
                    names[message["data"].decode()] = None
        tasks = [self.read(name) for name in names]
        found = [task for task in tasks if task is not None and self._own.get(task.identifier) != task.version]
        for name in names if len(self._own) < MOST_NEWS else list(self._own):
            self._own.pop(name, None)
        return found

    def close(self) -> None:
        """Let go of the connections."""
        try:
            if self._news is not None:
                self._news.close()
            self._redis.close()
        except self._errors:
            return

    def _put(self, batch: Any, task: Task) -> None:
        """Write a task as it is now, where it can be found, and tell everybody."""
        key, identifier, until = self._key(task.identifier), task.identifier, task.expires
        self._own[identifier] = task.version
        batch.hset(key, mapping={"state": dump(task), "lease": task.lease})
        batch.pexpireat(key, until + MARGIN_MS)
        if task.over:
            batch.zrem(self._prefix + "leases", identifier)
            batch.zrem(self._of(task.principal), identifier)
            batch.zadd(self._prefix + "all", {identifier: until})
            batch.zadd(self._of(task.principal, "kept"), {identifier: until}, xx=True)
        else:
            batch.zadd(self._prefix + "leases", {identifier: task.lease})
            batch.zadd(self._of(task.principal), {identifier: until})
            batch.pexpireat(self._of(task.principal), until + MARGIN_MS)
        batch.publish(self._prefix + "tasks", identifier)

    def _key(self, identifier: str) -> str:
        return f"{self._prefix}task:{identifier}"

    def _of(self, principal: str, kind: str = "of") -> str:
        """Return the name of a principal's tasks: those under way (`of`), or all that are kept (`kept`)."""
        digest = sha256(principal.encode("utf-8", "backslashreplace")).hexdigest()
        return f"{self._prefix}{kind}:{digest}"

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """Turn what goes wrong with Redis into what a store says."""
        try:
            yield
        except self._errors as problem:
            self._forget_news()
            raise StoreError(f"Redis: {hide_secrets(problem, self._url)}") from None

    def _forget_news(self) -> None:
        """Subscribe anew when Redis is there again."""
        listening, self._news = self._news, None
        if listening is not None:
            try:
                listening.close()
            except self._errors:
                return


def fresh(row: list[bytes | None], now: int) -> Task | None:
    """Return the task of a row, unless it need not be kept any more."""
    state, lease = row
    if state is None or lease is None:
        return None
    task = load(state)
    task.lease = int(lease)
    return task if task.expires > now else None
