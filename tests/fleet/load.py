"""Clients that try again where a failure says that they may, and judge every answer they get.

A failure that may be retried is a connection that breaks and the status 502, 503 or 504; anything else that is not the
right answer is a wrong one.
"""

import http.client
import json
import random
import threading
import time
from dataclasses import dataclass, field
from typing import Any

RETRIED = (502, 503, 504)
PATIENCE_SECONDS = 60
TASKS = "io.modelcontextprotocol/tasks"
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}, "extensions": {TASKS: {}}},
}
PLAIN = {**META, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}}


class WrongError(Exception):
    """An answer that is not the right one, nor a failure that may be retried."""


@dataclass
class Tally:
    """What became of everything that was asked.  `lost`: tasks that were promised and never ended."""

    done: dict[str, int] = field(default_factory=dict)
    retried: int = 0
    wrong: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, kind: str) -> None:
        """Count something that went well."""
        with self.lock:
            self.done[kind] = self.done.get(kind, 0) + 1


class Client:
    """One client: a connection, opened again whenever it broke."""

    def __init__(self, port: int, tally: Tally, seed: int) -> None:
        self.port = port
        self.tally = tally
        self.random = random.Random(seed)
        self.connection: http.client.HTTPConnection | None = None
        self.number = 0

    def request(self, method: str, params: dict[str, Any], headers: dict[str, str]) -> tuple[int, Any, Any]:
        """POST one request until it is answered; return status, headers and message."""
        self.number += 1
        body = json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                status, told, data = self._once(body, headers)
            except (OSError, http.client.HTTPException):
                self.close()
            else:
                if status not in RETRIED:
                    return status, told, message_of(data, told.get("content-type", ""))
            if time.monotonic() > end:
                raise WrongError(f"{method}: no answer for {PATIENCE_SECONDS} s")
            with self.tally.lock:
                self.tally.retried += 1
            time.sleep(0.05)

    def _once(self, body: str, headers: dict[str, str]) -> tuple[int, Any, bytes]:
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=40)
        fixed = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        self.connection.request("POST", "/mcp", body, {**fixed, **headers})
        reply = self.connection.getresponse()
        data = reply.read()
        if reply.headers.get("content-type", "").startswith("text/event-stream") and not any_answer(data):
            raise http.client.IncompleteRead(data)
        return reply.status, reply.headers, data

    def close(self) -> None:
        """Let go of the connection."""
        if self.connection is not None:
            self.connection.close()
        self.connection = None

    def modern(self, method: str, params: dict[str, Any], meta: dict[str, Any] = META) -> Any:
        """Return the result of a request of the stateless era; raise WrongError for an error."""
        name = params.get("name") or params.get("taskId") or ""
        headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, **({"Mcp-Name": name} if name else {})}
        status, _, message = self.request(method, {**params, "_meta": meta}, headers)
        if status != 200 or "result" not in message:
            raise WrongError(f"{method} {params.get('name', '')}: {status} {message}")
        return message["result"]


def message_of(data: bytes, kind: str) -> Any:
    """The answer in a body, be it JSON or the last event of a stream."""
    if kind.startswith("text/event-stream"):
        return any_answer(data)
    try:
        return json.loads(data)
    except ValueError:
        return {"body": data.decode(errors="replace")}


def any_answer(data: bytes) -> Any:
    """The response among the events of a stream, None if it has none."""
    for line in data.decode().splitlines():
        if line.startswith("data:") and line[5:].strip():
            message = json.loads(line[5:])
            if "id" in message and ("result" in message or "error" in message):
                return message
    return None


def text_of(result: Any) -> str:
    if result.get("isError") or result.get("resultType") != "complete":
        raise WrongError(f"not a complete result: {result}")
    return result["content"][0]["text"]


def expect(found: Any, wanted: Any) -> None:
    """Raise Wrong unless both are equal."""
    if found != wanted:
        raise WrongError(f"{found!r} in place of {wanted!r}")


def add(client: Client) -> None:
    """Ask for a sum."""
    a, b = client.random.randrange(10**6), client.random.randrange(10**6)
    expect(text_of(client.modern("tools/call", {"name": "add", "arguments": {"a": a, "b": b}}, PLAIN)), str(a + b))


