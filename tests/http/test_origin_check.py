"""Names are parsed and compared exactly: H02, H03, H04, H06, and what a rebinding page could think of besides."""

import pytest

from mcpc_runtime.http.origins import MAX_CACHED, OriginCheck, outside_names, parse_authority, parse_origin
from mcpc_runtime.http.settings import HttpSettings
from support.knocks import HOSTS, ORIGINS


@pytest.mark.parametrize(("chosen", "host", "status"), HOSTS)
def test_only_our_own_names_are_answered_to(chosen, host, status):
    guard = OriginCheck(HttpSettings(**chosen))
    for _ in range(2):  # what is remembered must not change the answer
        assert guard.check({b"host": host.encode()})[0] == status


@pytest.mark.parametrize(("chosen", "host", "given", "status"), ORIGINS)
def test_only_pages_we_know_may_call(chosen, host, given, status):
    guard = OriginCheck(HttpSettings(**chosen))
    for _ in range(2):
        assert guard.check({b"host": host.encode(), b"origin": given.encode()})[0] == status


def test_what_is_remembered_is_bounded():
    guard = OriginCheck(HttpSettings())
    for port in range(1, 3 * MAX_CACHED):
        assert guard.check({b"host": b"localhost:%d" % port})[0] == 0
        assert guard.check({b"host": b"evil:%d" % port})[0] == 421
    assert len(guard._accepted) == MAX_CACHED


@pytest.mark.parametrize("text", ["", "a@b", "a:b", "[x]", "a..b", "-a", "a b", "%61", "a\n"])
def test_an_authority_is_what_the_rfc_says(text):
    assert parse_authority(text) is None
    assert parse_origin(f"http://{text}") is None


@pytest.mark.parametrize(
    ("hosts", "url", "outside"),
    [
        ((), "", []),
        (("localhost", "127.0.0.1:80", "[::1]:1"), "http://localhost:8000/mcp", []),
        (("localhost", "a.example"), "", ["a.example"]),
        (("a.example:80", "b.example"), "https://c.example/mcp", ["a.example:80", "b.example", "c.example"]),
        ((), "https://localhost.example/mcp", ["localhost.example"]),
        ((), "https://192.168.0.1:8000/mcp", ["192.168.0.1:8000"]),
    ],
)
def test_names_of_other_machines(hosts, url, outside):
    assert outside_names(HttpSettings(hosts=hosts, url=url)) == outside
