"""Strings that break programs: each must arrive exactly as it was sent, or be refused, never be altered in silence."""

# ruff: noqa: RUF001 - that they are ambiguous is what they are for

CONTROLS = [chr(code) for code in (*range(0x20), 0x7F, *range(0x80, 0xA0), 0xAD)]
INVISIBLE = [
    chr(code)
    for code in (
        0xA0, 0x1680, 0x180E, *range(0x2000, 0x2010), 0x2028, 0x2029, 0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x202F, 0x205F, 0x2060,
        0x2061, 0x2066, 0x2067, 0x2068, 0x2069, 0x206A, 0x3000, 0xFEFF, 0xFFF9, 0xFFFC, 0xFFFD, 0xFFFE, 0xFFFF, 0xE000, 0x10FFFF, 0xE0001,
    )
]  # fmt: skip
SCRIPTS = [
    "é", "e\u0301", "ﬁ", "ß", "ẞ", "İ", "ı", "Ǆ", "ŉ", "ﷺ", "ﷲ", "𝕬", "𝓗𝓮𝓵𝓵𝓸", "Ⓤⓝⓘ", "部落格", "社會科學院語學研究所", "찦차를", "울란바토르", "表ポあA鷗Œé", "Ⱥ",
    "ثم نفس سقطت", "בְּרֵאשִׁית", "ʇǝɯɐ ʇıs", "Ṱ̺̺̕o͞ ̷", "Ω≈ç√∫˜µ≤≥÷", "¡™£¢∞§¶•ªº–≠", "١٢٣", "１２３", "Ã©", "â€™", "Å", "Å", "⁰⁴⁵₀₁₂", "ด้้้้้็็็็็", "田中さん",
    "👾 🙇 💁 🙅", "👨‍👩‍👧‍👦", "🏳️‍🌈", "🇺🇸🇷🇺", "👩🏽", "❤️", "1️⃣", "😀" * 50, "🐵 🙈 🙉 🙊", "✋🏿", "ಠ_ಠ", "(╯°□°）╯︵ ┻━┻", "( ͡° ͜ʖ ͡°)", "⟦⟧", "‮txet desrever‬",
]  # fmt: skip
BLANKS = [
    "", " ", "  ", "\t", "\n", "\r\n", "\n\n", " a", "a ", "\na", "a\n", "a\n\n", " \n ", "a\r", "\ra", "a\vb", "a\fb",
    "\\n", "\\", "\\\\", "a\\",
]  # fmt: skip
QUOTES = [
    "'", '"', "''", '""', "'\"'", "\"'\"'\"''''\"", "`", "``", "“x”", "‘x’", "«x»", "<foo val='bar'/>", '\\"', "\\'",
    "'\\''", '"""', "'''", "$'\\n'",
]  # fmt: skip
SHELL = [
    "$HOME", "${HOME}", "$(touch /tmp/owned)", "`touch /tmp/owned`", "; touch owned", "| touch owned", "&& touch owned", "|| touch owned", "& touch owned",
    "$(( 1+1 ))", "$((`touch owned`))", "a[$(touch owned)]", "${x:=y}", "${!x}", "${@}", "$*", "$#", "$?", "$$", "$!", "$-", "$0", "$1", "~", "~root", "*", "?", "[a-z]*",
    "{a,b}", "{1..9}", "!!", "!x", "^a^b", "#", "# comment", "a#b", "<(touch owned)", ">(touch owned)", "<<EOF", "<<<x", "> owned", ">> owned", "2>&1", "< /etc/passwd",
    "\n touch owned", "';touch owned;'", '";touch owned;"', "$';touch owned'", "eval x", "exit 1", "return 1", "() { :;}; touch owned", "BASH_FUNC_x%%=() { :; }", "IFS=x",
    "$IFS", "%s", "%n%n%n", "%d%x", "%%", "%(date)T", "%b\\n", "\\x41", "\\0101", "\\c", "a\\cb", "=", "a=b", "=a", "[", "[[ x ]]", "((", "))", "fi", "done", "esac", "}",
    "x[0]", "x[@]", "-v x", "${x@P}", "coproc", "time", "!", "test", "$BASH_COMMAND", "$(<x)", "\\$(id)",
]  # fmt: skip
OPTIONS = [
    "-", "--", "-n", "-e", "-E", "-ne x", "-c id", "--help", "--version", "-v", "-x", "-rf /", "--output=owned", "+x",
    "-0", "-1", "@file", "-- -x", "-a b", "/?",
]  # fmt: skip
TEMPLATES = [
    "{{7*7}}", "{{ config }}", "{% raw %}", "${7*7}", "#{7*7}", "<%= 7*7 %>", "{0}", "{0.__class__}", "{}", "{x!r}", "f'{x}'", "%(x)s", "$x", "${x}", "@{x}", "[[x]]", "]]>", "<![CDATA[",
    "<script>alert(1)</script>", "&lt;", "&#x41;", "<!--", "-->", "javascript:alert(1)", "\\u0041", "\\ud800", "\\N{BELL}", "__import__('os').system('id')", "__class__", "__proto__",
]  # fmt: skip
DATABASES = [
    "' OR 1=1 -- 1", "1;DROP TABLE users", "'; EXEC sp_MSForEachTable 'DROP TABLE ?'; --", "1'; DROP TABLE users-- 1",
    "%' --", "x' AND 1=1", "*)(uid=*))(|(uid=*",
]  # fmt: skip
WORDS = [
    "undefined", "undef", "null", "NULL", "nil", "None", "true", "false", "True", "hasOwnProperty", "then", "constructor", "NaN", "Infinity", "-Infinity", "inf", "0", "1", "-1", "00",
    "0x0", "1e5", "1.0", "1/0", "1,000", "0b1", "１", "9" * 400, "1E+02", "-0", "0.0", "-", ".", "..", "/", "//", "../../../etc/passwd", "..\\..", "C:\\x", "CON", "NUL", "/dev/null", "/dev/tcp/x/1",
    "file:///etc/passwd", "http://a/%%30%30", "a@b", "{}", "[]", '{"a":1}', '{"jsonrpc":"2.0","id":1,"method":"ping"}', '"', "\u0000x", "x\u0000", "a\u0000b", "EOF", "END", "Content-Length: 1",
    "\r\n\r\nHTTP/1.1", "a\r\nb", "\x1b[31m", "\x1b]0;x\x07", "\x1b[2J", "\x07", "\x9b31m", "a\bb", "\x7f\x7f",
]  # fmt: skip
SURROGATES = [
    "\ud800", "\udfff", "a\ud800b", "\udc00\ud800", "\udcff", "\ud83d", "\ude00", "\udc80", "\udcc3\udca9",
    "x\udcff" * 20,
]  # fmt: skip
LONG = [
    "a" * 1000, "a" * 4096, "a" * 65536, "a" * 131_071, "a" * 131_072, "a" * 200_000, "\n" * 10_000, "é" * 70_000,
    "'" * 40_000, "\\" * 40_001, "$(" * 5_000, "(" * 20_000,
]  # fmt: skip

STRINGS: tuple[str, ...] = tuple(
    dict.fromkeys(
        (
            *CONTROLS, *(f"a{one}b" for one in CONTROLS), *INVISIBLE, *(f"a{one}b" for one in INVISIBLE), *SCRIPTS, *BLANKS, *QUOTES, *SHELL, *OPTIONS, *TEMPLATES,
            *DATABASES, *WORDS, *SURROGATES, *LONG,
        )
    )
)  # fmt: skip
