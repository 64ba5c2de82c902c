"""List the clients of this machine, the servers that each has, and whether what they start still exists.

Links that add a server to a client, and badges for a README: for servers that are the same on every machine.
"""

from __future__ import annotations

import json
import os
from base64 import b64encode
from typing import Any, NamedTuple
from urllib.parse import quote

from mcpc_runtime.tools.clients import messages
from mcpc_runtime.tools.clients.entries import ServerEntry, client_entry
from mcpc_runtime.tools.clients.installing import all_targets
from mcpc_runtime.tools.clients.request import InvalidRequestError
from mcpc_runtime.tools.clients.table import CLIENTS, USER, client_file, is_installed
from mcpc_runtime.tools.clients.text_edits import CannotEditError, Entry
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.program_search import find_program

COMMANDS = ("command", "cmd")
URLS = ("url", "httpUrl", "serverUrl", "uri")
ARCHIVE = (".pyz", ".py")


class ServerRow(NamedTuple):
    """A server of a client; values of variables and headers are left out, since they may be secret."""

    name: str
    command: str
    url: str
    missing: str


def server_rows(entries: dict[str, Entry]) -> list[ServerRow]:
    """Return the servers of a file."""
    return [server_row(name, entry) for name, entry in entries.items()]


def server_row(name: str, entry: Entry) -> ServerRow:
    """Return one server."""
    words: list[Any] = []
    for value in (*(entry.get(field) for field in COMMANDS), entry.get("args")):
        words += value if isinstance(value, list) else [value] if isinstance(value, str) else []
    url = next((str(entry[field]) for field in URLS if entry.get(field)), "")
    texts = [word for word in words if isinstance(word, str)]
    # The query of a URL may contain a token.
    return ServerRow(name, texts[0] if texts else "", url.partition("?")[0], missing_file(texts))


def missing_file(words: list[str]) -> str:
    """Return the program or file of a command that does not exist, or an empty text."""
    if words and not (os.path.exists(words[0]) if os.path.isabs(words[0]) else find_program(words[0], system.environ)):
        return words[0]
    # Only the arguments that are archives are known to be files: any other may be anything.
    files = [word for word in words[1:] if os.path.isabs(word) and word.endswith(ARCHIVE)]
    return next((word for word in files if not os.path.exists(word)), "")


def client_rows(folder: str) -> list[dict[str, Any]]:
    """Return the clients that are on this machine or have a file in a project's folder."""
    rows: list[dict[str, Any]] = []
    targets = all_targets(folder)
    present = {target.label for target in targets}
    for target in targets:
        row: dict[str, Any] = {"client": target.label, "title": target.client.title, "scope": target.scope}
        row |= {"path": target.path, "servers": [], "problem": ""}
        try:
            row["servers"] = [server._asdict() for server in server_rows(target.entries())]
        except CannotEditError as problem:
            row["problem"] = str(problem)
        except OSError as problem:
            row["problem"] = problem.strerror or str(problem)
        rows.append(row)
    for label, client in CLIENTS.items():
        if label not in present and is_installed(client):
            path = client_file(client, USER)
            rows.append(
                {"client": label, "title": client.title, "scope": USER, "path": path, "servers": [], "problem": ""}
            )
    order = [*CLIENTS]
    # False comes first: the user's file before the project's.
    return sorted(rows, key=lambda row: (order.index(row["client"]), row["scope"] != USER))


class LinkForm(NamedTuple):
    """A link with `{name}`, and with the entry as one of: percent-encoded JSON, with its name or without, or base64.

    `web`: the same as a page, since GitHub and others remove links of other schemes.
    """

    link: str
    web: str
    colour: str


LINKS = {
    "vscode": LinkForm(
        "vscode:mcp/install?{named_json}",
        "https://insiders.vscode.dev/redirect/mcp/install?name={name}&config={json}{inputs}",
        "0098FF",
    ),
    "vscode-insiders": LinkForm(
        "vscode-insiders:mcp/install?{named_json}",
        "https://insiders.vscode.dev/redirect/mcp/install?name={name}&config={json}{inputs}&quality=insiders",
        "24bfa5",
    ),
    "cursor": LinkForm(
        "cursor://anysphere.cursor-deeplink/mcp/install?name={name}&config={base64}",
        "https://cursor.com/install-mcp?name={name}&config={base64}",
        "000000",
    ),
    "lm-studio": LinkForm(
        "lmstudio://add_mcp?name={name}&config={base64}",
        "https://lmstudio.ai/install-mcp?name={name}&config={base64}",
        "5b3df5",
    ),
    "kiro": LinkForm(
        "https://kiro.dev/launch/mcp/add?name={name}&config={json}",
        "https://kiro.dev/launch/mcp/add?name={name}&config={json}",
        "9046ff",
    ),
    "goose": LinkForm("goose://extension?{goose}", "", "101010"),
}
BADGE = "[![Add to {title}](https://img.shields.io/badge/{label}-{colour})]({link})"


def link(label: str, server: ServerEntry) -> str:
    """Return the link that adds a server to a client."""
    return with_entry(link_form(label).link, label, server)


def badge(label: str, server: ServerEntry) -> str:
    """Return Markdown with an image that is a link."""
    form = link_form(label)
    title = CLIENTS[label].title
    words = quote(f"Add_to-{title}".replace(" ", "_"))
    return BADGE.format(
        title=title, label=words, colour=form.colour, link=with_entry(form.web or form.link, label, server)
    )


def link_form(label: str) -> LinkForm:
    """Return the form of a client's links."""
    if label not in LINKS:
        raise InvalidRequestError(messages.NO_LINK.format(client=label, names=", ".join(LINKS)))
    return LINKS[label]


def with_entry(form: str, label: str, server: ServerEntry) -> str:
    """Return a link with a server's entry."""
    has_values = any(variable.value is not None for variable in server.variables)
    if "{goose}" in form and (server.url or has_values):
        what = "to URLs" if server.url else "with values of variables"
        raise InvalidRequestError(messages.NO_LINK_OF_KIND.format(client=CLIENTS[label].title, what=what))
    entry = client_entry(CLIENTS[label], server, USER)
    fields: dict[str, Any] = entry.fields
    named: dict[str, Any] = {"name": server.name, **fields}
    if entry.inputs:
        named["inputs"] = list(entry.inputs)
    inputs = f"&inputs={percent(as_json(list(entry.inputs)))}" if entry.inputs else ""
    return form.format(
        name=percent(server.name),
        json=percent(as_json(fields)),
        named_json=percent(as_json(named)),
        base64=percent(b64encode(as_json(fields).encode()).decode()),
        inputs=inputs,
        goose=goose_query(server),
    )


def goose_query(server: ServerEntry) -> str:
    """Return the query of a link for Goose, which has no variables; for a URL its form is not known."""
    rows = [("cmd", server.command), *(("arg", word) for word in server.arguments)]
    rows += [("id", server.name), ("name", server.name), ("description", server.name)]
    return "&".join(f"{key}={percent(value)}" for key, value in rows)


def as_json(value: object) -> str:
    """Return a value as JSON without blanks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def percent(text: str) -> str:
    """Return a text with all reserved characters escaped."""
    return quote(text, safe="")
