"""JSON in and out: what RFC 8259 allows is read, and nothing else; what is written can be read again."""

import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpc_runtime.protocol import json_fallback, jsonrpc
from mcpc_runtime.protocol.jsonrpc import ParseError, encode, parse
from support.interpreters import interpreters

GOOD = [
    (b"{}", {}),
    (b' \t\r\n {"a": [1, -2.5e3, true, false, null, "x"]} \n', {"a": [1, -2500.0, True, False, None, "x"]}),
    ('"é\\u00e9\\ud83d\\ude00"'.encode(), "éé😀"),
    (b"\xef\xbb\xbf[]", []),
    (b'{"a":1,"a":2}', {"a": 2}),
    (b"123456789012345678901234567890", 123456789012345678901234567890),
    (b'"\\ud800"', "\ud800"),
    ('"\u2028\x7f"'.encode(), "\u2028\x7f"),
]
BAD = [
    b"", b" ", b"nul", b"NaN", b"Infinity", b"-Infinity", b"[1,]", b"{a:1}", b"{'a':1}", b"1 2", b"[1] x", b'"\x01"', b'"\\x"',
    b'"open', b"[", b"{", b'{"a"', b'{"a":', b"01", b"1.", b".5", b"+1", b"1e", b"\xff", b'"\xc3"', b'"\xed\xa0\x80"', b"1e999",
    b"-1e999", b"9" * 5000, b"[" * 100_000, b'{"a":' * 100_000, b"\x00", b"\xef\xbb\xbf", b"\xff\xfe[\x00]\x00", b"//x\n1",
    b"\xc2\xa0[]",
]  # fmt: skip

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=20,
)


@pytest.mark.parametrize(("data", "value"), GOOD)
def test_good(data: bytes, value: object) -> None:
    assert parse(data) == value


@pytest.mark.parametrize("data", BAD, ids=lambda data: repr(data[:20]))
def test_bad(data: bytes) -> None:
    with pytest.raises(ParseError):
        parse(data)


@given(JSON)
def test_round_trip(value: object) -> None:
    assert parse(encode(value)) == value
    assert json.loads(encode(value)) == value


@given(st.binary(max_size=40))
def test_any_bytes_parse_or_are_refused(data: bytes) -> None:
    try:
        value = parse(data)
    except ParseError:
        return
    assert json.loads(data) == value


def test_no_character_within_a_line_ends_it() -> None:
    value = {"a\x85": ["\u2028\u2029é", "\x84\x86\u2027\u202a"]}
    line = encode(value)
    assert line.decode() == '{"a\\u0085":["\\u2028\\u2029é","\x84\x86\u2027\u202a"]}'
    assert parse(line) == value


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {1, 2}, b"x"])
def test_what_json_cannot_carry_is_refused(value: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        encode(value)


@given(JSON)
def test_without_the_accelerator_the_same(value: object) -> None:
    scan = json_fallback.make_scanner(type("Context", (jsonrpc.ScannerContext,), {"memo": {}}))
    encoded = json_fallback.make_encoder(None, jsonrpc.refuse_value, jsonrpc.quote, None, ":", ",", False, False, False)
    text = "".join(encoded(value, 0))
    assert text == "".join(jsonrpc.encode_value(value, 0))
    assert scan(text, 0) == (value, len(text))


FRESH = """
import sys
sys.path.insert(0, sys.argv[1])
from mcpc_runtime.protocol.jsonrpc import ParseError, parse
for data in eval(sys.stdin.read()):
    try:
        parse(data)
    except ParseError:
        continue
    sys.exit(repr(data))
"""


def test_bad_texts_are_refused_where_json_was_never_imported() -> None:
    runtime = str(Path(jsonrpc.__file__).parents[2])
    for interpreter in interpreters().values():
        argv = [interpreter, "-I", "-S", "-c", FRESH, runtime]
        done = subprocess.run(argv, input=repr(BAD), text=True, capture_output=True, check=False)
        assert done.returncode == 0, (interpreter, done.stderr)
