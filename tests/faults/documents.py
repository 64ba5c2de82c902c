"""Documents for a JSON reader, made after the rules of RFC 8259: those it must refuse, may refuse, and must read.

None of the last is a request, so that a server answers -32700 to the first and -32600 to the last.
"""

NUMBERS = (
    b"-", b"+1", b"+0", b"01", b"-01", b"00", b"-00", b"1.", b"-1.", b".5", b"-.5", b"1e", b"1e+", b"1e-", b"1E", b"0e", b"0E+",
    b"1.e1", b"1.5e", b"1.5.6", b"1e1.5", b"1e1e1", b"0x1F", b"0b1", b"0o7", b"1_000", b"1 000", b"1,5", b"--1", b"-+1", b"- 1",
    b"1a", b"1-", b"1+1", b"1/2", b"Infinity", b"-Infinity", b"+Infinity", b"NaN", b"-NaN", b"nan", b"inf", b"-inf", b"\xef\xbc\x91",
    "٣".encode(), b"1e\xc2\xb2", b"012", b"1.2a-3", b"0.1.2", b"1eE2", b"-x", b"2.e3", b"-2.", b"9.e+", b"0.e1", b"1e++1",
)  # fmt: skip
WORDS = (
    b"True", b"TRUE", b"tr\x75", b"truee", b"fal\x73", b"False", b"nul", b"Null", b"NULL", b"null\x6c", b"None", b"undefined", b"yes", b"t",
    b"true false", b"nu\x00ll", b"a", b"\xc3\xa9", b"`x`", b"'x'", b"<x>", b"*", b"#", b"$", b"?", b"@", b"&", b"=", b"!1",
)  # fmt: skip
STRINGS = (
    b'"', b'"a', b'a"', b'"\\"', b'"\\', b'"\\x00"', b'"\\a"', b'"\\e"', b"\"\\'\"", b'"\\u"', b'"\\u1"', b'"\\u12"', b'"\\u123"',
    b'"\\u123g"', b'"\\uD8"', b'"\\ud800\\u"', b'"\\ud800\\u1"', b'"\\U0001F600"', b'"\\u{1F600}"', b'"\\ "', b'"\\0"', b'"\\1"',
    b'"\\8"', b'"\t"', b'"\x00"', b'"\x01"', b'"\x08"', b'"\x0c"', b'"\x1f"', b'"a\rb"', b'"\x1b[0m"', b'"a" "b"', b'"a"b',
    b'"a""b"', b"'a'", b'\\"a"', b'"\\u00e"', b'"\\u 041"', b'"\\u+041"', b'"\\u-041"', b'"\\n\\', b'"\\v"', b'"\\?"',
)  # fmt: skip
BYTES = (
    b"\xff", b"\xfe", b"\xc0\xaf", b"\xe0\x80\xaf", b"\xf0\x80\x80\xaf", b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xf4\x90\x80\x80", b"\xf8\x88\x80\x80\x80",
    b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\x80", b"\xbf", b"\xc1\x81", b"\xfc\x80\x80\x80\x80\x80", b"\xe2\x28\xa1", b"a\xff", b"\xc3\x28",
)  # fmt: skip
ARRAYS = (
    b"[", b"]", b"[,", b"[,]", b"[1,]", b"[,1]", b"[1,,2]", b"[1 2]", b"[1", b"[1,", b"[1}", b"[1:2]", b"[[]", b"[]]", b"[[1]", b"[a]",
    b"[1;2]", b'["a]', b"[1,\x00]", b"[\x0b1]", b"[1]]", b"[1],", b"[1][2]", b"[1] 2", b"[-]", b"[\\u0031]", b"[1,2", b'["a"', b"[\"a\" \"b\"]",
    b"[\x0c]", b"[\xc2\xa01]", b"[\xe2\x80\xa81]", b"[// x]", b"[/* x */ 1]", b"[1 /* x */]", b"[*]", b"[..]", b"[1...]", b"(1)", b"[1)",
)  # fmt: skip
OBJECTS = (
    b"{", b"}", b"{,}", b"{1}", b"{1:2}", b"{a:1}", b"{'a':1}", b'{"a"}', b'{"a":}', b'{"a",1}', b'{"a" 1}', b'{"a"=1}', b'{"a"::1}',
    b'{"a":1,}', b'{,"a":1}', b'{"a":1,,"b":2}', b'{"a":1 "b":2}', b'{"a":1', b'{"a":1,', b'{"a":', b'{"a"', b'{"a', b'{"a":1]', b'{"a":1}}',
    b'{"a":1}{', b'{"a":1} {"b":2}', b'{"a":1},', b'{"a":1};', b'{"a":1}x', b'{"a":1}/', b'{"a":1}//x', b'{"a":1}/*x*/', b'{/**/"a":1}',
    b'{"a"/**/:1}', b'{null:1}', b'{true:1}', b'{[]:1}', b'{"a":{}', b'{"a":[}', b'{"a":01}', b'{"a":undefined}', b'{"a":"\t"}', b'{"a":\'b\'}',
    b'{\xef\xbb\xbf"a":1}', b'{"a":1\x00}', b'{"a":1}\x00', b'\x00{"a":1}', b'{"a":"b', b'{"a":"b"', b'{"\\u00":1}', b"{:1}", b"{:}", b"{{}}",
    b'{"a":{"b":}}', b'{"a":b}', b'{"a":1}#', b'{"a":+1}', b'{"a":.1}', b'{"a":1.}', b"{1:1}", b'{"a":--1}', b'({"a":1})', b'{"a":1})',
)  # fmt: skip
REQUESTS = (
    b'{"jsonrpc":"2.0","id":1,"method":"ping"', b'{"jsonrpc":"2.0","id":01,"method":"ping"}', b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":1,"method":ping}', b'{"jsonrpc":"2.0","id":1,"method":"ping",}', b'{jsonrpc:"2.0","id":1,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}', b'POST / HTTP/1.1', b"Content-Length: 40",
    b'data: {"jsonrpc":"2.0","id":1,"method":"ping"}', b"\x16\x03\x01\x02\x00\x01", b"<?xml version='1.0'?>", b"jsonrpc: 2.0", b"---", b"{\\}",
    b'{"jsonrpc":"2.0","id":1,"method":"pi\xffng"}', b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\x01"}}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1e}}', b"\xff\xfe{\x00}\x00", b"\xfe\xff\x00{\x00}", b"\xef\xbb\xbf", b"\xef\xbb",
    b"//", b"/**/", b",", b":", b"\\", b"\\u007b\\u007d", b"&lt;", b"%7B%7D", b"\x1f\x8b\x08\x00", b"PK\x03\x04", b"\x7fELF",
)  # fmt: skip
DEEP = (
    b"[" * 100_000, b'{"a":' * 100_000, b"[" * 5_000 + b"]" * 4_999, b'[{"":' * 20_000, b"[" * 100_000 + b"]" * 99_999,
)  # fmt: skip