def greet(client: Client) -> None:
    """Be asked for a name, and answer: each round may meet another replica."""
    name = f"client {client.random.randrange(10**9)}"
    asked = client.modern("tools/call", {"name": "greet", "arguments": {}}, PLAIN)
    expect((asked["resultType"], list(asked["inputRequests"])), ("input_required", ["name"]))
    answers = {"name": {"action": "accept", "content": {"name": name}}}
    given = {"name": "greet", "arguments": {}, "requestState": asked["requestState"], "inputResponses": answers}
    expect(text_of(client.modern("tools/call", given, PLAIN)), f"Hello, {name}!")


def compute(client: Client) -> None:
    """Have a task run, and wait for it, whatever happens to the replica that runs it."""
    label = f"label {client.random.randrange(10**9)}"
    arguments = {"seconds": client.random.random() * 2, "label": label}
    task = client.modern("tools/call", {"name": "compute", "arguments": arguments})
    expect(text_of(ended(client, task)), f"computed {label}")


def forget(client: Client) -> None:
    """Answer what a task asks."""
    label, sure = f"label {client.random.randrange(10**9)}", client.random.random() < 0.5
    task = client.modern("tools/call", {"name": "forget", "arguments": {"label": label}})
    responses = {"sure": {"action": "accept", "content": {"sure": sure}}}
    expect(text_of(ended(client, task, responses)), f"{'forgot' if sure else 'kept'} {label}")


def ended(client: Client, task: Any, responses: Any = None) -> Any:
    """Return the result of a task; what it asks is answered."""
    expect(task["resultType"], "task")
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        found = client.modern("tasks/get", {"taskId": task["taskId"]})
        if found["status"] == "completed":
            return {"resultType": "complete", **found["result"]}
        if found["status"] == "input_required" and responses is not None:
            client.modern("tasks/update", {"taskId": task["taskId"], "inputResponses": responses})
        elif found["status"] not in ("working", "input_required"):
            raise WrongError(f"a task ended {found['status']}: {found}")
        time.sleep(0.05)
    with client.tally.lock:
        client.tally.lost.append(task["taskId"])
    raise WrongError(f"the task {task['taskId']} does not end")


def legacy(client: Client) -> None:
    """Hold a conversation of the handshake era: its session is known to every replica."""
    start = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "load", "version": "1"}}
    status, headers, _ = client.request("initialize", start, {})
    expect(status, 200)
    session = {"Mcp-Session-Id": headers["mcp-session-id"], "MCP-Protocol-Version": "2025-11-25"}
    for _ in range(3):
        a = client.random.randrange(10**6)
        status, _, message = client.request("tools/call", {"name": "add", "arguments": {"a": a, "b": 1}}, session)
        if status != 200 or "result" not in message:
            raise WrongError(f"legacy tools/call: {status} {message}")
        expect(message["result"]["content"][0]["text"], str(a + 1))


QUICK = (*(add,) * 12, *(greet,) * 6, *(legacy,) * 2)
"""What half of the clients do, as often as it stands here."""
TASKED = (compute, forget)
"""What the others do."""
KINDS = {*QUICK, *TASKED}


def worker(port: int, tally: Tally, seed: int, over: threading.Event) -> None:
    """Ask one thing after the other until it is over."""
    client = Client(port, tally, seed)
    while not over.is_set():
        kind = client.random.choice((QUICK, TASKED)[seed % 2])
        try:
            kind(client)
        except Exception as problem:  # noqa: BLE001 - whatever goes wrong is a wrong answer
            with tally.lock:
                tally.wrong.append(f"{kind.__name__}: {type(problem).__name__}: {problem}"[:500])
        else:
            tally.count(kind.__name__)
    client.close()


def load(port: int, tally: Tally, workers: int, over: threading.Event) -> list[threading.Thread]:
    threads = [threading.Thread(target=worker, args=(port, tally, seed, over)) for seed in range(workers)]
    for thread in threads:
        thread.start()
    return threads
