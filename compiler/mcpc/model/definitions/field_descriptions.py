"""What each field of a definition means: the texts that JSON Schemas of files, hovers and completions show.

The rows are those of the checks (`mcpc.lower.protocol_schema`), by the label of the object that has the field.
"""

from __future__ import annotations

NAME_OF_CLIENTS = "A name for people, shown instead of `name`."
ICONS = "Images that clients may show, each with `src`."
RUNNING = {
    "timeout": "Seconds after which a call is ended (60 by default, at most 86400).",
    "environment": "The variables a handler gets: `inherit`, `minimal`, or names such as `API_KEY` or `AWS_*`.",
    "requires": "Programs that the handler starts, with an optional minimum version: `jq`, `git >= 2.30`.",
    "maxResult": "The longest text of a tool's result: bytes, or a size such as `64K`. What is longer is cut.",
    "task": "Whether a call may become a task (`optional`), always does (`required`), or never does (`forbidden`).",
}

DESCRIPTIONS: dict[str, dict[str, str]] = {
    "icon": {
        "src": "Where the image is: an `https:` or a `data:` address.",
        "mimeType": "Media type of the image, such as `image/png`.",
        "sizes": "Sizes of the image, such as `48x48`, or `any`.",
        "theme": "The background that the image is made for.",
    },
    "`annotations`": {
        "title": NAME_OF_CLIENTS,
        "readOnlyHint": "The tool changes nothing.",
        "destructiveHint": "The tool may delete or overwrite something.",
        "idempotentHint": "A second call with the same arguments changes nothing more.",
        "openWorldHint": "The tool reaches beyond this machine, such as the web.",
        "audience": "Who the content is for: `user`, `assistant`, or both.",
        "priority": "How important the content is, from 0 to 1.",
        "lastModified": "When the content was changed last, as an ISO 8601 time.",
    },
    "`execution`": {"taskSupport": RUNNING["task"]},
    "`mcpc/handler`": {
        **RUNNING,
        "inline": "Run a Python function in the server's own process, without a worker; `loop`: on the event loop.",
        "isolated": "Run the Bash function in a shell of its own.",
        "command": "An executable file of the project that handles calls, not a function; a list adds arguments.",
        "asks": "Requests to the client that are made before the handler runs, by the name of the answer.",
        "contract": "How a handler of another system is called.",
        "content": "The constant result: a list of content blocks.",
        "messages": "The constant result: a list of messages.",
        "contents": "The constant result: a list of contents.",
        "validate": "Whether arguments are checked against the input schema before the handler runs.",
    },
    "`mcpc/handlers`": {key: RUNNING[key] for key in ("timeout", "environment", "requires", "maxResult", "task")},
    "`mcpc/files`": {
        "exclude": "Files that are left out.",
        "include": "Files that are packed although a `.gitignore` matches them.",
    },
    "content": {
        "type": "The kind of the content block.",
        "text": "The text of a `text` block.",
        "data": "The bytes of an image or a sound, in base64.",
        "mimeType": "Media type of the data.",
        "uri": "The address of a linked resource.",
        "name": "The name of a linked resource.",
        "resource": "An embedded resource.",
    },
    "message": {"role": "Who says it: `user` or `assistant`.", "content": "What is said."},
    "contents": {
        "uri": "The URI of the content.",
        "mimeType": "Media type of the content.",
        "text": "The content as text.",
        "blob": "The content as bytes, in base64.",
    },
    "`_meta`": {
        "mcpc/defaults": "Whether defaults of the input schema are filled in before the handler runs (yes by default).",
        "mcpc/files": "Which files of the project are packed: patterns to `exclude` and to `include`.",
        "mcpc/handler": "How the handler of this definition is run; clients do not see it.",
        "mcpc/handlers": "Options for all handlers of the server; clients do not see them.",
    },
    "tool": {
        "name": "The name by which clients call the tool: 1 to 128 of `A-Z a-z 0-9 _ . -`, best at most 64.",
        "title": NAME_OF_CLIENTS,
        "description": "What the tool does and when to use it; models choose tools by it.",
        "inputSchema": "JSON Schema of the arguments: an object. Arguments are checked before the handler runs.",
        "outputSchema": "JSON Schema of the structured result, which is checked before it is sent.",
        "annotations": "Hints for clients on what a call may change.",
        "icons": ICONS,
        "execution": "How clients may run the tool: `taskSupport`.",
        "_meta": "Data for clients, and with keys `mcpc/…` options for mcpc.",
    },
    "argument": {
        "name": "The name of the argument.",
        "title": NAME_OF_CLIENTS,
        "description": "What the argument is for.",
        "required": "Whether a client must provide it.",
    },
    "prompt": {
        "name": "The name by which clients request the prompt: 1 to 128 of `A-Z a-z 0-9 _ . -`.",
        "title": NAME_OF_CLIENTS,
        "description": "What the prompt is for.",
        "arguments": "The arguments that users fill in; each value is a string.",
        "icons": ICONS,
        "_meta": "Data for clients, and with keys `mcpc/…` options for mcpc.",
    },
    "resource": {
        "uri": "The URI by which clients read the resource.",
        "name": "What the resource is called; a handler's function has its name.",
        "title": NAME_OF_CLIENTS,
        "description": "What the resource contains.",
        "mimeType": "Media type of the content.",
        "annotations": "Who the content is for, and how important it is.",
        "icons": ICONS,
        "size": "Size of the content in bytes.",
        "text": "The content itself, as text.",
        "blob": "The content itself, in base64.",
        "file": "A file of the project that has the content.",
        "root": "A folder on the serving machine whose files have the content: its path, or `$` and a variable's name.",
        "_meta": "Data for clients, and with keys `mcpc/…` options for mcpc.",
    },
    "resource template": {
        "uriTemplate": "A URI template (RFC 6570); its variables are the arguments of the handler.",
        "name": "What the resources are called; a handler's function has its name.",
        "title": NAME_OF_CLIENTS,
        "description": "What the resources contain.",
        "mimeType": "Media type of the contents.",
        "annotations": "Who the content is for, and how important it is.",
        "icons": ICONS,
        "root": "A folder on the serving machine with the contents: its path, or `$` and a variable's name.",
        "text": "Of resources only: a template needs a handler or `root`.",
        "blob": "Of resources only: a template needs a handler or `root`.",
        "file": "Of resources only: a template needs a handler or `root`.",
        "_meta": "Data for clients, and with keys `mcpc/…` options for mcpc.",
    },
    "`ref`": {
        "type": "What is completed: an argument of a prompt, or a variable of a resource template.",
        "name": "The name of the prompt.",
        "uri": "The URI template of the resource template.",
    },
    "completion": {
        "ref": "The prompt or the resource template whose argument is completed.",
        "argument": "The argument or the variable that is completed.",
        "values": "All values; without them a function computes them.",
        "_meta": "Options for mcpc: `mcpc/handler`.",
    },
    "`serverInfo`": {
        "name": "The name of the server.",
        "title": NAME_OF_CLIENTS,
        "version": "The version of the server.",
        "description": "What the server does.",
        "websiteUrl": "The address of a page about the server.",
        "icons": ICONS,
    },
    "capability": {
        "listChanged": "Clients are told when the list changes.",
        "subscribe": "Clients may ask to be told when a resource changes.",
    },
    "`capabilities`": {
        "tools": "Capabilities of the list of tools.",
        "prompts": "Capabilities of the list of prompts.",
        "resources": "Capabilities of the list of resources.",
        "completions": "The server completes arguments.",
        "logging": "The server sends log messages.",
        "experimental": "Capabilities outside the protocol.",
        "extensions": "Extensions of the protocol that the server has.",
        "tasks": "Calls may become tasks.",
    },
    "setting": {
        "name": "The environment variable that has the value.",
        "type": "The type of the value; `file` and `directory` are paths that must exist.",
        "title": NAME_OF_CLIENTS,
        "description": "What the setting is for.",
        "required": "Whether the server refuses to start without it.",
        "secret": "Whether the value is hidden where it is entered and never printed.",
        "default": "The value if none is set.",
        "choices": "The only valid values.",
    },
    "server description": {
        "protocolVersion": "The newest revision of MCP that the server offers; all earlier ones are served, too.",
        "serverInfo": "Name and version of the server.",
        "capabilities": "Capabilities beside those that follow from the definitions.",
        "instructions": "What a model should know to use the server.",
        "settings": "Values that the person who installs the server sets, such as API keys.",
        "toolsets": "Groups of tools, of which an operator can choose: patterns of names by the name of each group.",
        "_meta": "Data for clients, and with keys `mcpc/…` options for mcpc.",
    },
}


def description_of(label: str, field: str) -> str:
    """Return what a field means; an empty string for a field that no row has."""
    return DESCRIPTIONS.get(label, {}).get(field, "")
