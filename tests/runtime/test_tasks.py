"""Tasks of a built server, as clients see them: over standard input and output, alone, and with others at one store."""

import json
import os
import signal
import sqlite3
import sys
import time
from contextlib import closing, contextmanager

import pytest

from support.artifact import build, carried
from support.files import write_files
from support.images import small_archive
from support.pipe_client import STATELESS, PipeClient
from support.redises import RedisServer
from support.slack import slack

pytestmark = pytest.mark.sampled(3)

EXTENSION = "io.modelcontextprotocol/tasks"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
ABLE = {"elicitation": {}, "roots": {}, "extensions": {EXTENSION: {}}}
LEASE = "1.0"
FORM = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
ASKS = {"user_name": {"method": "elicitation/create", "params": {"message": "Name?", "requestedSchema": FORM}}}
HANDLERS = """
import os, time
from mcpc import Context
FORM = {form!r}

def mark(word):
    with open(os.environ["MARKS"], "a") as marks:
        marks.write(f"{{word}}\\n")

def work(seconds=0.0, label=""):
    end = time.monotonic() + seconds
    try:
        mark(f"begin {{label}}")
        while time.monotonic() < end:
            time.sleep(0.01)
    except BaseException:
        mark(f"stopped {{label}}")
        raise
    mark(f"end {{label}}")
    return f"did {{label}} in {{os.getppid()}}"

def once(seconds=0.0, label=""):
    return work(seconds, label)

def sure(context: Context, seconds=0.0):
    answer = context.elicit("Name?", FORM, key="name")
    mark("answered")
    time.sleep(seconds)
    return f"{{answer.action}} {{answer.data}}"

def composed(context: Context):
    return "Hello, " + context.answers["user_name"]["content"]["name"]
"""


def definition(name, task="", *, again=False, properties=(), **handler):
    meta = {"mcpc/handler": {**({"task": task} if task else {}), "environment": ["MARKS"], **handler}}
    kinds = {"seconds": {"type": "number"}, "label": {"type": "string"}}
    schema = {"type": "object", "properties": {key: kinds[key] for key in properties}}
    found = {"name": name, "description": f"Tool {name}.", "inputSchema": schema, "_meta": meta}
    return {**found, "annotations": {"idempotentHint": True}} if again else found


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    both = ("seconds", "label")
    tools = [
        definition("work", "optional", again=True, properties=both),
        definition("once", "optional", properties=both),
        definition("sure", "optional", again=True, properties=("seconds",)),
        definition("composed", "required", asks=ASKS),
    ]
    files = {
        "server.json": json.dumps({"serverInfo": {"name": "tasks", "version": "1.0"}}),
        "tools.json": json.dumps({"tools": tools}),
        "tools.py": HANDLERS.format(form=FORM),
    }
    project = tmp_path_factory.mktemp("tasks") / "project"
    write_files(project, files)
    return build(project, project.parent / "server.pyz", "--redis")


class Client(PipeClient):
    """A client of one server, which can be asked and knows tasks."""

    def __init__(self, path, environment):
        self.marks = environment["MARKS"]
        self.heard = 0
        super().__init__([sys.executable, str(path)], {**os.environ, **environment}, revision=STATELESS)

    def start(self, method, able=ABLE, **params):
        meta = {CAPABILITIES: able, **params.pop("_meta", {})}
        return self.begin(method, {**params, "_meta": meta})

    def ask(self, method, able=ABLE, **params):
        return self.reply(self.start(method, able, **params))

    def result(self, method, **params):
        answer = self.ask(method, **params)
        assert "result" in answer, answer
        return answer["result"]

    def hear(self):
        """The next notification."""
        self.heard += 1
        found = self.until(lambda: [one for one in self.messages if "method" in one][self.heard - 1 :])
        return found[0]

    def task(self, tool, **arguments):
        made = self.result("tools/call", name=tool, arguments=arguments)
        assert made["resultType"] == "task", made
        return made["taskId"]

    def get(self, task):
        return self.result("tasks/get", taskId=task)

    def becomes(self, task, *statuses, seconds=20.0):
        """The task, once it has one of these statuses (by default one of those it ends with)."""
        wanted, end = statuses or ("completed", "failed", "cancelled"), time.monotonic() + seconds * slack()
        while True:
            found = self.get(task)
            if found["status"] in wanted:
                return found
            assert time.monotonic() < end, (found, self.errors)
            time.sleep(0.05)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        """Close the client's end; return the exit status."""
        self.close_input()
        return self.ends()


