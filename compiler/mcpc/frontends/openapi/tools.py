"""The tools of an API: for each selected operation a definition as in `tools.json`, with its request as data."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from mcpc.frontends.openapi.arguments import PLACE, OperationArguments
from mcpc.frontends.openapi.budget import shown_schema, without_texts
from mcpc.frontends.openapi.keywords import parts_of
from mcpc.frontends.openapi.names import tool_names
from mcpc.frontends.openapi.outputs import fields_argument, output_schema
from mcpc.frontends.openapi.problems import HIDDEN, Problems, UnusableError
from mcpc.frontends.openapi.selection import DECLARED, SEARCH
from mcpc.frontends.openapi.servers import SAFE
from mcpc.frontends.openapi.texts import clean_text, has_hidden, one_line
from mcpc.model.definitions import DEFAULTS_KEY, HANDLER_KEY, SHOWN_KEY, ToolDefinition
from mcpc.reading.json_tree import implied_node
from mcpc.schema.compilation import compile_schema
from mcpc.schema.subschemas import CompileRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.frontends.openapi.operations import Operation, Reader
    from mcpc.frontends.openapi.schemas import Schemas
    from mcpc.frontends.openapi.selection import Api
    from mcpc.frontends.openapi.servers import Security, Servers

READING = ("GET", "HEAD", "OPTIONS", "TRACE", "QUERY")
REMOVING = re.compile(r"(?:^|[^a-z])(?:delete|remove|cancel|revoke|purge|destroy|erase|drop)", re.IGNORECASE)
LONGEST_TITLE, LONGEST_TAG = 120, 64
DESCRIBED = 1 << 16
"""How many bytes of its input schema the description of an operation has that is not listed."""
IDEMPOTENCY = "idempotency-key"
HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


@dataclass(slots=True)
class Tools:
    """Makes the tools of one API."""

    api: Api
    reader: Reader
    schemas: Schemas
    answers: Schemas
    problems: Problems
    servers: Servers
    security: Security
    asserts_formats: bool = False
    tags: dict[str, list[str]] = field(default_factory=dict)
    """The tags of each tool that was made."""

    def of(self, operations: list[Operation]) -> Iterator[ToolDefinition]:
        """Yield a tool for each operation that can be had; report the others."""
        extensions = [self._extension(operation) for operation in operations]
        own_names = (row.get("name") for row in extensions)
        names = tool_names(
            (operation, name if isinstance(name, str) else "")
            for operation, name in zip(operations, own_names, strict=True)
        )
        for operation, row, name in zip(operations, extensions, names, strict=True):
            try:
                yield self._tool(operation, row, name)
            except UnusableError as wrong:
                self.problems.leave_out(operation.called, wrong)

    def _extension(self, operation: Operation) -> dict[str, Any]:
        """Return what the document's extensions and the API's file say about a tool."""
        extension: dict[str, Any] = {}
        for key in ("x-speakeasy-mcp", "x-mcp"):
            written = operation.place.value.get(key)
            extension |= written if isinstance(written, dict) else {}
        return extension | self._own(operation)

    def _own(self, operation: Operation) -> dict[str, Any]:
        """Return what the API's file says about a tool."""
        return {**self.api.tools.get(operation.identifier, {}), **self.api.tools.get(operation.key, {})}

    def _tool(self, operation: Operation, extension: dict[str, Any], name: str) -> ToolDefinition:
        arguments = OperationArguments(self.schemas, self.api.arguments)
        path = self._path(operation, arguments)
        body = self.reader.body(operation)
        if body is not None:
            arguments.add_body(body)
        plan = self._plan(operation, arguments, path)
        output = self._output(operation, arguments, plan)
        whole = arguments.schema()
        is_listed = self.api.expose != SEARCH
        listed = shown_schema(whole, self.api.budget if is_listed else max(self.api.budget, DESCRIBED))
        # What clients see has the texts; the schema that judges calls needs none if it is another one.
        schema = whole if is_listed and listed is whole else without_texts(whole)
        span = operation.place.document.key_span(operation.place.path)
        tool: dict[str, Any] = {
            "name": name,
            **self._texts(operation, extension),
            "inputSchema": schema,
            "annotations": hints_of(operation, extension.get("hints")),
            "_meta": {HANDLER_KEY: {"http": plan}, DEFAULTS_KEY: False},
        }
        if schema is not listed:
            tool["_meta"][SHOWN_KEY] = listed
        tool |= {} if output is None else {"outputSchema": output}
        tags = tags_of(operation, extension)
        if any(map(has_hidden, texts_in(tool))):
            raise UnusableError(operation.place, "a name or a value has characters that nobody sees")
        node = implied_node(tool, span)
        (checked,) = (member.node for member in node.members if member.key == "inputSchema")
        compiled, wrong = compile_schema(checked, CompileRequest(closed=True, assert_formats=self.asserts_formats))
        if compiled is None:
            raise UnusableError(operation.place, wrong[0].message if wrong else "its arguments cannot be checked")
        self.tags[name] = tags
        return ToolDefinition(node, tags=None if is_listed else tuple(tags))

    def _output(
        self, operation: Operation, arguments: OperationArguments, plan: dict[str, Any]
    ) -> dict[str, Any] | None:
        """Return the output schema, or offer its fields, which may then be left out of an answer."""
        offers = self.api.offers_fields and operation.method in READING and "fields" not in plan
        if not offers and (self.api.outputs != DECLARED or "fields" in plan):
            return None
        answer = self.reader.answer(operation)
        limit, problems = (DESCRIBED, Problems()) if offers else (self.api.budget, self.problems)
        output = None if answer is None else output_schema(answer, self.answers, limit, problems)
        if not offers:
            return output
        key = arguments.add("answer", "fields", fields_argument(output), is_required=False)
        plan["offeredFields"] = {"argument": key}
        return None

    def _path(self, operation: Operation, arguments: OperationArguments) -> str:
        """Add the parameters; return the path, whose places are all parameters."""
        if has_hidden(operation.path):
            raise UnusableError(operation.item, "its path has characters that nobody sees")
        # Some documents tell operations of one path apart by a query, which is sent, or a fragment, which is not.
        path, _, query = operation.path.partition("#")[0].partition("?")
        # Decoded twice, since a proxy and the server behind it may each decode once.
        plain = unquote(unquote(PLACE.sub("x", path)))
        if not path.startswith("/") or any(part in (".", "..") for part in re.split(r"[/\\]", plain)):
            raise UnusableError(operation.item, "its path is not one below the address of the API", "begin it with `/`")
        names = set(PLACE.findall(path))
        for pair in query.split("&") if query else ():
            key, _, value = pair.partition("=")
            arguments.plan.setdefault("query", {})[key] = value
        for parameter in self.reader.parameters(operation):
            if parameter.where == "path" and parameter.name not in names:
                self.problems.repair(parameter.place, "a parameter of the path is not in the path: left out")
                continue
            names.discard(parameter.name) if parameter.where == "path" else None
            if parameter.where == "header" and parameter.name.lower() == IDEMPOTENCY:
                arguments.plan["idempotencyKey"] = parameter.name
                continue
            arguments.add_parameter(parameter)
        # Places that no parameter declares, in the order of the path: a set has no order.
        for name in sorted(names, key=path.index):
            self.problems.repair(operation.item, "a place of the path is no parameter: it takes a text")
            key = arguments.add("path", name, {"type": "string"}, is_required=True)
            arguments.plan.setdefault("places", {})[name] = {"argument": key}
        pieces = PLACE.split(path)
        return "".join(f"{{{piece}}}" if at % 2 else quote(piece, safe=SAFE) for at, piece in enumerate(pieces))

    def _plan(self, operation: Operation, arguments: OperationArguments, path: str) -> dict[str, Any]:
        """Return the request of an operation as data."""
        base, path = self.servers.base_and_path(operation, path)
        plan: dict[str, Any] = {"method": operation.method, "base": base, "path": path, **arguments.plan}
        if accepted := self.reader.accepts(operation):
            plan["headers"] = {**plan.get("headers", {}), "Accept": ", ".join(accepted[:4])}
        if alternatives := self._own_auth() or self.security.of(operation):
            plan["security"] = alternatives
        own = self._own(operation)
        return {**plan, **{key: own[key] for key in ("fields", "pages") if key in own}}

    def _own_auth(self) -> list[list[dict[str, Any]]]:
        """Return the security that the API's file says instead of the document's."""
        auth = self.api.auth
        if "bearer" in auth:
            return [[{"bearer": auth["bearer"]}]]
        if "basic" in auth:
            return [[{"basic": list(auth["basic"])}]]
        return [[{key: auth[key], "setting": auth["setting"]}] for key in ("header", "query") if key in auth]

    def _texts(self, operation: Operation, extension: dict[str, Any]) -> dict[str, str]:
        """Return title and description."""
        value = operation.place.value
        title = one_line(extension.get("title") or value.get("summary"), LONGEST_TITLE)
        text = clean_text(extension.get("description") or value.get("description")) or title or operation.key
        for key in ("summary", "description"):
            if has_hidden(value.get(key)):
                self.problems.repair(operation.place.at(key), HIDDEN)
        text = f"Deprecated. {text}" if value.get("deprecated") is True else text
        return {"title": title, "description": text} if title and title != text else {"description": text}