REFUSED: tuple[bytes, ...] = tuple(
    dict.fromkeys(
        (
            *NUMBERS, *WORDS, *STRINGS, *BYTES, *ARRAYS, *OBJECTS, *REQUESTS, *DEEP,
            *(b"[" + number + b"]" for number in NUMBERS if number != b"1,5"), *(b'{"a":' + word + b"}" for word in WORDS),
            *(b"[" + string + b"]" for string in STRINGS), *(b'["' + data + b'"]' for data in BYTES),
        )
    )
)  # fmt: skip
"""What is not JSON."""

FREE: tuple[bytes, ...] = (
    b"1e999", b"-1e999", b"[1e400]", b"1e-999", b"[-1e-400]", b"9" * 400, b"-" + b"9" * 5000, b"0." + b"1" * 5000, b"1" * 20_000,
    b"123123e100000", b"0.4e00669999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999969999999006",
    b'"\\ud800"', b'"\\udfff"', b'"\\udfff\\ud800"', b'"\\ud800\\ud800"', b'"\\ud800a"', b'"\\ud800\\n"', b'["\\uDADA"]', b'{"\\ud800":1}',
    b'"\\ud888\\u1234"', b'"\\uD800\\uD800\\n"', b'"\\uDd1ea"', b'{"a":1,"a":2}', b'{"a":1,"a":1}', b'{"":1,"":2}', b"\xef\xbb\xbf{}",
    b"\xef\xbb\xbf[]", b"[" * 500 + b"]" * 500, b"[" * 100_000 + b"]" * 100_000, b'{"a":' * 50_000 + b"1" + b"}" * 50_000, b'"\\u0000"',
    b'["\\uFFFF"]', '"\uffff"'.encode(), '["\U0010ffff"]'.encode(), b'"' + b"a" * 100_000 + b'"', b"[" + b"0," * 100_000 + b"0]", b"-0", b"[-0.0]",
    b"18446744073709551616", b"[9007199254740993]", b'{"__proto__":1}', b'"\\u2028"',
)  # fmt: skip
"""What may be read or refused, and must be answered."""

VALUES = (
    b"0", b"-0", b"1", b"-1", b"10", b"1.5", b"-1.5", b"1e5", b"1E5", b"1e+5", b"1e-5", b"0e0", b"0.0", b"123456789012345678901234567890",
    b"1.7976931348623157e308", b"5e-324", b"true", b"false", b"null", b'""', b'"a"', b'"\\""', b'"\\\\"', b'"\\/"', b'"\\b\\f\\n\\r\\t"',
    b'"\\u0041"', b'"\\u00e9"', b'"\\ud83d\\ude00"', '"é"'.encode(), '"€"'.encode(), '"😀"'.encode(), '"\u2028\u2029"'.encode(), b'"\x7f"',
    '"\u200b\ufeff"'.encode(), b'"null"', b'" "', b'"\\u000a"', b'"// no comment"', b'"{}"', b"1.0E+2", b"-0.0e-0", b'"\\uFfFf"',
    '"\u00a0"'.encode(), b'"\\\\u0041"', b'"[1,2"',
)  # fmt: skip
READ: tuple[bytes, ...] = (
    *VALUES, *(b"[" + value + b"]" for value in VALUES[:30]), *(b'{"a":' + value + b"}" for value in VALUES[:30]),
    b"[]", b"{}", b"[[]]", b"[{}]", b'{"":0}', b'{"a":{"b":{"c":[]}}}', b"[1,2,3]", b'["a",1,null,true]', b" [ ] ", b"\t{\t}\t", b'{ "a" : 1 }',
    b"[" * 100 + b"]" * 100, b'{"\\u0061":1}', b'{"a":[],"b":{}}', b'[[],[[]],{"a":[{}]}]', b'{"id":1}', b'{"method":"ping"}',
    b'{"jsonrpc":"2.0"}', b'{"jsonrpc":"2.0","id":1}', b'["jsonrpc","2.0","id",1,"method","ping"]',
)  # fmt: skip
"""What is JSON, and no request."""
