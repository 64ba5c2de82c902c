"""Recorded conversations: the messages of a client and of a server, line by line.

    # MCPBASH_TOOL_ALLOW_DEFAULT=allow      a variable that the server finds, in the first lines
    --> {"jsonrpc":"2.0","id":1,...}        said
    <-- {"jsonrpc":"2.0","id":1,...}        heard, all of it before the next line is said

Only the client's messages decide what happens: a conversation is replayed by sending them again, and is the same if the
text is. While a response is pending, only answers to the server's requests are sent.  The ids of these requests are not
known before; in the text they are `asked-1`, `asked-2` and so on.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from support.machines import Machine

VARIABLE, SAID, HEARD = "# ", "--> ", "<-- "
OURS = ("MCP_", "MCPBASH_", "MCPC_", "TOOLBOX_")
"""Variables that change a server: those of the machine are removed."""


def held_again(server: Path, written: str, seconds: float = 60.0, machine: Machine | None = None) -> str:
    """Send a conversation's client messages to the server, on this machine or another, and return the conversation."""
    lines = written.splitlines()
    variables = [line.removeprefix(VARIABLE) for line in lines if line.startswith(VARIABLE)]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    process = subprocess.Popen(
        ["timeout", str(seconds), *(machine.command(server) if machine else [sys.executable, str(server)])],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if machine else None,  # Python under Wine does not start without pipes
        env={**kept, **(machine.variables if machine else {}), **dict(one.split("=", 1) for one in variables)},
        text=True,
        encoding="utf-8",
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        said = [line for line in lines if line.startswith(SAID)]
        heard = list(_held(process.stdin, process.stdout, said))
    assert process.returncode == 0, f"the server ended with status {process.returncode} after {heard[-1:]}"
    return "".join(f"{line}\n" for line in (*(VARIABLE + one for one in variables), *heard))


def _held(say: IO[str], hear: IO[str], said: list[str]) -> Iterator[str]:
    """Yield the lines of the conversation, both sides of it."""
    waiting: set[object] = set()
    asked: dict[str, str] = {}
    for line in said:
        yield line
        say.write(renamed(line.removeprefix(SAID), asked) + "\n")
        say.flush()
        message = json.loads(line.removeprefix(SAID))
        waiting |= {message["id"]} if "method" in message and "id" in message else set()
        is_asked = False
        while waiting and not is_asked and (answer := hear.readline()):
            reply = json.loads(answer)
            is_asked = "method" in reply and "id" in reply
            if is_asked:
                asked[f"asked-{len(asked) + 1}"] = reply["id"]
            yield HEARD + renamed(answer.rstrip("\n"), {id_: name for name, id_ in asked.items()})
            waiting -= set() if "method" in reply else {reply.get("id")}
    say.close()
    yield from (HEARD + rest.rstrip("\n") for rest in hear)


def renamed(line: str, names: dict[str, str]) -> str:
    """Return a message under another id, if it has one of those that are known."""
    for known, name in names.items():
        line = line.replace(f'"id":{json.dumps(known)}', f'"id":{json.dumps(name)}', 1)
    return line
