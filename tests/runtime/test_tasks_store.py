"""Every store keeps tasks alike: whole, in one step, refusing what comes too late, and saying what it cannot do."""

import os
import sqlite3
import stat
import subprocess
import sys
import threading
from contextlib import closing, contextmanager
from functools import partial

import pytest
import redis

from mcpc_runtime.protocol import tasks
from mcpc_runtime.protocol.tasks import StaleTaskError, Task
from mcpc_runtime.server.replicas.redis import hide_secrets
from mcpc_runtime.server.tasks import store as stores
from mcpc_runtime.server.tasks.redis import RedisStore
from mcpc_runtime.server.tasks.sqlite import SqliteStore
from mcpc_runtime.server.tasks.store import MemoryStore, StoreError
from support.needs import ROOT
from support.redises import PASSWORD, RedisServer

CALL = {"version": "2026-07-28", "arguments": {"x": "é\ud800"}, "meta": {}}


@pytest.fixture(scope="module")
def redis_server(tmp_path_factory):
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    yield server
    server.stop()


@pytest.fixture(autouse=True)
def all_closed(monkeypatch):
    """Close whatever file a test opened and left open."""
    opened, connect = [], SqliteStore._connect

    def remembering(store):
        opened.append(store)
        return connect(store)

    monkeypatch.setattr(SqliteStore, "_connect", remembering)
    yield
    for store in opened:
        store.close()


@pytest.fixture(params=["sqlite", "redis"])
def shared(request, tmp_path):
    """What opens the same store again, as another server does."""
    if request.param == "sqlite":
        return partial(SqliteStore, str(tmp_path / "folder" / "tasks.db"))
    return partial(RedisStore, request.getfixturevalue("redis_server").url, tmp_path.name, "")


def task_of(store, name="a", principal="", lease=5000, **more):
    task = Task(name, principal, "tool", store.now())
    task.owner, task.fence, task.begun, task.lease = "me", 1, True, task.created + lease
    for key, value in more.items():
        setattr(task, key, value)
    return task


def test_what_others_change_is_news_and_what_one_changes_oneself_is_not(shared):
    mine, other = shared(), shared()
    mine.add(task_of(mine, "a"), CALL)
    mine.news(), other.news()
    mine.change("a", lambda one, now: tasks.request_input(one, 1, {"k": {}}, now))
    assert mine.news() == []
    assert [(task.identifier, task.status) for task in wait_for_news(other)] == [("a", "input_required")]
    assert other.news() == []
    other.change("a", lambda one, now: tasks.add_responses(one, {"k": {"v": 1}}, now))
    assert [task.answers for task in wait_for_news(mine)] == [{"k": {"v": 1}}]


def test_news_of_redis_that_answers_too_late_are_read_later(redis_server):
    mine, other = (RedisStore(redis_server.url, "late", "") for _ in range(2))
    other.add(task_of(other, "a"), CALL)
    wait_for_news(mine)
    other.change("a", lambda one, now: tasks.request_input(one, 1, {"k": {}}, now))
    with short_waits(mine), redis_server.stalled():
        for use in (mine.news, mine.now, mine.news):
            with pytest.raises(StoreError, match="Redis"):
                use()
    other.change("a", tasks.cancel)
    assert [(task.identifier, task.status) for task in wait_for_news(mine)] == [("a", "cancelled")]
    assert mine.news() == []
    mine.close(), other.close()


def test_entries_of_other_programs_in_redis_hide_no_task(redis_server):
    mine, other = (RedisStore(redis_server.url, "foreign", "") for _ in range(2))
    connection = redis.Redis.from_url(redis_server.url)
    prefix = "mcpc:{foreign}:"
    connection.zadd(prefix + "leases", {b"\xff": 1, b"gone": 2})
    other.add(task_of(other, "a", lease=-5), CALL)
    for entry in ({"x": "y"}, {"task": b"\xff"}):
        connection.xadd(prefix + "changes of tasks", entry)
    assert [task.identifier for task in mine.due(9)] == ["a"]
    assert connection.zrange(prefix + "leases", 0, -1) == [b"a"]
    assert [task.identifier for task in wait_for_news(mine)] == ["a"]
    connection.xadd(prefix + "changes of tasks", {"x": "y"})
    other.change("a", tasks.cancel)
    assert [task.status for task in wait_for_news(mine)] == ["cancelled"]
    connection.close(), mine.close(), other.close()


@contextmanager
def short_waits(store):
    """Let the connections that a store makes meanwhile wait for an answer only a moment."""
    pool = store._redis.connection_pool
    before = dict(pool.connection_kwargs)
    pool.disconnect()
    pool.reset()
    pool.connection_kwargs.update(socket_timeout=0.1, socket_connect_timeout=0.1)
    yield
    pool.disconnect()
    pool.reset()
    pool.connection_kwargs.update(before)


