"""The table of everything mcpc can find wrong: a code never changes its meaning, and every code is explained.

Families: 0xx files and encodings, 1xx definitions and schemas, 2xx handlers, 3xx servers and protocol, 4xx packages,
5xx portability, 7xx security.
"""

from __future__ import annotations

from dataclasses import dataclass
from pkgutil import get_data


@dataclass(frozen=True, slots=True)
class Code:
    """A row: how severe, and what it is called.  `pages/` says why it matters and how to mend it."""

    severity: str
    title: str


CODES: dict[str, Code] = {
    "MCP001": Code("error", "the file is not valid UTF-8"),
    "MCP002": Code("error", "the file is not valid JSON"),
    "MCP003": Code("error", "a key stands twice in one object"),
    "MCP004": Code("error", "a file that must be there is missing"),
    "MCP005": Code("error", "a file lies outside the project"),
    "MCP006": Code("error", "a file cannot be read"),
    "MCP007": Code("error", "a number that JSON cannot carry exactly"),
    "MCP008": Code("error", "a file is too large or nested too deeply"),
    "MCP009": Code("error", "no project was recognised here"),
    "MCP010": Code("warning", "the file begins with a byte order mark"),
    "MCP101": Code("error", "a field has the wrong type"),
    "MCP102": Code("error", "a field is missing"),
    "MCP103": Code("warning", "a field the protocol does not know"),
    "MCP104": Code("error", "two definitions have one name"),
    "MCP105": Code("error", "a name the protocol does not allow"),
    "MCP106": Code("warning", "a name that some clients refuse"),
    "MCP107": Code("error", "a value the protocol does not allow"),
    "MCP108": Code("warning", "a description is missing"),
    "MCP110": Code("error", "a schema is not valid JSON Schema"),
    "MCP111": Code("error", "a schema keyword in the form of another draft"),
    "MCP112": Code("error", "a schema dialect is not supported"),
    "MCP113": Code("error", "a schema reference leads nowhere"),
    "MCP114": Code("error", "a pattern cannot be compiled"),
    "MCP115": Code("error", "an input schema must describe an object"),
    "MCP116": Code("warning", "an output schema that older clients cannot be shown"),
    "MCP117": Code("error", "a schema reference never makes progress"),
    "MCP118": Code("warning", "a pattern that can take exponential time"),
    "MCP119": Code("note", "a pattern that takes long on long texts"),
    "MCP121": Code("error", "a default that its own schema refuses"),
    "MCP122": Code("error", "an example that its own schema refuses"),
    "MCP123": Code("error", "a default that cannot be filled in"),
    "MCP201": Code("error", "the function that implements a definition is missing"),
    "MCP202": Code("warning", "a function implements no definition"),
    "MCP203": Code("note", "a Bash function is not exported"),
    "MCP204": Code("error", "the Bash file has a syntax error"),
    "MCP205": Code("error", "the Python file has a syntax error"),
    "MCP206": Code("error", "a function's signature does not fit its schema"),
    "MCP207": Code("error", "two functions implement one definition"),
    "MCP208": Code("error", "one function would implement two definitions"),
    "MCP209": Code("error", "a module is imported that will not be there"),
    "MCP210": Code("warning", "the Bash file was not checked"),
    "MCP211": Code("warning", "a Bash library takes `$0` for its own place"),
    "MCP212": Code("warning", "a Bash library ends the shell that reads it"),
    "MCP213": Code("warning", "no model can be made of a schema"),
    "MCP214": Code("error", "a function asks for a model that it cannot have"),
    "MCP215": Code("warning", "a file of models is out of date"),
    "MCP216": Code("error", "a file with marked functions cannot be imported"),
    "MCP217": Code("error", "a type that has no form in JSON"),
    "MCP218": Code("error", "a parameter that no client can fill"),
    "MCP219": Code("error", "something that mcpc does not have"),
    "MCP220": Code("error", "a mark that cannot be followed"),
    "MCP221": Code("error", "a mark says something it cannot say"),
    "MCP222": Code("warning", "a mark says something that has no effect"),
    "MCP223": Code("error", "a definition that would be another at each build"),
    "MCP224": Code("warning", "a function is marked in a file that defines nothing"),
    "MCP225": Code("warning", "an argument that has no shell variable"),
    "MCP226": Code("warning", "a shell variable that holds no argument"),
    "MCP230": Code("error", "an asynchronous function cannot run in the server's own process"),
    "MCP231": Code("warning", "a handler reads a variable that it will not find"),
    "MCP237": Code("error", "a word about running handlers that mcpc does not know"),
    "MCP238": Code("error", "a time limit that cannot be kept"),
    "MCP239": Code("error", "a variable of the environment that cannot be named so"),
    "MCP240": Code("error", "a required program that cannot be understood"),
    "MCP241": Code("warning", "a required program is not on this machine"),
    "MCP242": Code("error", "a handler that cannot be run in the way it asks for"),
    "MCP243": Code("error", "a command that is no file of the project"),
    "MCP244": Code("error", "a command that the system cannot run"),
    "MCP245": Code("error", "a definition with both a command and a function"),
    "MCP246": Code("note", "a command that runs on one kind of machine"),
    "MCP301": Code("error", "a protocol version that does not exist"),
    "MCP302": Code("warning", "a capability the server will not have"),
    "MCP401": Code("error", "a requirement that cannot be read"),
    "MCP402": Code("error", "a requirement that leads outside the project and the registry"),
    "MCP403": Code("error", "requirements that contradict each other"),
    "MCP404": Code("warning", "a requirement without an exact version"),
    "MCP405": Code("error", "packages could not be installed"),
    "MCP406": Code("error", "a platform that a server cannot be built for"),
    "MCP407": Code("error", "a package that cannot be carried"),
    "MCP501": Code("error", "a Bash file has Windows line endings"),
    "MCP502": Code("error", "two file names differ only in case"),
    "MCP701": Code("error", "a character that hides or reorders text shown to a model"),
}


def explain(code: str) -> str:
    """Return the page `mcpc explain` shows for `code`; raise KeyError if there is no such code."""
    row = CODES[code]
    return f"{code} ({row.severity}): {row.title}\n\n{page(code)}"


def page(code: str) -> str:
    """Return the text, in Markdown, that says why `code` matters and how to mend it."""
    # Not importlib.resources, which costs every start of mcpc ten milliseconds for a page that is seldom read.
    data = get_data("mcpc.diagnostics", f"pages/{code}.md")
    if data is None:
        raise FileNotFoundError(f"no page of {code}")
    return data.decode()
