"""The SDK that tools of mcp-bash projects read, in a real Bash: what each function prints, and how it ends."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from support.needs import ROOT, needs
from support.scale import scaled
from support.scripts import Ended, check_scripts, scripts_in

TEMPLATES = ROOT / "templates/mcp_bash"
FUNCTION = re.compile(r"^(mcp_\w+)\(\) \{", re.MULTILINE)
OTHERS = ("mcp_tools_", "mcp_health_")
"""What only the project's own programs are given."""
ARGUMENTS = {
    "text": 'a "quoted"\nline \\ é\t😀',
    "number": 7,
    "negative": -3,
    "large": 12345678901234567890,
    "fraction": 1.50,
    "yes": True,
    "no": False,
    "one": 1,
    "nothing": None,
    "empty": "",
    "list": ["a b", 2, {"deep": [None]}],
    "object": {"x": {"y": "z"}, "a key": 1},
    "path": "/srv/../srv/./data/",
    "outside": "/etc/passwd",
}


class Ran(NamedTuple):
    printed: str
    said: str
    status: int


class Sandbox:
    """A folder for what tools write, and the variables that a server gives them."""

    def __init__(self, folder: Path, sdk: Path = TEMPLATES / "sdk") -> None:
        self.folder = folder
        self.variables = {
            "PATH": os.environ["PATH"],
            "LANG": os.environ.get("LANG", "C"),
            "MCP_SDK": str(sdk),
            "MCP_TOOL_ARGS_JSON": json.dumps(ARGUMENTS, ensure_ascii=False, separators=(",", ":"), sort_keys=True),
            "MCP_TOOL_META_JSON": '{"who":"me"}',
            "MCP_TOOL_ERROR_FILE": str(folder / "error"),
            "MCP_TOOL_RESOURCES_FILE": str(folder / "resources"),
            "MCP_CANCEL_FILE": str(folder / "cancelled"),
            "MCP_PROGRESS_STREAM": str(folder / "progress"),
            "MCP_LOG_STREAM": str(folder / "log"),
            "MCP_PROGRESS_TOKEN": "t-1",
            "MCP_ROOTS_PATHS": f"/srv\n{folder}/[r]oot",
            "MCP_ROOTS_COUNT": "2",
            "MCPC_PYTHON": sys.executable,
            "MCPBASH_JSON_TOOL": "jq",
            "MCPBASH_JSON_TOOL_BIN": shutil.which("jq") or "",
            "MCPBASH_MODE": "full",
            "MCPBASH_DEBUG_LOG": str(folder / "debug"),
        }
        (folder / "error").touch()

    def run(self, script: str, *arguments: str, **variables: str) -> Ran:
        given = {**self.variables, **variables}
        text = 'source "$MCP_SDK/tool-sdk.sh"\n' + script.replace("HERE", str(self.folder))
        argv = ["bash", "-c", text, "tool.sh", *arguments]
        ran = subprocess.run(
            argv, env=given, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False
        )
        return Ran(ran.stdout.decode(), ran.stderr.decode(errors="replace"), ran.returncode)

    def lines(self, name: str) -> list[object]:
        return [json.loads(line) for line in (self.folder / name).read_text().splitlines()]


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    needs("bash")
    return Sandbox(tmp_path)


GOLDEN = ROOT / "tests/golden/bash/sdk.txt"
SCRIPTS = scripts_in(GOLDEN)


def test_what_functions_print(tmp_path: Path, golden: Callable[[Path, str], None]) -> None:
    needs("bash", "jq")
    folders = iter(tmp_path / str(number) / "home" for number in range(len(SCRIPTS)))

    def run(script: str) -> Ended:
        folder = next(folders)
        folder.mkdir(parents=True)
        ran = Sandbox(folder).run(script)
        return Ended(ran.status, ran.printed.replace(str(folder), "HERE").replace(str(folder.parent), "BESIDE"))

    check_scripts(golden, GOLDEN, run)


