"""An authorization server for tests: real keys, real HTTP on this machine, and faults on demand."""

import base64
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

MADE = {
    "rsa": lambda: rsa.generate_private_key(65537, 2048),
    "weak": lambda: rsa.generate_private_key(65537, 1024),
    "ec": lambda: ec.generate_private_key(ec.SECP256R1()),
    "ec384": lambda: ec.generate_private_key(ec.SECP384R1()),
    "ed": ed25519.Ed25519PrivateKey.generate,
}
ALGORITHMS = {"rsa": "RS256", "weak": "RS256", "ec": "ES256", "ec384": "ES384", "ed": "EdDSA"}


class Key:
    """A private key, and what is published of it."""

    def __init__(self, kind: str, kid: str) -> None:
        self.kind, self.kid = kind, kid
        self.private: Any = MADE[kind]()

    @property
    def published(self) -> dict[str, Any]:
        made = jwt.get_algorithm_by_name(ALGORITHMS[self.kind]).to_jwk(self.private.public_key(), as_dict=True)
        kept = {name: made[name] for name in ("kty", "n", "e", "crv", "x", "y") if name in made}
        return {**kept, "kid": self.kid, "use": "sig"}

    def sign(self, claims: dict[str, Any], algorithm: str = "", **headers: Any) -> str:
        named = {"kid": self.kid, "typ": "at+jwt", **headers}
        return jwt.encode(claims, self.private, algorithm or ALGORITHMS[self.kind], headers=named)


def raw_token(header: object, claims: object, signature: bytes = b"") -> str:
    parts = [json.dumps(part).encode() for part in (header, claims)]
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in (*parts, signature))


class Issuer:
    """What it answers at each path: (status, headers, body), or a function of the request's body that returns that."""

    def __init__(self) -> None:
        self.keys = [Key("rsa", "one"), Key("ec", "two"), Key("ed", "three")]
        self.asked: list[tuple[str, bytes, dict[str, str]]] = []
        self.answers: dict[str, Any] = {"/jwks": lambda _: self.jwks(), "/introspect": self.introspect}
        self.active: dict[str, dict[str, Any]] = {}
        self.url = ""

    def jwks(self) -> tuple[int, dict[str, str], bytes]:
        return 200, {}, json.dumps({"keys": [key.published for key in self.keys]}).encode()

    def introspect(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        (token,) = parse_qs(body.decode())["token"]
        known = self.active.get(token)
        return 200, {}, json.dumps({"active": False} if known is None else {"active": True, **known}).encode()

    def count(self, path: str) -> int:
        return sum(asked == path for asked, _, _ in self.asked)

    def claims(self, **changed: Any) -> dict[str, Any]:
        now = int(time.time())
        usual = {"iss": self.url, "aud": "https://mcp.example.com/mcp", "sub": "alice", "iat": now, "exp": now + 300}
        return {name: value for name, value in {**usual, **changed}.items() if value is not None}

    def token(self, number: int = 0, algorithm: str = "", **changed: Any) -> str:
        return self.keys[number].sign(self.claims(**changed), algorithm)


@contextmanager
def serving() -> Iterator[Issuer]:
    """Serve an issuer on a port of this machine."""
    issuer = Issuer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            body = self.rfile.read(length)
            issuer.asked.append((self.path, body, {name.lower(): value for name, value in self.headers.items()}))
            found: Any = issuer.answers.get(self.path, (404, {}, b"{}"))
            status, headers, answer = found(body) if callable(found) else found
            self.send_response(status)
            for name, value in {"content-type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            send: Callable[[Any], Any] = answer if callable(answer) else lambda file: file.write(answer)
            try:
                send(self.wfile)
            except OSError:
                return

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *given: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    issuer.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield issuer
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
