"""Requests without a server: values in a golden file, which addresses are reached, and client certificates."""

import gzip
import socket
import ssl
import threading
import zlib
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from time import monotonic

import pytest

from mcpc_runtime.handlers.http import exchange, paging, request, results, wire
from mcpc_runtime.handlers.http.addresses import AddressRefused, is_internal, refuse_address
from mcpc_runtime.handlers.http.connections import CallOver, CallSocket, Connections
from mcpc_runtime.handlers.http.exchange import Exchange
from mcpc_runtime.handlers.http.request import OutgoingRequest, RequestRefused, parse_base
from mcpc_runtime.handlers.http.secrets import SecretTexts
from mcpc_runtime.handlers.http.wire import NoAnswer
from mcpc_runtime.protocol.effects import ABSENT
from support.expressions import check_expressions
from support.http_api import http_api
from support.needs import ROOT, needs
from support.processes import run_program


def test_values(golden: Callable[[Path, str], None]) -> None:
    libraries = {"gzip": gzip, "socket": socket, "ssl": ssl, "zlib": zlib}
    known = {"ABSENT": ABSENT, "AddressRefused": AddressRefused, "SecretTexts": SecretTexts}
    path = ROOT / "tests/golden/runtime/handlers/http.txt"
    check_expressions(golden, path, exchange, paging, request, results, wire, **libraries, **known)


INTERNAL = "169.254.169.254 169.254.0.1 fe80::1%eth0 fd00:ec2::254 100.100.100.200 0.0.0.0 :: 224.0.0.1"


@pytest.mark.parametrize("address", [*INTERNAL.split(), "::ffff:169.254.169.254"])
def test_addresses_of_the_link_and_of_metadata_are_refused(address: str) -> None:
    with pytest.raises(AddressRefused):
        refuse_address(address, "api.example", named=True)
    with pytest.raises(AddressRefused):
        refuse_address(address, address, named=False)
    refuse_address(address, address, named=True)


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "::1", "10.0.0.1", "192.168.1.1", "8.8.8.8", "169.253.255.255", "fd00::1"]
)
def test_other_addresses_are_not(address: str) -> None:
    assert not is_internal(address)


@pytest.mark.parametrize(
    "base", ["", "ftp://a", "https://", "https://u@a", "https://a/?q", "https://a/#f", "http://a:99999", "http://[a"]
)
def test_a_setting_that_is_no_base_address_is_refused(base: str) -> None:
    with pytest.raises(RequestRefused):
        parse_base(base, named=True)


@pytest.mark.parametrize(
    ("base", "said", "prefix"),
    [
        ("https://A.example/v1/", "https://a.example", "/v1"),
        ("http://a:8080", "http://a:8080", ""),
        ("https://a:443/b c", "https://a", "/b%20c"),
        ("http://[::1]:81/", "http://[::1]:81", ""),
    ],
)
def test_a_base_address_has_an_origin_and_a_prefix(base: str, said: str, prefix: str) -> None:
    origin, path = parse_base(base, named=True)
    assert (str(origin), path) == (said, prefix)


def test_an_address_of_the_link_is_not_connected_to() -> None:
    exchange = Exchange(Connections(), CallSocket(monotonic() + 30), "a", 100)
    with pytest.raises(NoAnswer, match="must not reach"):
        exchange.answer(OutgoingRequest("GET", parse_base("http://169.254.169.254", named=False)[0], "/latest"))


def test_a_call_that_is_stopped_waits_for_nothing() -> None:
    call = CallSocket(monotonic() + 30)
    call.interrupt()
    call.interrupt()
    with pytest.raises(CallOver):
        call.pause(30)
    with pytest.raises(CallOver):
        call.remaining()


def test_connections_are_kept_while_they_are_open_and_hold_nothing() -> None:
    connections, call, origin = Connections(), CallSocket(monotonic() + 30), parse_base("http://a", named=False)[0]
    pairs = [socket.socketpair() for _ in range(65)]
    for near, _ in pairs:
        near.settimeout(0)
        connections.give(origin, near)
    pairs[64][1].close()
    pairs[63][1].send(b"x")
    assert connections.take(origin, call) is pairs[62][0]
    assert [number for number, (near, _) in enumerate(pairs) if near.fileno() == -1] == [0, 63, 64]
    connections.close()
    assert [number for number, (near, _) in enumerate(pairs) if near.fileno() != -1] == [62]
    for pair in pairs:
        for each in pair:
            each.close()


def test_a_handshake_ends_when_its_call_is_stopped() -> None:
    call, ended = CallSocket(monotonic() + 60), SimpleQueue[BaseException]()

    def connect() -> None:
        try:
            Connections().take(parse_base(f"https://127.0.0.1:{port}", named=False)[0], call)
        except (OSError, CallOver) as problem:
            ended.put(problem)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        threading.Thread(target=connect).start()
        with listening.accept()[0] as peer:
            assert peer.recv(1)
            call.interrupt()
            assert ended.get(timeout=30)


def test_a_client_certificate_is_shown_and_the_one_of_the_server_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs("openssl")
    words = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    certificate, key = str(tmp_path / "cert"), str(tmp_path / "key")
    run_program(["openssl", *words.split(), "-keyout", key, "-out", certificate], check=True, text=False)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.load_verify_locations(certificate)
    context.verify_mode = ssl.CERT_REQUIRED

    def answer(host: str, shown: tuple[str, str] | None) -> bytes:
        origin, _ = parse_base(f"https://{host}:{api.server_port}", named=False)
        origin = origin._replace(certificate=shown)
        connections = Connections()
        exchange = Exchange(connections, CallSocket(monotonic() + 60), "a", 100)
        try:
            return exchange.answer(OutgoingRequest("POST", origin, "/x")).body
        finally:
            connections.close()

    with http_api(context) as api:
        with pytest.raises(NoAnswer, match="no secure connection"):
            answer("localhost", (certificate, key))  # nobody vouches for the server
        monkeypatch.setenv("SSL_CERT_FILE", certificate)
        assert answer("localhost", (certificate, key)) == b'{"ok":true}'
        with pytest.raises(NoAnswer, match="no secure connection"):
            answer("127.0.0.1", (certificate, key))
        with pytest.raises(NoAnswer):
            answer("localhost", None)
