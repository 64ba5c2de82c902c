"""Where requests go, and what they prove who sends them with: addresses and security as declared settings.

servers[0]                   the setting NAME_BASE_URL, with that address as its default
servers of an operation      below the same address, or a setting of their own, NAME_HOST_BASE_URL
security                     alternatives of settings, NAME_SCHEME; the first whose settings are set is used
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlsplit

from mcpc.frontends.openapi.names import variable_words
from mcpc.frontends.openapi.operations import SENT_BY_CLIENT, TOKEN
from mcpc.frontends.openapi.texts import clean_text

if TYPE_CHECKING:
    from mcpc.frontends.openapi.documents import DocumentValue
    from mcpc.frontends.openapi.operations import Operation, Reader
    from mcpc.frontends.openapi.problems import Problems

PERSONAL_FLOWS = ("authorizationCode", "password")
"""Flows of OAuth in which a person gets a refresh token."""
METADATA_NAMES = frozenset(("metadata", "metadata.google.internal", "instance-data"))
# Of AWS (IPv6), Alibaba Cloud and Oracle Cloud; the others have 169.254.169.254, which is link-local.
METADATA_ADDRESSES = frozenset(("fd00:ec2::254", "100.100.100.200", "192.0.0.192"))
LONGEST_NAME = 100
SAFE = "/%:@!$&'()*+,;=~"
"""What stands in the path of an address as it is; the rest is written in hexadecimal."""


@dataclass(slots=True)
class ApiSettings:
    """The settings of an API by name, as the description of a server has them."""

    prefix: str
    declared: dict[str, dict[str, Any]] = field(default_factory=dict)

    def declare(self, name: str, description: str, **fields: Any) -> str:
        """Declare a setting, once; return its name."""
        self.declared.setdefault(name, {"name": name, "description": description, **fields})
        return name

    def of(self, words: str) -> str:
        """Return the name of the setting for something of the document: `apiKey` is `NAME_API_KEY`."""
        own = variable_words(words) or "KEY"
        name = own if own.startswith(f"{self.prefix}_") else f"{self.prefix}_{own}"
        return name[:LONGEST_NAME].rstrip("_")


class Servers:
    """The addresses of one document."""

    def __init__(self, root: DocumentValue, settings: ApiSettings, problems: Problems, base: str = "") -> None:
        self._root = root
        self._settings = settings
        self._problems = problems
        self.default = base or self._first(root)
        self._name = f"{settings.prefix}_BASE_URL"

    def base_and_path(self, operation: Operation, path: str) -> tuple[dict[str, Any], str]:
        """Return the base of an operation's requests as a setting, and its path below that."""
        own = self._first(operation.place) or self._first(operation.item)
        if not own or own == self.default:
            return self._setting(self._name, self.default), path
        # With a slash at both ends: `/v1` is no beginning of `/v10`.
        if not urlsplit(own).netloc or (self.default and f"{own}/".startswith(f"{self.default}/")):
            return self._setting(self._name, self.default), quote(own.removeprefix(self.default), safe=SAFE) + path
        host = (urlsplit(own).hostname or "").removeprefix("www.").partition(".")[0]
        if urlsplit(own).netloc == urlsplit(self.default).netloc:
            host += urlsplit(own).path
        return self._setting(f"{self._settings.of(host)}_BASE_URL", own), path

    def _setting(self, name: str, default: str) -> dict[str, Any]:
        is_whole = bool(urlsplit(default).netloc)
        hint = f" (the document says only `{default}`)" if default and not is_whole else ""
        default_field = {"default": default} if is_whole else {}
        self._settings.declare(name, f"Address of the API{hint}", **default_field)
        return {"setting": name, **default_field}

    def _first(self, holder: DocumentValue) -> str:
        """Return the first address that an object names, without a slash at its end; nothing for one without any."""
        if "swagger" in self._root.value:
            return self._swagger_address() if holder is self._root else ""
        servers = holder.at("servers").items()
        url = servers[0].at("url").value if servers else None
        if not isinstance(url, str):
            return ""
        for name, variable in servers[0].at("variables").members():
            value = variable.at("default").value
            url = url.replace(f"{{{name}}}", str(value)) if isinstance(value, str | int) else url
        return self._judged(servers[0].at("url"), url.rstrip("/"))

    def _swagger_address(self) -> str:
        value = self._root.value
        host, path = value.get("host"), value.get("basePath")
        path = path.rstrip("/") if isinstance(path, str) else ""
        if not isinstance(host, str):
            return path
        written = value.get("schemes")
        schemes = [each for each in written if each in ("http", "https")] if isinstance(written, list) else []
        scheme = "https" if "https" in schemes or not schemes else schemes[0]
        return self._judged(self._root.at("host"), f"{scheme}://{host}{path}")

    def _judged(self, place: DocumentValue, url: str) -> str:
        """Return an address that can be a default; an empty string for others, which are reported."""
        is_path = url.startswith("/") and not url.startswith("//") and is_address(f"http://x{url}")
        if not url or is_path or is_address(url):
            return url
        message = f"`{clean_text(url, 100)}` is no address of HTTP that requests may go to: it is not used"
        self._problems.warn(place, message, f"set `{self._settings.prefix}_BASE_URL`")
        return ""


