"""A reactor with a clock of its own, and a supervisor that starts nothing: runners are tested turn by turn."""

import os
import select
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any


class FakeReactor:
    """Keeps what is watched and due; the test says what is ready, and how time passes."""

    def __init__(self) -> None:
        self.watched: dict[int, tuple[int, Callable[[], None]]] = {}
        self.timers: list[tuple[float, int, Callable[[], None]]] = []
        self.now = 0.0
        self.expected = 0
        self.set = 0

    def clock(self) -> float:
        return self.now

    def watch(self, descriptor: int, events: int, callback: Callable[[], None]) -> None:
        self.watched[descriptor] = events, callback

    def forget(self, descriptor: int) -> None:
        self.watched.pop(descriptor, None)

    def after(self, seconds: float, callback: Callable[[], None]) -> None:
        self.set += 1
        self.timers.append((self.now + seconds, self.set, callback))

    def expect(self) -> None:
        self.expected += 1

    def ready(self, descriptor: int) -> None:
        self.watched[descriptor][1]()

    def ready_for(self, events: int) -> None:
        """Call whatever waits for some events and has them now, as one turn does."""
        poll = select.poll()
        for descriptor in self.waiting(events):
            poll.register(descriptor, events)
        for descriptor, _ in poll.poll(0):
            if descriptor in self.watched:
                self.ready(descriptor)

    def waiting(self, events: int) -> set[int]:
        return {descriptor for descriptor, (wanted, _) in self.watched.items() if wanted == events}

    @property
    def due(self) -> list[float]:
        return sorted(round(at - self.now, 6) for at, _, _ in self.timers)

    def pass_time(self, seconds: float) -> None:
        """Let time pass, and call what is due, in order."""
        end = self.now + seconds
        while due := sorted(timer for timer in self.timers if timer[0] <= end + 1e-9):
            self.timers.remove(due[0])
            self.now = max(self.now, due[0][0])
            due[0][2]()
        self.now = end


class FakeChild:
    """A process that the supervisor was asked for, with its own ends of the descriptors, as numbers that it knows."""

    def __init__(self, pid: int, argv: list[str], environment: Mapping[bytes, bytes], ends: dict[int, int]) -> None:
        self.pid = pid
        self.argv, self.environment = argv, dict(environment)
        self.ends = {number: os.dup(end) for number, end in ends.items()}
        self.ended: Callable[[int, str], None]
        self.directory = ""

    def close(self, *numbers: int) -> None:
        for number in numbers or list(self.ends):
            os.close(self.ends.pop(number))

    def die(self, status: int = 0, problem: str = "") -> None:
        """Close its descriptors, and tell of its end as the supervisor does."""
        self.close()
        self.ended(status, problem)


class FakeSupervisor:
    def __init__(self) -> None:
        self.children: list[FakeChild] = []
        self.told: list[tuple[Any, ...]] = []
        self.problems: list[OSError | None] = []

    def spawn(
        self,
        argv: list[str],
        environment: Mapping[bytes, bytes],
        descriptors: dict[int, int],
        ended: Callable[[int, str], None],
        directory: str = "",
    ) -> FakeChild:
        if self.problems and (problem := self.problems.pop(0)) is not None:
            raise problem
        child = FakeChild(100 + len(self.children), argv, environment, descriptors)
        child.ended, child.directory = ended, directory
        self.children.append(child)
        return child

    def end(self, pid: int, mark: str) -> None:
        self.told.append(("end", pid, mark))

    def end_rest(self, child: FakeChild) -> None:
        self.told.append(("end_rest", child.pid))

    def close(self) -> None:
        for child in self.children:
            child.close()


def fake_context(**image: Any) -> Any:
    """Return a context of runners with a fake reactor and supervisor; `image`: members of the image."""
    usual = {"archive": "/archive", "index": {}, "hooks": lambda name: ()}
    return SimpleNamespace(
        reactor=FakeReactor(),
        supervisor=FakeSupervisor(),
        image=SimpleNamespace(**{**usual, **image}),
        environment=lambda number: {b"N": b"%d" % number},
    )