def test_every_function_has_a_test():
    texts = [place.read_text() for place in sorted(TEMPLATES.rglob("*.sh")) if place.parent.name in ("sdk", "lib")]
    names = {name for text in texts for name in FUNCTION.findall(text)}
    tests = Path(__file__).read_text() + GOLDEN.read_text()
    assert {name for name in names if name not in tests and not name.startswith(OTHERS)} == set()
    assert len(names) > 60


def answering(sandbox: Sandbox, answer: Callable[[dict], str | None], asked: list[dict]) -> threading.Thread:
    """Answer questions as a server does, until one is not to be answered."""

    def run() -> None:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                question = json.loads((sandbox.folder / "request").read_text())
            except FileNotFoundError:
                time.sleep(0.005)
                continue
            asked.append(question)
            (sandbox.folder / "request").unlink()
            said = answer(question)
            if said is None:
                return
            (sandbox.folder / "new").write_text(said)
            (sandbox.folder / "new").rename(sandbox.folder / "response")

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


def schema(name: str, **field: object) -> dict:
    return {"type": "object", "properties": {name: field}, "required": [name]}


TITLED = [{"const": "a", "title": "First: one"}, {"const": "b", "title": "b"}]
QUESTIONS = {
    'mcp_elicit_string "What\'s up?"': schema("value", type="string"),
    "mcp_elicit_string m 'my \"field\"'": schema('my "field"', type="string"),
    "mcp_elicit_confirm m": schema("confirmed", type="boolean"),
    "mcp_elicit_choice m 'a b' c": schema("choice", type="string", enum=["a b", "c"]),
    "mcp_elicit_multi_choice m a b": schema("choices", type="array", items={"type": "string", "enum": ["a", "b"]}),
    "mcp_elicit_titled_choice m 'a:First: one' b": schema("choice", type="string", oneOf=TITLED),
    "mcp_elicit_titled_multi_choice m 'a:First: one' b": schema("choices", type="array", items={"oneOf": TITLED}),
    'mcp_elicit m \'{ "type": "object" }\' 5 form': {"type": "object"},
}


def test_questions(sandbox: Sandbox):
    asked: list[dict] = []
    sandbox.variables.update(
        MCP_ELICIT_SUPPORTED="1",
        MCP_ELICIT_REQUEST_FILE=str(sandbox.folder / "request"),
        MCP_ELICIT_RESPONSE_FILE=str(sandbox.folder / "response"),
    )
    os.mkfifo(sandbox.folder / "stream")
    stream = os.open(sandbox.folder / "stream", os.O_RDWR)
    thread = answering(
        sandbox, lambda question: '{"action":"accept","content":{}}\n' if question["message"] != "stop" else None, asked
    )
    script = (
        "\n".join(f"{call}; echo" for call in QUESTIONS)
        + "\nmcp_elicit_url m 'https://x/?\"'; echo\nmcp_elicit stop '{}' 1 || echo $?"
    )
    ran = sandbox.run(script, MCP_PROGRESS_STREAM=str(sandbox.folder / "stream"))
    thread.join(30)
    assert ran.printed.splitlines() == ['{"action":"accept","content":{}}'] * 9 + ['{"action":"error","content":null}1']
    assert [one.get("schema") for one in asked] == [*QUESTIONS.values(), None, {}]
    assert asked[0] == {"message": "What's up?", "schema": schema("value", type="string"), "mode": "form"}
    assert asked[-2] == {"message": "m", "url": 'https://x/?"', "mode": "url"}
    assert os.read(stream, 1 << 16) == b'{"elicit":true}\n' * 10
    os.close(stream)
    assert not list(sandbox.folder.glob("re*st*"))


def test_a_question_of_a_tool_that_is_cancelled(sandbox: Sandbox):
    given = {"MCP_ELICIT_SUPPORTED": "1", "MCP_ELICIT_REQUEST_FILE": "request", "MCP_ELICIT_RESPONSE_FILE": "response"}
    ran = sandbox.run("(sleep 0.1; touch HERE/cancelled) & mcp_elicit_confirm m || echo $?", **given)
    assert ran.printed == '{"action":"cancel","content":null}1\n'
    assert not (sandbox.folder / "request").exists()