def host_of(url: str) -> str:
    """Return the host of an address, or an empty string."""
    try:
        parts = urlsplit(url)
        # `port` raises ValueError for one that is no number, or too large.
        return parts.netloc if parts.port != 0 else ""
    except ValueError:
        return ""


def is_address(url: str) -> bool:
    """Tell whether a text is an address of HTTP that can be a default."""
    parts = urlsplit(url) if host_of(url) else None
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        return False
    # Decoded twice, as by a proxy and the server behind it: `%252e` is a dot then, too.
    leads_up = any(part in (".", "..") for part in unquote(unquote(parts.path)).replace("\\", "/").split("/"))
    is_plain = url.isascii() and url.isprintable() and not set(url) & set(" {}@?#") and not leads_up
    return is_plain and not is_metadata_host(parts.hostname)


def is_metadata_host(host: str) -> bool:
    """Tell whether a host is one at which clouds tell machines their secrets."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host.rstrip(".") in METADATA_NAMES
    # `::ffff:169.254.169.254` is the same host as the address in it.
    address = getattr(address, "ipv4_mapped", None) or address
    return address.is_link_local or address.is_multicast or address.is_unspecified or str(address) in METADATA_ADDRESSES


def is_key_place(scheme: dict[str, Any]) -> bool:
    """Tell whether an API key can be where a scheme says."""
    where, name = scheme.get("in"), scheme.get("name")
    if where not in ("header", "query", "cookie") or not isinstance(name, str) or not name:
        return False
    return where == "query" or (
        TOKEN.fullmatch(name) is not None and name.lower() not in SENT_BY_CLIENT - {"authorization"}
    )


class Security:
    """The security of one document, as alternatives of credentials."""

    def __init__(self, reader: Reader, settings: ApiSettings, problems: Problems) -> None:
        self._reader = reader
        self._settings = settings
        self._problems = problems
        root = reader.root
        self._schemes = (
            root.at("securityDefinitions") if reader.is_swagger else root.at("components", "securitySchemes")
        )

    def of(self, operation: Operation) -> list[list[dict[str, Any]]]:
        """Return the alternatives of an operation."""
        # An operation's own empty list means that nothing has to be proved, and not that the document's applies.
        holder = operation.place if "security" in operation.place.value else self._reader.root
        alternatives: list[list[dict[str, Any]]] = []
        for alternative in holder.at("security").items():
            ways: list[list[dict[str, Any]]] = [[]]
            for name, scopes in alternative.members():
                ways = [[*way, row] for way in ways for row in self._rows(name, scopes)]
            alternatives += [way for way in ways if way not in alternatives]
        return alternatives

    def _rows(self, name: str, scopes: DocumentValue) -> list[dict[str, Any]]:
        """Return the ways to satisfy one scheme; an unusable one is reported."""
        place = self._reader.follow(self._schemes.at(name))
        scheme = place.value if isinstance(place.value, dict) else {}
        kind, setting = scheme.get("type"), self._settings.of(name)
        description = clean_text(scheme.get("description"), 200)
        if kind == "apiKey" and is_key_place(scheme):
            self._secret(setting, description or f"API key, sent as the {scheme['in']} `{scheme['name']}`")
            return [{scheme["in"]: scheme["name"], "setting": setting}]
        if kind == "basic" or (kind == "http" and str(scheme.get("scheme")).lower() == "basic"):
            user = self._settings.declare(f"{setting}_USER", description or "User name")
            return [{"basic": [user, self._secret(f"{setting}_PASSWORD", "Password")]}]
        if kind == "openIdConnect" or (kind == "http" and str(scheme.get("scheme")).lower() == "bearer"):
            return [{"bearer": self._secret(setting, description or "Bearer token")}]
        if kind == "oauth2":
            return self._oauth(place, setting, description, scopes)
        if kind == "mutualTLS":
            return [self._certificate(setting, description)]
        why = f"`{scheme.get('scheme', kind)}` is not known" if scheme else "it is not declared"
        return self._unknown(place if scheme else scopes, name, why)

    def _certificate(self, setting: str, description: str) -> dict[str, Any]:
        named = (("certificate", description or "Client certificate"), ("key", "Key of the client certificate"))
        words = {word: (f"{setting}_{word.upper()}", text) for word, text in named}
        return {word: self._settings.declare(name, text, type="file") for word, (name, text) in words.items()}

    def _secret(self, name: str, description: str) -> str:
        return self._settings.declare(name, description, secret=True)

    def _unknown(self, place: DocumentValue, name: str, why: str) -> list[dict[str, Any]]:
        self._problems.warn(place, f"the security scheme `{clean_text(name, 64)}` cannot be used: {why}")
        return []

    def _oauth(
        self, place: DocumentValue, setting: str, description: str, scopes: DocumentValue
    ) -> list[dict[str, Any]]:
        """Return a setting for a token, and credentials for which tokens are fetched, if the document has them.

        A refresh token comes first: whoever sets one has the settings of the client itself, too.
        """
        flows = place.at("flows")
        flow = flows.at("clientCredentials") if flows.value is not None else place
        url = flow.at("tokenUrl").value
        # Swagger 2.0 has one flow for each scheme, and calls client credentials `application`.
        is_ours = flows.value is not None or place.value.get("flow") in ("application", "clientCredentials")
        rows = self._refreshed(flows, setting, description)
        if is_ours and isinstance(url, str) and is_address(url.partition("?")[0]):
            wanted = (
                [scope for scope in scopes.value if isinstance(scope, str)] if isinstance(scopes.value, list) else []
            )
            client = self._client(setting, description)
            rows.append({"clientCredentials": {"tokenUrl": url, **client, "scopes": wanted}})
        return [*rows, {"bearer": self._secret(setting, "OAuth access token")}]

    def _refreshed(self, flows: DocumentValue, setting: str, description: str) -> list[dict[str, Any]]:
        """Return the way to exchange a refresh token that a person has, if the document says where."""
        for name in PERSONAL_FLOWS if flows.value is not None else ():
            url = flows.at(name, "refreshUrl").value
            if isinstance(url, str) and is_address(url.partition("?")[0]):
                token = self._secret(f"{setting}_REFRESH_TOKEN", "OAuth refresh token")
                return [{"refreshToken": {"tokenUrl": url, **self._client(setting, description), "token": token}}]
        return []

    def _client(self, setting: str, description: str) -> dict[str, str]:
        """Return the settings of the client that fetches tokens."""
        return {
            "id": self._settings.declare(f"{setting}_CLIENT_ID", description or "OAuth client"),
            "secret": self._secret(f"{setting}_CLIENT_SECRET", "Secret of the OAuth client"),
        }