def test_news_of_a_file_that_could_not_be_read_are_read_later(tmp_path):
    mine, other = (SqliteStore(str(tmp_path / "tasks.db")) for _ in range(2))
    other.add(task_of(other, "a"), CALL)
    wait_for_news(mine)
    mine._open.close()
    other.change("a", tasks.cancel)
    with pytest.raises(StoreError):
        mine.news()
    assert [(task.identifier, task.status) for task in wait_for_news(mine)] == [("a", "cancelled")]
    assert mine.news() == []


def test_a_change_that_was_not_confirmed_is_news(redis_server):
    """Redis applied it, but its answer came too late: nobody here knows, so it is told as one of another server."""
    store = RedisStore(redis_server.url, "unconfirmed", "")
    store.add(task_of(store, "a"), CALL)
    store.news()
    execute = redis.client.Pipeline.execute

    def late(batch):
        execute(batch)
        raise redis.exceptions.TimeoutError("Timeout reading from socket")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(redis.client.Pipeline, "execute", late)
        with pytest.raises(StoreError):
            store.change("a", tasks.cancel)
    assert [task.status for task in wait_for_news(store)] == ["cancelled"]
    assert store.news() == []
    store.close()


def wait_for_news(store):
    for _ in range(200):
        found = store.news()
        if found:
            return found
        threading.Event().wait(0.01)
    raise AssertionError("no news")