@contextmanager
def clients(path, folder, store="", count=1, **more):
    environment = {"MARKS": str(folder / "marks"), "MCPC_TASKS_LEASE": LEASE, "MCPC_TASKS": store, **more}
    environment.setdefault("XDG_STATE_HOME", str(folder / "state"))
    opened = []

    def start():
        opened.append(Client(path, environment))
        return opened[-1]

    try:
        yield [start() for _ in range(count)] if count > 1 else start() if count else start
    finally:
        for client in opened:
            client.close()


@pytest.fixture
def client(server, tmp_path):
    with clients(server, tmp_path) as one:
        yield one


@pytest.fixture(params=["sqlite", "redis"])
def store(request, tmp_path):
    """What several servers share."""
    if request.param == "sqlite":
        yield f"sqlite:{tmp_path}/shared/tasks.db"
        return
    redis = RedisServer(tmp_path / "redis")
    yield redis.url
    redis.stop()


def marks(client):
    try:
        with open(client.marks) as found:
            return found.read().split("\n")[:-1]
    except FileNotFoundError:
        return []


def wait_for_mark(client, mark, count=1):
    end = time.monotonic() + 60
    while marks(client).count(mark) < count:
        assert time.monotonic() < end, marks(client)
        time.sleep(0.02)


def accepted(name):
    return {"action": "accept", "content": {"name": name}}


def test_a_task_is_told_flat_and_can_be_looked_up_at_once(client):
    made = client.result("tools/call", name="work", arguments={"seconds": 0.5, "label": "x"})
    assert made["resultType"] == "task"
    assert made["status"] == "working"
    assert type(made["ttlMs"]) is int and made["ttlMs"] >= 3_600_000
    assert type(made["pollIntervalMs"]) is int and made["pollIntervalMs"] > 0
    for moment in (made["createdAt"], made["lastUpdatedAt"]):
        assert time.strptime(moment, "%Y-%m-%dT%H:%M:%S." + moment[20:23] + "Z")
    unwanted = {"task", "ttl", "pollInterval", "requestState", "result", "error", "inputRequests"}
    assert not unwanted & made.keys()
    found = client.get(made["taskId"])
    assert (found["resultType"], found["status"], found["createdAt"]) == ("complete", "working", made["createdAt"])
    assert not unwanted & found.keys()
    done = client.becomes(made["taskId"])
    assert done["status"] == "completed"
    assert done["result"]["content"][0]["text"].startswith("did x")
    assert "io.modelcontextprotocol/related-task" not in done["result"].get("_meta", {})
    assert done["ttlMs"] >= made["ttlMs"]


def test_a_request_about_a_task_is_cancelled_and_timed_as_a_call_is(server, tmp_path):
    """The store's file is locked by somebody else, so nothing can be changed in the meantime."""
    with clients(server, tmp_path, f"sqlite:{tmp_path}/shared/tasks.db") as client:
        task = client.task("work", label="x")
        client.becomes(task)
        with closing(sqlite3.connect(tmp_path / "shared/tasks.db", isolation_level=None)) as file:
            file.execute("BEGIN EXCLUSIVE")
            cancelled = client.start("tasks/cancel", taskId=task)
            client.send({"method": "notifications/cancelled", "params": {"requestId": cancelled}})
            error = client.ask("tasks/cancel", taskId=task, _meta={"mcpc/timeout": 0.2})["error"]
            file.execute("ROLLBACK")
        assert (error["code"], "its timeout is 0.2 s" in error["message"]) == (-32603, True)
        assert client.get(task)["status"] == "completed"
        assert not [one for one in client.messages if one.get("id") == cancelled]


def test_ids_cannot_be_guessed(client):
    ids = {client.task("work") for _ in range(20)}
    assert len(ids) == 20
    assert all(len(bytes.fromhex(one)) >= 16 for one in ids)


