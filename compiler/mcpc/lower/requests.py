"""Read `http` of a handler, a request as data, into the plan that the runtime interprets.

A value is a constant, or an object that says where it comes from and how it is written:

    5, "metric", [1, 2]                              a constant
    {"constant": {"a": 1}}                           one that is an object
    {"argument": "ids", "style": "pipeDelimited"}    an argument of the tool
    {"setting": "API_KEY"}                           a setting of the server

Values are never pasted into text: the plan says where each is, and the runtime encodes it for that place.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from mcpc.diagnostics.model import did_you_mean, quoted
from mcpc.lower.bash_options import names_in
from mcpc.lower.request_security import read_security
from mcpc.lower.request_values import BASE, Plan, RequestValues, Row, address_fault, is_header_text
from mcpc.model.definitions import request_node
from mcpc.model.ir import HttpHandler
from mcpc.model.ir.handlers import SettingUse
from mcpc.reading import member_of

if TYPE_CHECKING:
    from mcpc.diagnostics import Diagnostics
    from mcpc.reading import Node

PLACE = re.compile(r"\{([^{}]*)\}")
PATH = re.compile(r"/[A-Za-z0-9._~!$&'()*+,;=:@%/-]*")
FIELD = re.compile(r"[^.\[\]{},\s]+")
BODIES = ("json", "form", "multipart", "bytes", "text")
MAX_PAGES, MAX_READ = 100, 1 << 30


def request_handler(definition: Node, owner: str = "the tool") -> tuple[HttpHandler | None, Diagnostics]:
    """Return the handler of a tool that is a request, or the problems that prevent it.

    `owner`: what has the arguments, in messages.
    """
    node = request_node(definition)
    if node is None or node.kind != "object":
        return None, ()  # its type is reported with those of all fields
    reader = RequestReader(node, member_of(definition, "inputSchema", "object"), owner)
    plan = reader.read()
    if reader.problems:
        return None, tuple(reader.problems)
    return HttpHandler(plan, node.span, tuple(reader.settings)), ()


class RequestReader(RequestValues):
    """Reads one plan; `problems`: what is wrong with it."""

    def __init__(self, node: Node, schema: Node | None, owner: str) -> None:
        super().__init__({} if schema is None else names_in(schema), is_open(schema), owner)
        self._node = node

    def read(self) -> Plan:
        """Return the plan, as far as it is valid."""
        node = self._node
        method = member_of(node, "method", "string")
        plan: Plan = {"method": str(method.value) if method is not None else "", "base": self._base(), **self._rows()}
        plan["path"] = self._path()
        querystring, body = node.get("querystring"), member_of(node, "body", "object")
        if querystring is not None and (row := self.value(querystring, "querystring")) is not None:
            plan["querystring"] = row
        if body is not None:
            plan["body"] = self._body(body)
        security, uses, wrong = read_security(member_of(node, "security", "array"))
        self.problems += wrong
        self.settings += uses
        plan["security"] = security
        plan["fields"] = self._fields()
        plan["offered"] = self._offered()
        plan["max_read"] = self._number("maxRead", MAX_READ)
        plan["pages"] = self._number("pages", MAX_PAGES)
        plan["paging"] = self._paging()
        header = member_of(node, "idempotencyKey", "string")
        if header is not None:
            self.check_header(str(header.value), header.span)
            plan["idempotency"] = str(header.value)
        self._check_unused()
        return {key: value for key, value in plan.items() if value}

    def _base(self) -> tuple[str, str]:
        """Return the setting that has the base address, and the address without it."""
        node, setting = self._node.get("base"), ""
        if node is not None and node.kind == "object":
            named, node = member_of(node, "setting", "string"), node.get("default")
            if named is None:
                self.refuse(self._node.get("base") or self._node, "the base has no `setting`", BASE)
                return "", ""
            setting = str(named.value)
            self.settings.append(SettingUse(setting, named.span))
            if node is None:
                return setting, ""
        if node is None or not isinstance(node.value, str):
            self.refuse(node or self._node, "there is no base address", BASE)
            return setting, ""
        fault = address_fault(node.value)
        if fault:
            self.refuse(node, f"the base address {fault}", BASE)
        return setting, node.value

    def _rows(self) -> Plan:
        rows: Plan = {}
        for place in ("query", "headers", "cookies"):
            named = member_of(self._node, place, "object")
            rows[place] = self.rows(named, place) if named is not None else ()
            for member in named.members if named is not None and place == "headers" else ():
                self.check_header(member.key, member.key_span)
                if isinstance(member.node.value, str) and not is_header_text(member.node.value):
                    self.refuse(member.node, f"the header `{member.key}` has a line break or a control character")
        return rows

    def _path(self) -> tuple[str | tuple[str, Row], ...]:
        """Return the texts of the path, and its places with their values."""
        node, places = member_of(self._node, "path", "string"), member_of(self._node, "places", "object")
        if node is None:
            return ()
        path = str(node.value)
        # The runtime encodes what comes into a place, so that a place is as harmless as a letter.
        literal = PLACE.sub("x", path)
        # Decoded twice, because a server behind a proxy that decodes reads `%252e%252e` as `..`.
        dots = any(part in (".", "..") for part in re.split(r"[/\\]", unquote(unquote(literal))))
        if not PATH.fullmatch(literal) or dots:
            fault = "leads to another folder" if dots else "cannot be that of an address"
            self.refuse(node, f"the path `{path}` {fault}", "parts such as `/pets/{id}`, without `?` and spaces")
            return ()
        given = {member.key: member for member in places.members} if places is not None else {}
        names = PLACE.findall(path)
        for name in given.keys() - set(names):
            self.misplace(given[name].key_span, f"the path has no place `{{{name}}}`", did_you_mean(name, names))
        pieces: list[str | tuple[str, Row]] = []
        # The expression has a group, so fixed texts and the names of places alternate.
        for number, piece in enumerate(PLACE.split(path)):
            if number % 2 == 0:
                pieces += [piece] if piece else []
            elif piece in given:
                row = self.value(given[piece].node, "path")
                pieces += [(piece, row)] if row is not None else []
            elif piece in self.arguments or self.is_open:
                self.used.add(piece)
                pieces.append((piece, {"argument": piece}))
            else:
                hint = did_you_mean(piece, self.arguments, "add an argument of this name, or a value to `places`")
                self.misplace(node.span, f"the place `{{{piece}}}` of the path has no value", hint)
        return tuple(pieces)

    def _body(self, node: Node) -> Plan:
        kinds = [kind for kind in BODIES if node.get(kind) is not None]
        if len(kinds) != 1:
            message = f"the body is {quoted(kinds, ' and ')}" if kinds else "the body has no content"
            self.refuse(node, message, f"one of {quoted(BODIES)}")
            return {}
        kind = kinds[0]
        content = node.get(kind) or node
        media, required = member_of(node, "type", "string"), member_of(node, "required", "boolean")
        if media is not None and not is_header_text(str(media.value)):
            self.refuse(media, "the type of the body is not a media type")
        members = content if kind in ("form", "multipart") else None
        if kind == "json":
            members = member_of(content, "members", "object")
        value = self.value(content, kind) if members is None else self.rows(members, kind)
        row: Plan = {"kind": kind, "value": value}
        if media is not None:
            row["type"] = str(media.value)
        return {**row, "required": True} if required is not None and required.value is True else row

    def _number(self, key: str, most: int) -> int:
        node = member_of(self._node, key, "number")
        if node is None:
            return 0
        if not isinstance(node.value, int) or not 1 <= node.value <= most:
            self.refuse(node, f"`{key}` is {node.value}", f"an integer from 1 to {most:,}")
            return 0
        return node.value

    def _paging(self) -> Plan:
        """Return where the next page and the items are, as JSON Pointers, and the query that takes a cursor."""
        paging: Plan = {}
        for key in ("next", "items", "query"):
            node = member_of(member_of(self._node, "paging", "object"), key, "string")
            if node is not None and key != "query" and not str(node.value).startswith("/"):
                self.refuse(node, f"`{node.value}` is not a JSON Pointer", "one such as `/meta/next`")
            elif node is not None:
                paging[key] = str(node.value)
        return paging

    def _fields(self) -> Plan:
        """Return which members of an answer are kept: by name, None for all of one, or what is kept in it."""
        kept: Plan = {}
        node = member_of(self._node, "fields", "array")
        for item in node.items if node is not None else ():
            written = str(item.value).replace(" ", "")
            head, brace, tail = written.partition("{")
            names = tail.removesuffix("}").split(",") if brace else [""]
            paths = [(head + name).removeprefix("[].").replace("[]", "").split(".") for name in names]
            is_valid = (tail.endswith("}") and head.endswith(".")) if brace else True
            if not is_valid or not all(all(map(FIELD.fullmatch, path)) for path in paths):
                expected = "names separated by dots, such as `days[].{date,high}`"
                self.refuse(item, f"`{item.value}` is not the path of a field", expected)
                continue
            for *above, last in paths:
                place = kept
                for name in above:
                    # If all of `name` is kept already, what is in it goes into a dictionary that nothing reads.
                    inner = place.get(name)
                    place = place.setdefault(name, {}) if isinstance(inner, dict) or name not in place else {}
                place[last] = None
        return kept

    def _offered(self) -> str:
        """Return the argument that has the names of the fields to keep."""
        node = member_of(self._node, "offeredFields", "object")
        named = member_of(node, "argument", "string")
        if node is not None and (named is None or named.value not in self.arguments):
            self.refuse(named or node, "the fields to keep are no argument", '`{"argument": "fields"}`')
        elif named is not None:
            self.used.add(str(named.value))
        return "" if named is None else str(named.value)

    def _check_unused(self) -> None:
        # What could not be read may have a place for the argument.
        unused = [] if self.problems else [each for each in self.arguments.items() if each[0] not in self.used]
        for name, span in unused:
            self.misplace(span, f"the argument `{name}` is nowhere in the request", "give it a place, or remove it")


def is_open(schema: Node | None) -> bool:
    """Tell whether a schema may allow arguments that it does not name in a place where they are found."""
    return schema is None or any(schema.get(key) is not None for key in ("$ref", "$dynamicRef", "patternProperties"))