PROGRESS = {
    "--extract match1 --pattern '([0-9]+)%'": ("at 10%|nothing|at 50% of it", [(10, "at 10%"), (50, "at 50% of it")]),
    "--extract match1 --total 20 --pattern 'n=([0-9]+)'": ("n=5|n=10", [(25, "n=5"), (50, "n=10")]),
    "--extract ratio --pattern '([0-9]+)/([0-9]+)'": ("1/4|08/016|1/0", [(25, "1/4"), (50, "08/016")]),
    "--pattern progress": (
        '{"progress":12.7,"message":"m"}|{"progress":null}|{progress|{"progress":3}',
        [(12, "m"), (3, "Working...")],
    ),
}


@pytest.mark.parametrize(("options", "case"), PROGRESS.items(), ids=PROGRESS.keys())
@pytest.mark.parametrize("source", ["errors", "file"])
def test_progress_of_a_command(sandbox: Sandbox, options: str, case: tuple[str, list], source: str):
    text, expected = case
    where = "errors" if source == "errors" else "HERE/p"
    more = "" if source == "errors" else "--progress-file HERE/p"
    target = ">&2" if source == "errors" else f">>{where}"
    command = f"""bash -c 'echo out; for l; do printf "%s\\n" "$l" {target}; sleep 0.02; done; exit 4' x {" ".join(f"'{one}'" for one in text.split("|"))}"""
    ran = sandbox.run(
        f"mcp_run_with_progress {options} {more} --interval 0.01 --stdout HERE/out --stderr-file HERE/rest -- {command} || echo $?"
    )
    assert (ran.printed, (sandbox.folder / "out").read_text()) == ("4\n", "out\n")
    notes = [json.loads(line)["params"] for line in (sandbox.folder / "progress").read_text().splitlines() if line]
    assert [(note["progress"], note["message"]) for note in notes] == expected
    assert (sandbox.folder / "rest").read_text() == ("nothing\n" if "nothing" in text else "")


def test_a_cancelled_command_goes_along(sandbox: Sandbox):
    began = time.monotonic()
    ran = sandbox.run(
        "(sleep 0.1; touch HERE/cancelled) & mcp_run_with_progress --pattern x --interval 0.02 -- sleep 1000 || echo $?"
    )
    assert ran.printed == "130\n"
    assert time.monotonic() - began < 300


def test_secrets_are_not_traced(sandbox: Sandbox):
    script = "set -x; mcp_args_get .s >/dev/null; x=1; mcp_args_raw >/dev/null; mcp_meta_get .who >/dev/null; mcp_args_require .s >/dev/null"
    ran = sandbox.run(script, MCP_TOOL_ARGS_JSON='{"s":"hidden-secret"}')
    assert ran.status == 0
    assert "x=1" in ran.said
    assert "hidden-secret" not in ran.said


def test_it_may_be_read_by_a_relative_name(sandbox: Sandbox):
    relative = os.path.relpath(TEMPLATES / "sdk", sandbox.folder)
    assert sandbox.run("cd /; mcp_path_normalize a", MCP_SDK=relative).printed == "/a"


@pytest.mark.parametrize(
    "options", ["IFS=,", "IFS=", "set -f", "shopt -s nullglob", "shopt -s failglob", "LC_ALL=C", "set -x", "set +eu"]
)
def test_what_a_script_sets_is_its_own(sandbox: Sandbox, options: str):
    script = (
        f"{options} 2>/dev/null\nmcp_args_get '.list | .[0]'; mcp_json_arr a '*' 'b c'; mcp_result_success ' [1, \"é*\"] '; mcp_error k m --data '[ 1 ]';"
        ' mcp_path_normalize /a//b; before=$-; mcp_args_get .text >/dev/null; [[ $before == "$-" ]] && echo same'
    )
    plain = sandbox.run(script.replace(options, ":", 1))
    assert sandbox.run(script).printed == plain.printed
    assert plain.printed.endswith("same\n")