def tags_of(operation: Operation, extension: dict[str, Any]) -> list[str]:
    """Return the scopes that the document says for models, else the tags of an operation."""
    scopes = extension.get("scopes")
    named = [each for each in scopes if isinstance(each, str)] if isinstance(scopes, list) else operation.tags
    return list(filter(None, dict.fromkeys(one_line(tag, LONGEST_TAG) for tag in named)))


def texts_in(value: Any) -> Iterator[str]:
    """Yield the texts in plain JSON, its keys among them."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            yield from each
        waiting += parts_of(each)


def hints_of(operation: Operation, own_hints: object) -> dict[str, bool]:
    """Return what clients may expect of a call, by its method; what the document says counts first."""
    method = operation.method
    removes = REMOVING.search(operation.identifier) or REMOVING.search(operation.path.rpartition("/")[2])
    hints: dict[str, bool] = {"readOnlyHint": True} if method in READING else {}
    if method in ("POST", "PATCH"):
        hints["destructiveHint"] = bool(removes)
    if method == "DELETE":
        hints["destructiveHint"] = True
    if method in ("PUT", "DELETE"):
        hints["idempotentHint"] = True
    own = {key: value for key, value in own_hints.items() if key in HINTS} if isinstance(own_hints, dict) else {}
    return {**hints, "openWorldHint": True, **{key: value for key, value in own.items() if isinstance(value, bool)}}