def test_a_task_is_cancelled_and_what_it_runs_ends(client):
    task = client.task("work", seconds=600, label="long")
    wait_for_mark(client, "begin long")
    for _ in range(2):
        ack = client.result("tasks/cancel", taskId=task)
        assert {key for key in ack if key != "_meta"} == {"resultType"}
        assert client.get(task)["status"] == "cancelled"
    wait_for_mark(client, "stopped long")
    assert client.get(task)["status"] == "cancelled"


def test_what_is_asked_first_is_asked_before_there_is_a_task(client):
    first = client.result("tools/call", name="composed", arguments={})
    assert (first["resultType"], "taskId" in first) == ("input_required", False)
    more = {"requestState": first["requestState"], "inputResponses": {"user_name": accepted("Alice"), "evil": {}}}
    second = client.result("tools/call", name="composed", arguments={}, **more)
    assert second["resultType"] == "task"
    assert not {"requestState", "inputRequests"} & second.keys()
    assert client.becomes(second["taskId"])["result"]["content"][0]["text"] == "Hello, Alice"


def test_a_server_that_ends_in_good_order_leaves_its_tasks_at_once(server, tmp_path):
    with clients(server, tmp_path, count=0, MCPC_TASKS_LEASE="3600") as start:
        first = start()
        again, single = first.task("work", seconds=0.1, label="w"), first.task("once", seconds=30, label="o")
        waits = first.task("sure")
        first.becomes(waits, "input_required")
        wait_for_mark(first, "begin o")
        assert first.end() == 0
        second = start()
        assert second.get(single)["status"] == "failed"
        assert second.becomes(again)["status"] == "completed"
        second.result("tasks/update", taskId=waits, inputResponses={"name": accepted("later")})
        assert "later" in second.becomes(waits)["result"]["content"][0]["text"]


@pytest.mark.slow
def test_any_server_takes_answers_and_cancels(server, tmp_path, store):
    with clients(server, tmp_path, store, count=2) as (one, other):
        task, stopped = one.task("sure"), one.task("work", seconds=600, label="s")
        assert other.becomes(task, "input_required")["inputRequests"].keys() == {"name"}
        other.result("tasks/update", taskId=task, inputResponses={"name": accepted("through the other")})
        assert "through the other" in other.becomes(task, seconds=5)["result"]["content"][0]["text"]
        wait_for_mark(one, "begin s")
        other.result("tasks/cancel", taskId=stopped)
        assert one.get(stopped)["status"] == "cancelled"
        wait_for_mark(one, "stopped s")


def test_who_listens_elsewhere_is_told(server, tmp_path, store):
    with clients(server, tmp_path, store, count=2) as (one, other):
        task = one.task("sure")
        other.becomes(task, "input_required")
        other.start("subscriptions/listen", notifications={"taskIds": [task]})
        assert other.hear()["method"] == "notifications/subscriptions/acknowledged"
        one.result("tasks/update", taskId=task, inputResponses={"name": accepted("x")})
        statuses = set()
        while "completed" not in statuses:
            statuses.add(other.hear()["params"]["status"])


def test_another_server_takes_over_from_one_that_died(server, tmp_path, store):
    with clients(server, tmp_path, store, count=2) as (one, other):
        again, single = one.task("work", seconds=1, label="w"), one.task("once", seconds=60, label="o")
        other.get(again)
        wait_for_mark(one, "begin o")
        wait_for_mark(one, "begin w")
        one.kill()
        assert other.becomes(again)["result"]["content"][0]["text"].startswith("did w")
        assert other.becomes(single)["status"] == "failed"
        assert marks(other).count("begin o") == 1


@pytest.mark.slow
def test_what_was_answered_is_not_asked_again_by_who_takes_over(server, tmp_path, store):
    with clients(server, tmp_path, store, count=2) as (one, other):
        task = one.task("sure", seconds=1.5)
        one.becomes(task, "input_required")
        one.result("tasks/update", taskId=task, inputResponses={"name": accepted("kept")})
        wait_for_mark(one, "answered")
        one.kill()
        done = other.becomes(task, "completed", "input_required", "failed")
        assert (done["status"], "kept" in str(done.get("result"))) == ("completed", True)