def test_of_many_who_take_a_task_one_gets_it(shared):
    store = shared()
    for number in range(10):
        store.add(task_of(store, f"t{number}", lease=-1, again=True), CALL)
    taken, barrier = [], threading.Barrier(4, timeout=30)

    def take(me):
        own = shared()
        barrier.wait()
        for number in range(10):
            try:
                task = own.change(f"t{number}", lambda one, now: tasks.acquire(one, me, now + 60_000, now))
                taken.append((task.identifier, me, task.fence))
            except StaleTaskError:
                continue
        own.close()

    threads = [threading.Thread(target=take, args=(f"s{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(name for name, _, _ in taken) == sorted(f"t{number}" for number in range(10))
    assert {(name, store.read(name).owner) for name, _, _ in taken} == {(name, me) for name, me, _ in taken}


def test_steps_at_the_same_time_are_all_done(shared):
    store = shared()
    store.add(task_of(store, "a", requests={str(number): {} for number in range(40)}, status="input_required"), CALL)

    def answer(numbers):
        own = shared()
        for number in numbers:
            own.change("a", lambda one, now, key=str(number): tasks.add_responses(one, {key: {"n": key}}, now))
        own.close()

    threads = [threading.Thread(target=answer, args=(range(start, 40, 4),)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    task = store.read("a")
    assert (len(task.answers), task.requests, task.status, task.version) == (40, {}, "working", 40)


def test_the_file_is_its_owners_alone_and_is_not_made_before_there_is_a_task(tmp_path):
    path = tmp_path / "folder" / "tasks.db"
    store = SqliteStore(str(path))
    assert (store.read("a"), store.due(9), store.news(), store.renew({"a": 1}, 5)) == (None, [], [], {})
    assert not path.parent.exists()
    before = os.umask(0)
    try:
        store.add(task_of(store), CALL)
    finally:
        os.umask(before)
    modes = {stat.S_IMODE(one.stat().st_mode) for one in path.parent.iterdir()}
    assert modes == {0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_full_disk_is_told_and_what_was_kept_before_is_there(tmp_path):
    store = SqliteStore(str(tmp_path / "tasks.db"))
    store.add(task_of(store, "a"), CALL)
    store._open.execute("PRAGMA max_page_count = 12")
    with pytest.raises(StoreError, match=r"tasks\.db: database or disk is full"):
        store.add(task_of(store, "b"), {"arguments": "x" * 100_000})
    assert (store.read("b"), store.read("a").status) == (None, "working")
    store.add(task_of(store, "b"), CALL)


@pytest.mark.parametrize("content", [b"this is no database " * 100, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_broken_file_is_told_and_left_as_it_is(tmp_path, content):
    path = tmp_path / "tasks.db"
    path.write_bytes(content)
    path.chmod(0o600)
    store = SqliteStore(str(path))
    for use in (lambda: store.add(task_of(store), CALL), lambda: store.read("a"), lambda: store.due(1)):
        with pytest.raises(StoreError, match=r"tasks\.db: "):
            use()
    assert path.read_bytes() == content


def test_a_broken_record_is_told(tmp_path):
    store = SqliteStore(str(tmp_path / "tasks.db"))
    store.add(task_of(store), CALL)
    with closing(sqlite3.connect(tmp_path / "tasks.db", isolation_level=None)) as other:
        other.execute("UPDATE tasks SET state = X'7b'")
    with pytest.raises(StoreError, match="cannot be read"):
        store.read("a")


def test_a_file_of_another_format_is_told(tmp_path):
    with closing(sqlite3.connect(tmp_path / "tasks.db", isolation_level=None)) as other:
        other.execute("PRAGMA user_version = 99")
    (tmp_path / "tasks.db").chmod(0o600)
    store = SqliteStore(str(tmp_path / "tasks.db"))
    with pytest.raises(StoreError, match="format 99"):
        store.add(task_of(store), CALL)


@pytest.mark.parametrize("spoil", [lambda path: path.chmod(0o644), lambda path: path.chmod(0o660)])
def test_a_file_that_others_may_read_is_refused(tmp_path, spoil):
    path = tmp_path / "tasks.db"
    path.touch()
    spoil(path)
    with pytest.raises(StoreError, match="only this user"):
        SqliteStore(str(path)).add(task_of(MemoryStore()), CALL)


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_what_is_no_regular_file_is_refused(tmp_path, kind):
    path = tmp_path / "tasks.db"
    (tmp_path / "target").touch(0o600)
    {"link": lambda: path.symlink_to("target"), "folder": path.mkdir, "pipe": lambda: os.mkfifo(path)}[kind]()
    with pytest.raises(StoreError):
        SqliteStore(str(path)).add(task_of(MemoryStore()), CALL)
    assert (tmp_path / "target").read_bytes() == b""


def test_a_file_that_is_locked_too_long_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("mcpc_runtime.server.tasks.sqlite.BUSY_SECONDS", 0.1)
    store = SqliteStore(str(tmp_path / "tasks.db"))
    store.add(task_of(store), CALL)
    other = sqlite3.connect(tmp_path / "tasks.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="locked"):
        store.change("a", tasks.cancel)
    assert store.read("a").status == "working"
    other.execute("ROLLBACK")
    other.close()
    assert store.change("a", tasks.cancel).status == "cancelled"


WRITER = """
import os, sys
sys.path[:0] = {path!r}
from mcpc_runtime.protocol import tasks
from mcpc_runtime.protocol.tasks import Task
from mcpc_runtime.server.tasks.sqlite import SqliteStore
store = SqliteStore(sys.argv[1])
for number in range(10_000):
    task = Task(f"t{{number}}", "", "tool", store.now())
    store.add(task, {{"arguments": {{}}}})
    os.write(1, b"%d\\n" % number)
"""


def test_what_was_taken_survives_the_process(tmp_path):
    """Kill a process that writes: each task of which it said that it is kept is kept, and the file is whole."""
    program = WRITER.format(path=[str(ROOT / "runtime")])
    path = tmp_path / "tasks.db"
    writer = subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE)
    said = [int(writer.stdout.readline()) for _ in range(30)]
    writer.kill()
    said += [int(line) for line in writer.stdout.read().split()]
    writer.wait()
    writer.stdout.close()
    store = SqliteStore(str(path))
    assert all(store.read(f"t{number}") is not None for number in said)
    assert len(store.due(20_000)) - len(said) in (0, 1)
    assert store._open.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_redis_that_goes_away_is_told_without_the_password_and_comes_back(tmp_path):
    server = RedisServer(tmp_path / "redis")
    store = RedisStore(server.url, "name", "")
    store.add(task_of(store), CALL)
    store.news()
    server.stop()
    for use in (lambda: store.read("a"), store.news, store.now, lambda: store.add(Task("b", "", "t", 0), CALL)):
        with pytest.raises(StoreError) as told:
            use()
        assert "Redis" in str(told.value)
        assert PASSWORD not in str(told.value)
    server.start()
    assert store.read("a").status == "working"
    store.news()
    other = RedisStore(server.url, "name", "")
    other.change("a", tasks.cancel)
    assert [task.status for task in wait_for_news(store)] == ["cancelled"]
    other.close()
    store.close()
    server.stop()


def test_a_wrong_password_is_told_and_not_shown(redis_server):
    url = redis_server.url.replace(PASSWORD, "wrong-and-secret")
    with pytest.raises(StoreError) as told:
        RedisStore(url, "name", "").read("a")
    assert "wrong-and-secret" not in str(told.value)


def test_servers_of_other_names_do_not_see_each_other(redis_server):
    one, other = RedisStore(redis_server.url, "one", ""), RedisStore(redis_server.url, "other", "")
    one.add(task_of(one, "secret", lease=-1), CALL)
    assert (other.read("secret"), other.due(9)) == (None, [])


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("redis://:p%40ss@host", "p%40ss and p@ss"),
        ("redis://user:secret@host:1/0", "at secret"),
        ("redis://user:se@cret@host:1/0", "se@cret"),
        ("redis://host", "nothing"),
    ],
)
def test_no_secret_is_said(url, words):
    said = hide_secrets(f"{words} of {url}", url)
    assert not any(secret in said for secret in ("p%40ss", "p@ss", "secret", "cret"))


def test_a_word_that_is_not_an_address_hides_nothing():
    said = "Redis URL must specify one of the following schemes (redis://, rediss://, unix://)"
    assert hide_secrets(said, "redis") == said
    assert hide_secrets("no redis://host", "redis://host") == "no (its address)"


def test_memory_parses_no_other_task_for_a_new_one(monkeypatch):
    store = MemoryStore()
    for name in "abc":
        store.add(task_of(store, name, "eve"), CALL)
    monkeypatch.setattr(stores, "load_task", lambda data: pytest.fail("a task was parsed"))
    store.add(task_of(store, "d", "eve"), CALL)