PLAIN_NAMES = (
    "address addresses agent allow alone amp array at attempt attempts before body char choice code columns count "
    "data defaults delay deny depth dry empty end envelope error example extract field fields file filter folder "
    "followed found given high hint host index inner input inputs interval is_begun is_preset is_string item kept "
    "label last least level line lines list loaded low lt member merged message micros mime mimes most name names "
    "number object open option options out output part parts path paths pattern pause percent pid place preset "
    "problem quiet quote raw request response rest root row rows seconds seen single skip slashes source stage start "
    "status step steps string text title token tool total twice type uri uris url value values variable waited wants "
    "who whole word"
)
"""What variables of scripts are often called."""

MORE_SCRIPTS: list[str] = json.loads(GOLDEN.with_name("more_sdk_scripts.json").read_text("utf-8"))
DRIVER = """set +e
for MCPC_SCRIPT; do
  case $MCPC_SCRIPT in
    mcp_run*) mv "$MCP_CANCEL_FILE" HERE/aside 2>/dev/null ;; # or its command would be ended, sooner or later
  esac
  (set -e; RANDOM=1; eval "$MCPC_DECLARED"; eval "$MCPC_SCRIPT")
  printf '\\n# %s ended %s\\n' "$MCPC_SCRIPT" "$?"
  mv HERE/aside "$MCP_CANCEL_FILE" 2>/dev/null || :
done"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("declared", "value"),
    {"readonly": "5", "declare -i": "5", "declare -ux": "a", "declare -A": "()", "declare -n": "nowhere"}.items(),
)
@pytest.mark.sampled(5)
def test_what_a_script_calls_its_variables_is_its_own(
    tmp_path: Path, plain_output: list[str], declared: str, value: str
) -> None:
    before = f"{declared} {PLAIN_NAMES.replace(' ', f'={value} ')}={value}"
    assert output_of_all(tmp_path, before) == plain_output


@pytest.fixture(scope="module")
def plain_output(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What all scripts print where nothing is declared."""
    return output_of_all(tmp_path_factory.mktemp("plain"), ":")


def output_of_all(folder: Path, declared: str) -> list[str]:
    """Return the lines that all scripts print and write after these declarations."""
    needs("bash")
    sandbox = Sandbox(folder)
    scripts = [one.replace("HERE", str(sandbox.folder)) for one in (*SCRIPTS, *MORE_SCRIPTS)]
    found = sandbox.run(DRIVER, *scripts, MCPC_DECLARED=declared)
    notes = [(sandbox.folder / file).read_text() for file in ("log", "progress", "error", "resources")]
    said = "\n".join((found.printed, found.said, *notes)).replace(str(sandbox.folder), "HERE")
    assert found.status == 0 and said.count("\n# ") == len(scripts)
    return said.split("\n")


def test_a_configuration_may_be_in_any_variable(sandbox: Sandbox):
    script = 'for name in defaults loaded merged path text variable; do printf -v "$name" \'{"a":1}\';'
    ran = sandbox.run(f'{script} mcp_config_load --env "$name"; mcp_config_get .a; unset "$name"; done')
    assert (ran.printed, ran.status) == ("1" * 6, 0)


def test_a_script_that_compares_without_case(sandbox: Sandbox):
    script = "shopt -s nocasematch\n"
    script += """for text in '{"a":[1]}' '{"A":[1]}' '{"a":TRUE}' '[1,]' '{"a":"x"}' '{"A":"X"}'; do\n"""
    script += """if mcp_is_valid_json "$text"; then mcp_emit_json "$text"; else printf no; fi; echo; done; shopt -q nocasematch"""
    ran = sandbox.run(script)
    assert ran.printed.split() == ['{"a":[1]}', '{"A":[1]}', "no", "no", '{"a":"x"}', '{"A":"X"}']
    assert (ran.said, ran.status) == ("", 0)