def stop(process, store):
    """Stop a server at a moment at which it does not hold the lock of the store's file: nobody could do anything then."""
    while True:
        process.send_signal(signal.SIGSTOP)
        os.waitpid(process.pid, os.WUNTRACED)  # all its threads have stopped
        if not store.startswith("sqlite:") or is_free(store.removeprefix("sqlite:")):
            return
        process.send_signal(signal.SIGCONT)
        time.sleep(0.01)


def is_free(path):
    """Tell whether the lock of a file of SQLite can be had, soon."""
    with closing(sqlite3.connect(path, timeout=2, isolation_level=None)) as file:
        try:
            file.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            return False
        file.execute("ROLLBACK")
        return True


@pytest.mark.slow
def test_who_was_away_too_long_finds_its_task_with_another_and_changes_nothing(server, tmp_path, store):
    """Stop the owner's process longer than its lease: when it goes on, what it brings is refused."""
    with clients(server, tmp_path, store, count=2) as (one, other):
        task = one.task("work", seconds=0.6, label="w")
        other.get(task)
        wait_for_mark(one, "begin w")
        stop(one.process, store)
        done = other.becomes(task)
        assert done["status"] == "completed"
        one.process.send_signal(signal.SIGCONT)
        assert [one.get(task) for _ in range(5)] == [done] * 5
        assert other.get(task) == done


def test_two_servers_share_the_work_and_nothing_is_done_twice(server, tmp_path, store):
    with clients(server, tmp_path, store, count=2) as both:
        tasks = [both[number % 2].task("work", seconds=0.01, label=str(number)) for number in range(30)]
        for number, task in enumerate(tasks):
            assert both[1 - number % 2].becomes(task)["result"]["content"][0]["text"].startswith(f"did {number} ")
        assert sorted(marks(both[0])) == sorted(f"{word} {number}" for number in range(30) for word in ("begin", "end"))


@pytest.mark.slow
def test_redis_that_goes_away_while_a_task_runs_loses_nothing(server, tmp_path):
    redis = RedisServer(tmp_path / "redis")
    with clients(server, tmp_path, redis.url, MCPC_TASKS_LEASE="60") as client:
        ends, single = client.task("work", seconds=1, label="w"), client.task("once", seconds=1, label="o")
        wait_for_mark(client, "begin o")
        wait_for_mark(client, "begin w")
        redis.stop()
        error = client.ask("tasks/get", taskId=ends)["error"]
        assert (error["code"], error["message"]) == (-32603, "Internal error: the task cannot be read")
        error = client.ask("tools/call", name="work", arguments={"label": "refused"})["error"]
        assert (error["code"], "cannot be stored" in error["message"]) == (-32603, True)
        wait_for_mark(client, "end o")
        redis.start()
        assert client.becomes(ends)["result"]["content"][0]["text"].startswith("did w")
        assert client.becomes(single)["result"]["content"][0]["text"].startswith("did o")
        assert "begin refused" not in marks(client)
        assert client.said(b"Redis")
        assert redis.url.encode() not in client.errors and b"s3cret" not in client.errors
    redis.stop()


def test_a_server_without_redis_says_how_to_have_it(tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    (project / "server.json").write_text(json.dumps({"serverInfo": {"name": "tasks", "version": "1.0"}}))
    (project / "tools.json").write_text(json.dumps({"tools": [definition("plain", "optional")]}))
    (project / "tools.py").write_text("def plain():\n    return 'plain'\n")
    path = build(project, tmp_path / "server.pyz")
    assert not [name for name in carried(path) if "tasks/redis" in name or name.endswith("/events.py")]
    with clients(path, tmp_path, "redis://:hidden@127.0.0.1:1") as client:
        error = client.ask("tools/call", name="plain", arguments={})["error"]
        assert error["code"] == -32603
        assert client.said(b"built without Redis")
        assert b"hidden" not in client.errors and "hidden" not in error["message"]


def test_a_server_whose_tools_are_no_tasks_carries_nothing_of_them(tmp_path):
    (tmp_path / "server.pyz").write_bytes(small_archive().data)
    names = carried(tmp_path / "server.pyz")
    assert not [name for name in names if "tasks" in name or name.endswith(("/task_state.py", "/redis.py"))]
