"""Stores of tasks, and requests about tasks, with a clock of the test's (`*.txt`); all stores do the same."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from mcpc_runtime.protocol import effects, tasks
from mcpc_runtime.server.tasks import manager, open_store, owned, redis, sqlite, store
from support import protocol_servers
from support.dialogues import Dialogue
from support.expressions import check_expressions
from support.needs import ROOT
from support.redises import RedisServer

GOLDEN = ROOT / "tests" / "golden" / "runtime" / "tasks"
CLOCK = [1000.0]


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time in seconds, in a list."""
    CLOCK[:] = [1000.0]
    for module in (store, sqlite):
        monkeypatch.setattr(module, "time", lambda: CLOCK[0])
    return CLOCK


def expired_now(opened: Any) -> None:
    """Do what Redis does itself: remove what has expired, without the margin."""
    for key in opened._redis.scan_iter("*task:*"):
        if opened._redis.pexpiretime(key) - redis.MARGIN_MS <= CLOCK[0] * 1000:
            opened._redis.delete(key)


@pytest.mark.parametrize("kind", ["memory", "sqlite", "redis"])
def test_stores(
    golden: Callable[[Path, str], None], kind: str, tmp_path: Path, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    known: dict[str, Any] = {"clock": clock, "stores": store, "patch": monkeypatch, "expire": lambda: None}
    with ExitStack() as ended:
        if kind == "redis":
            server = RedisServer(tmp_path / "redis")
            ended.callback(server.stop)
            monkeypatch.setattr(redis, "MARGIN_MS", 1 << 42)
            monkeypatch.setattr(redis.RedisStore, "now", lambda _: int(clock[0] * 1000))
            opened: Any = redis.RedisStore(server.url, "name", "")
            known["expire"] = lambda: expired_now(opened)
        else:
            opened = store.MemoryStore() if kind == "memory" else sqlite.SqliteStore(str(tmp_path / "folder/tasks.db"))
        ended.callback(opened.close)
        check_expressions(golden, GOLDEN / "stores.txt", tasks, store=opened, **known)


@pytest.mark.parametrize(
    ("subject", "module"),
    [("client_requests", owned), ("open_store", open_store), ("operations", manager), ("replay", owned), ("store", store)],
)  # fmt: skip
def test_values(
    golden: Callable[[Path, str], None],
    subject: str,
    module: ModuleType,
    clock: list[float],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    logged: list[str] = []
    monkeypatch.setattr(open_store, "log_line", logged.append)
    known: dict[str, Any] = {
        "Dialogue": Dialogue, "clock": clock, "patch": monkeypatch, "folder": tmp_path, "logged": logged,
    }  # fmt: skip
    path = GOLDEN / f"{subject}.txt"
    check_expressions(golden, path, protocol_servers, effects, tasks, store, module, stores=store, **known)