def random_value(rng: random.Random, depth: int = 0) -> object:
    kind = rng.randrange(8 if depth < 4 else 5)
    if kind == 0:
        return rng.choice([None, True, False])
    if kind == 1:
        return rng.choice([0, -1, 10**30, 5, -0.5, 1e-7, 123456])
    if kind < 5:
        return "".join(rng.choice(list('ab"\\/\n\t\x01é😀{}[]:, &%$\x7f\ud7ff')) for _ in range(rng.randrange(9)))
    if kind == 5:
        return [random_value(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {str(random_value(rng, 9)) + str(n): random_value(rng, depth + 1) for n in range(rng.randrange(4))}


def compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def test_what_is_read_is_what_was_written(sandbox: Sandbox):
    """Values of all sorts, written with any blanks and escapes."""
    rng = random.Random(7)
    values = [random_value(rng) for _ in range(300)]
    texts = [json.dumps(one, indent=rng.choice([None, 1, "\t"]), ensure_ascii=rng.random() < 0.5) for one in values]
    script = 'for text; do mcp_emit_json "$text"; printf "\\0"; done'
    found = sandbox.run(script, *texts).printed.split("\0")
    assert found[:-1] == [compact(one) for one in values]


def test_what_is_not_json_is_refused(sandbox: Sandbox):
    """Whatever one change makes of JSON: Bash and Python agree on whether it still is."""
    rng = random.Random(8)
    texts = []
    for _ in range(400):
        text = json.dumps(random_value(rng), ensure_ascii=rng.random() < 0.5)
        at = rng.randrange(len(text))
        texts.append(text[:at] + rng.choice(["", *'"\\{}[],: 01.eE-+tu\x02a']) + text[at + rng.randrange(2) :])
    verdicts = sandbox.run('for text; do mcp_is_valid_json "$text" && echo y || echo n; done', *texts).printed.split()
    expected = []
    for text in texts:
        try:
            json.loads(text, parse_constant=lambda name: 1 / 0)
            expected.append("y")
        except (ValueError, ZeroDivisionError):
            expected.append("n")
    assert [(text, one) for text, one in zip(texts, verdicts, strict=True)] == list(zip(texts, expected, strict=True))


FILTERS = [
    ".", ".a", ".a.b", ".a[0]", ".a[-1]", ".a[]", ".a[]?", ".a?", ".a.b?", '.["a"]', '."a"', ".a // 1", '.a // "d"', ".a // empty",
    ".a // .b", ".a // [] | length", ".b | length", "length", "type", ".a | type", ".a | not", ".b | tostring", ".[]", ".[0]",
    ".a.b.c", ".a[1].b", "empty", '"text"', "[]", ".a // false", ".nope // null", ".a[].b", ".b | .[0]", ".a == 1", ".a + 1",
    "keys", "map(.)", '.a, .b', "[.a, .b]", "{a}", '"\\(.a)!"', 'if .a then 1 else 2 end', '.a | has("b")', "to_entries", "..",
]  # fmt: skip
DOCUMENTS = [
    {"a": 1, "b": [1, 2]}, {"a": {"b": {"c": "é"}}, "b": "a\nb"}, {"a": [{"b": 1}, {"b": None}], "b": {"x": 1}}, {"a": None, "b": True},
    {"a": "", "b": "é😀"}, {"a": False}, [], {}, [1, [2]], "text", 5, None, {"a": ["x", 'y"\\']},
]  # fmt: skip


PAIRS = random.Random(9).sample(
    [(one, compact(document)) for one in FILTERS for document in DOCUMENTS], scaled(150, 60)
)


def filters_of(sandbox: Sandbox, tool: str, most: int = 2048) -> list[str]:
    script = f"""__mcpc_most={most}
    while (($#)); do
      MCP_TOOL_ARGS_JSON=$2 status=0
      mcp_args_get "$1" 2>/dev/null || status=$?
      printf ' [%s]\\0' "$status"
      shift 2
    done"""
    words = [word for pair in PAIRS for word in pair]
    return sandbox.run(script, *words, MCPBASH_JSON_TOOL_BIN=tool).printed.split("\0")[:-1]


@pytest.mark.slow
def test_filters_mean_the_same_everywhere(sandbox: Sandbox):
    """To Bash, to Python, which is used for large arguments or where there is no jq, and to jq."""
    needs("jq")
    in_bash = filters_of(sandbox, shutil.which("jq") or "")
    in_python = filters_of(sandbox, "/nonexistent", most=0)
    for pair, bash, python in zip(PAIRS, in_bash, in_python, strict=True):
        ran = subprocess.run(["jq", "-rc", pair[0]], input=pair[1], capture_output=True, text=True, check=False)
        if " // " in pair[0] and ran.returncode:
            continue  # older ones fail, newer ones take what is on the right
        expected = f"{'' if ran.returncode else ran.stdout.rstrip(chr(10))} [{ran.returncode}]"
        assert (pair, bash, python) == (pair, expected, expected)


def test_a_filter_that_nobody_knows(sandbox: Sandbox):
    ran = sandbox.run("mcp_args_get 'input_line_number' || echo $?", MCPBASH_JSON_TOOL_BIN="/nonexistent")
    assert ran.printed == "3\n"
    assert "without jq" in ran.said


def test_large_values(sandbox: Sandbox):
    """Above some size Python answers; the answers are the same, and numbers are as they were written."""
    value = {"items": [{"n": number, "text": f"é{number}"} for number in range(400)], "price": 1}
    text = compact(value).replace('"price":1', '"price":1.50')
    assert len(text) > 8000
    sandbox.variables["MCP_TOOL_ARGS_FILE"] = str(sandbox.folder / "args")
    (sandbox.folder / "args").write_text(text)
    ran = sandbox.run(
        'mcp_args_get .price; mcp_args_get ".items[399].text"; mcp_result_success "$(mcp_args_raw)"; mcp_result_success "$(mcp_args_raw)" 100'
    )
    first, second = ran.printed.splitlines()
    assert first.startswith("1.50é399{")
    envelope = f'{{"success":true,"result":{text}}}'
    assert json.loads(first.removeprefix("1.50é399"))["content"][0]["text"] == envelope
    assert f'"structuredContent":{envelope},"isError":false' in second
    assert json.loads(second)["content"][0]["text"] == "Success: object with 2 keys"
    without = sandbox.run('mcp_result_success "$(mcp_args_raw)"', MCPC_PYTHON="/nonexistent")
    assert without.printed == first.removeprefix("1.50é399") + "\n"


def test_an_old_bash_is_told(sandbox: Sandbox):
    text = (TEMPLATES / "sdk/tool-sdk.sh").read_text().replace("< 404", "< 40400")
    (sandbox.folder / "tool-sdk.sh").write_text(text)
    ran = sandbox.run("echo never", MCP_SDK=str(sandbox.folder))
    assert (ran.printed, ran.status) == ("", 1)
    assert "4.4 or newer is needed" in ran.said


LIKE_THE_ORIGINAL = [
    script for script in SCRIPTS
    if re.search(r"mcp_(json_(escape|obj|arr)|args|meta|is_c|fail|emit|is_valid|byte|roots|extract|result_success|result_error|error|require)", script)
    and not re.search(r"\\x|given|no json|'\{'|'1 2'|success ''|mcp_fail \+|'\[1\]'|fraction|2\.50|\.large|\$'a|d; \?|null,|/srv/\.\.|link", script)
]  # fmt: skip


@pytest.mark.checkout("TESTS_MCP_BASH")
def test_it_answers_as_the_original_does(sandbox: Sandbox, tmp_path: Path):
    """What both say of the same calls; TESTS_MCP_BASH names the folder of mcp-bash."""
    place = os.environ["TESTS_MCP_BASH"]
    needs("jq")
    (tmp_path / "other").mkdir()
    other = Sandbox(tmp_path / "other", Path(place) / "sdk")
    other.variables["MCPBASH_HOME"] = place
    assert len(LIKE_THE_ORIGINAL) > 60
    for script in LIKE_THE_ORIGINAL:
        ours, theirs = sandbox.run(script), other.run(script)
        found = theirs.printed.replace(str(other.folder), str(sandbox.folder))
        assert (script, ours.printed, ours.status) == (script, found, theirs.status)
