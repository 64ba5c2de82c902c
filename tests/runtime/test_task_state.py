"""The course of a task, step by step: whatever happens in whatever order, the table holds and no result is lost."""

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from mcpc_runtime.protocol import tasks
from mcpc_runtime.protocol.tasks import INPUT_REQUIRED, TRANSITIONS, StaleTaskError, Task
from mcpc_runtime.server.tasks.sqlite import SqliteStore
from mcpc_runtime.server.tasks.store import MemoryStore

QUESTION = {"method": "roots/list", "params": {}}


class Tasks(RuleBasedStateMachine):
    """Clients and servers that die, at one store: the model knows what each task must have become."""

    tasks = Bundle("tasks")

    @initialize(on_disk=st.booleans())
    def open(self, on_disk):
        self.folder = tempfile.TemporaryDirectory()
        self.store = SqliteStore(str(Path(self.folder.name) / "tasks.db")) if on_disk else MemoryStore()
        self.clock = 1_000_000
        self.store.now = lambda: self.clock
        self.running: dict[tuple[str, int], bool] = {}
        self.ends: dict[str, tuple[str, object]] = {}
        self.answers: dict[str, dict[str, object]] = {}
        self.count = 0

    def teardown(self):
        self.store.close()
        self.folder.cleanup()

    def change(self, name, step):
        """Do a step; the table and what went before decide whether it may be."""
        before = self.store.read(name)
        try:
            after = self.store.change(name, step)
        except StaleTaskError:
            assert self.store.read(name).record() == before.record()
            return None
        assert after.status in TRANSITIONS[before.status]
        assert after.record() == self.store.read(name).record()
        if after.is_finished:
            self.ends[name] = after.status, after.result
        return after

    @rule(target=tasks, again=st.booleans(), queued=st.booleans())
    def create(self, again, queued):
        self.count += 1
        task = Task(f"task{self.count}", "", "tool", self.clock)
        task.again = again
        if not queued:
            task.owner, task.fence, task.begun, task.lease = "me", 1, True, self.clock + 5000
            self.running[task.identifier, 1] = True
        self.store.add(task, {"arguments": {}})
        return task.identifier

    def mine(self, name, chosen):
        """One of the fences at which a handler runs, or believes that it does."""
        fences = [fence for task, fence in self.running if task == name] or [-1]
        return fences[chosen % len(fences)]

    @rule(name=tasks, chosen=st.integers(0, 9), keys=st.sets(st.sampled_from("abc"), min_size=1))
    def ask(self, name, chosen, keys):
        fence = self.mine(name, chosen)
        self.change(name, lambda task, now: tasks.request_input(task, fence, dict.fromkeys(keys, QUESTION), now))

    @rule(name=tasks, keys=st.sets(st.sampled_from("abcz")), value=st.integers())
    def update(self, name, keys, value):
        opened = set(self.store.read(name).requests)
        after = self.change(
            name, lambda task, now: tasks.add_responses(task, {key_0: {"v": value} for key_0 in keys}, now)
        )
        for key in keys & opened if after is not None else ():
            assert key not in self.answers.setdefault(name, {}), "a key was asked twice"
            self.answers[name][key] = {"v": value}

    @rule(name=tasks, chosen=st.integers(0, 9), failed=st.booleans())
    def finish(self, name, chosen, failed):
        fence = self.mine(name, chosen)
        result = {"ran": [name, fence]}
        error = {"code": 1, "message": "no"} if failed else None
        was_over = self.store.read(name).is_finished
        after = self.change(name, lambda task, now: tasks.finish(task, fence, None if error else result, error, now))
        assert after is None or (not was_over and (name, fence) in self.running)
        self.running.pop((name, fence), None)

    @rule(name=tasks)
    def cancel(self, name):
        self.change(name, tasks.cancel)

    @rule(name=tasks, chosen=st.integers(0, 9))
    def stop_gracefully(self, name, chosen):
        fence = self.mine(name, chosen)
        after = self.change(name, lambda task, now: tasks.release(task, fence, now))
        if after is not None:
            del self.running[name, fence]

    @rule(milliseconds=st.integers(0, 20_000))
    def wait(self, milliseconds):
        self.clock += milliseconds

    @rule(name=tasks, chosen=st.integers(0, 9))
    def beat(self, name, chosen):
        fence = self.mine(name, chosen)
        now = self.store.read(name)
        renewed = self.store.renew({name: fence}, 5000)
        assert (name in renewed) == (not now.is_finished and now.fence == fence)

    @rule()
    def take_over(self):
        for task in self.store.due(10):
            known = self.store.read(task.identifier)
            after = self.change(task.identifier, lambda one, now: tasks.acquire(one, "other", now + 5000, now))
            assert after is not None and known.lease <= self.clock
            if not after.is_finished:
                assert not known.begun or known.again, "a task was run twice that must not be"
                self.running[task.identifier, after.fence] = True

    @invariant()
    def nothing_is_lost(self):
        for number in range(1, getattr(self, "count", 0) + 1):
            task = self.store.read(f"task{number}")
            assert (task.status == INPUT_REQUIRED) == bool(task.requests)
            for key, answer in self.answers.get(task.identifier, {}).items():
                assert task.answers[key] == answer
            if task.identifier in self.ends:
                assert self.ends[task.identifier] == (task.status, task.result)


TestTasks = Tasks.TestCase
TestTasks.settings = settings(
    max_examples=60, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)
