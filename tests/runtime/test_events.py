"""Changes between servers: each is told of those of the others, whatever becomes of Redis meanwhile."""

import asyncio
import importlib
import queue
import sys
import time
from contextlib import ExitStack, closing

import pytest
import redis

from mcpc_runtime.protocol.effects import PublishChange
from mcpc_runtime.server.replicas import redis as module
from mcpc_runtime.server.replicas.redis import RedisError, ReplicaEvents
from support.processes import until
from support.redises import PASSWORD, RedisServer


@pytest.fixture
def server(tmp_path):
    one = RedisServer(tmp_path / "redis")
    yield one
    one.stop()


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.05)
    monkeypatch.setattr(module, "LISTEN_SECONDS", 0.05)


class Other:
    """A server that is told of changes."""

    def __init__(self, url, name="name"):
        self.heard: queue.Queue[PublishChange] = queue.Queue()
        self.events = ReplicaEvents(url, name, "", self.heard.put)

    def close(self):
        self.events.close()

    def listens(self):
        until(lambda: self.events.listens)

    def next(self):
        event = self.heard.get(timeout=20)
        return event.kind, event.uri


def test_others_are_told_and_one_is_not_told_of_its_own(server):
    with closing(Other(server.url)) as one, closing(Other(server.url)) as other:
        one.listens(), other.listens()
        one.events.publish(PublishChange("resource", "test://é"))
        one.events.publish(PublishChange("tools"))
        assert [other.next(), other.next()] == [("resource", "test://é"), ("tools", "")]
        other.events.publish(PublishChange("prompts"))
        assert one.next() == ("prompts", "")
        assert one.heard.empty()


def test_servers_of_another_name_and_tasks_are_not_told_of(server):
    with ExitStack() as stack:
        names = ("name", "name", "other", "other")
        one, beside, other, below = (stack.enter_context(closing(Other(server.url, name))) for name in names)
        for each in (one, beside, other, below):
            each.listens()
        one.events.publish(PublishChange("tools"))
        other.events.publish(PublishChange("task", "secret"))
        other.events.publish(PublishChange("prompts"))
        assert [beside.next(), below.next()] == [("tools", ""), ("prompts", "")]
        beside.events.publish(PublishChange("resources"))
        below.events.publish(PublishChange("resources"))
        assert [one.next(), other.next()] == [("resources", "")] * 2


STRANGE = [
    b"", b"{", b"[]", b"5", b'{"kind":"tools"}', b'{"kind":"task","uri":"x"}', b'{"kind":5,"uri":""}', b"\xff",
    b'{"kind":"resource","uri":"' + b"x" * 5000 + b'"}', b'{"kind":"resource","uri":null}',
]  # fmt: skip


def test_what_nobody_of_us_says_is_passed_over(server):
    with closing(Other(server.url)) as one, redis.Redis.from_url(server.url) as stranger:
        one.listens()
        for message in STRANGE:
            stranger.publish("mcpc:{name}:changes", message)
        stranger.publish("mcpc:{name}:changes", b'{"from":"x","kind":"tools","uri":""}')
        assert one.next() == ("tools", "")


def test_redis_that_goes_away_and_comes_back_holds_up_nothing(server, monkeypatch):
    told = []
    monkeypatch.setattr(module, "log_line", told.append)
    with closing(Other(server.url)) as one, closing(Other(server.url)) as other:
        one.listens(), other.listens()
        server.stop()
        until(lambda: told and not one.events.listens and not other.events.listens)
        began = time.monotonic()
        for _ in range(5000):
            one.events.publish(PublishChange("tools"))
        assert time.monotonic() - began < 60
        assert one.events._queue.qsize() <= module.MAX_QUEUED
        server.start()
        one.listens(), other.listens()
        one.events.publish(PublishChange("resource", "test://later"))
        while other.next() != ("resource", "test://later"):
            continue
    assert not any(PASSWORD in words or server.url in words for words in told)


def test_the_package_is_imported_by_the_first_versions_of_python_3_11(monkeypatch):
    monkeypatch.setattr(module.sys, "version_info", (3, 11, 2))
    monkeypatch.delitem(sys.modules, "async_timeout", raising=False)
    assert module.redis_class("") is redis.Redis
    assert sys.modules["async_timeout"].timeout is asyncio.timeout


@pytest.mark.parametrize(("lacking", "said"), [("redis", "built without Redis"), ("async_timeout", "async_timeout")])
def test_what_cannot_be_imported_is_named(monkeypatch, lacking, said):
    monkeypatch.setitem(sys.modules, lacking, None)
    monkeypatch.setattr(module, "redis_class", lambda archive: importlib.import_module(lacking))
    with pytest.raises(RedisError, match=said):
        module.connect_redis("redis://h", "")


def test_an_address_that_is_none_is_refused_at_once():
    with pytest.raises(RedisError):
        ReplicaEvents("redis://host:port", "name", "", lambda event: None)
