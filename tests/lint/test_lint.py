"""Each rule finds what it should, in trees with planted offences; `make lint` applies them to this one."""

from pathlib import Path

import pytest

from lint import locks, pages, stripped_code, vocabulary
from lint.system_names import foreign_names
from lint.vocabulary import REPLACED_WORDS, read_rules

TABLE = """\
| not | but | in | except |
|---|---|---|---|
| `said`, `at_once` | a noun | names | |
| `is no X` | is not a | text | `there is no` |
| `mend` | fix | text | |
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("this is no file", ["is no file"]),
        ("it IS\nno `uri`", ["is no `uri`"]),
        ("there is no file", []),
        ("Mend the mended amendment", ["mend"]),
        ("is not a file", []),
    ],
)
def test_refused_phrases(text: str, found: list[str]) -> None:
    assert read_rules(TABLE).refused_phrases(text) == found


def test_row_of_another_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="unreadable row"):
        read_rules(TABLE + "| said | a noun | names | |\n")


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


def test_refused_names_and_phrases_are_found(tmp_path: Path) -> None:
    write(tmp_path, REPLACED_WORDS, TABLE)
    write(tmp_path, "README.md", "Mend it.\n\n```\nmend\n```\n\n    mend\n\nThe option `mend`.\n")
    write(
        tmp_path,
        "compiler/mcpc/a.py",
        '"""A module.\n\nMend."""\nclass AtOnce:\n    def said(self) -> None:\n        """Mend."""\n',
    )
    write(tmp_path, "compiler/mcpc/said.py", "class Twice: ...\nclass _Private: ...\n")
    write(tmp_path, "compiler/mcpc/b.py", "class Twice: ...\nclass _Private: ...\n")
    write(tmp_path, "runtime/mcpc_runtime/b.py", "class Twice: ...\n")
    write(tmp_path, "compiler/mcpc/cli/c.py", 'HELP = "Mend it."\n')
    assert vocabulary.check(tmp_path) == [
        "README.md: 'mend'",
        "compiler/mcpc/a.py: class AtOnce",
        "compiler/mcpc/a.py: docstring of function said: 'mend'",
        "compiler/mcpc/a.py: function said",
        "compiler/mcpc/cli/c.py: text: 'mend'",
        "compiler/mcpc/said.py: module said",
        "compiler/mcpc: class Twice is defined 2 times",
    ]


@pytest.mark.parametrize(
    ("path", "source", "names"),
    [
        ("runtime/mcpc_runtime/server/x.py", "'a mcp-bash server'", []),
        ("runtime/mcpc_runtime/server/x.py", "X = 'a mcp-bash server'", ["a mcp-bash server"]),
        ("runtime/mcpc_runtime/server/x.py", "X = b'MCPBASH_TOKEN'", ["MCPBASH_TOKEN"]),
        (
            "compiler/mcpc/x.py",
            "from mcpc_runtime.systems.toolbox import contract as a",
            ["mcpc_runtime.systems.toolbox"],
        ),
        ("compiler/mcpc/x.py", "class BxOptions: pass\ndef bx_path(): pass\nbox = xbx = 1", ["BxOptions", "bx_path"]),
        ("runtime/mcpc_runtime/systems/toolbox/x.py", "X = 'toolbox', 'mcbox'", ["mcbox"]),
        ("compiler/mcpc/frontends/bx/x.py", "bx = blueprints", ["blueprints"]),
    ],
)
def test_foreign_systems_are_found(path: str, source: str, names: list[str]) -> None:
    assert [text for _, text in foreign_names(path, source)] == names


def test_docstrings_and_annotations_in_bytecode_are_found() -> None:
    source = 'class A:\n    """Text."""\n    b: int = 1\n'
    code = compile(source, "label", "exec", dont_inherit=True)
    assert set(stripped_code.stored_names(code)) & {"__doc__", "A", "b"} == {"__doc__", "A", "b"}


PINNED = "a==1 \\\n    --hash=sha256:00\n"


@pytest.mark.parametrize(
    ("text", "wanted", "offences"),
    [
        (PINNED, ["a>=1"], []),
        (PINNED, ["a>1", "b"], ["a>1 is not satisfied; run `make lock`", "b is not satisfied; run `make lock`"]),
        ("a==1\n" + PINNED.replace("a", "b", 1), ["b"], ["no version or no hash: a==1"]),
        (f"--find-links x\n{PINNED}", [], ["it names a registry or a path", "no version or no hash: --find-links"]),
        (f"{PINNED}# from /home/x/y\n", [], ["it names a registry or a path"]),
    ],
)
def test_faults_of_locks_are_found(text: str, wanted: list[str], offences: list[str]) -> None:
    assert [*locks.lock_offences(text, wanted)] == offences


def test_packages_of_node_need_a_digest_and_no_address() -> None:
    text = '{"packages": {"": {}, "a": {"integrity": "x"}, "b": {}, "c": {"integrity": "x", "resolved": "y"}}}'
    assert [*locks.node_offences(text)] == ["b: an address, or no digest", "c: an address, or no digest"]


PAGE = """# A title, `b`

[here](#a-title-b) [other](b.md#head) [far](https://x.y/z#q) [gone](c.md) [none](b.md#no)
`tests/lint/` `tests/none.py` `docs/NAME.md` `--target` `--of-nobody` MCP001 MCP999

```console
$ mcpc check .
$ X=1 mcpc check --of-nobody
$ ./server.pyz serve --http 0
```
```json
{"a": 1,}
```
```python
x = (
```
"""


def test_what_pages_say_and_is_not_so_is_found(tmp_path: Path) -> None:
    write(tmp_path, "a.md", PAGE)
    write(tmp_path, "b.md", "# Head\n")
    write(tmp_path, "tests/lint/x", "")
    page = pages.read(tmp_path / "a.md")
    assert [*pages.links(page)] == ["no file c.md", "no heading b.md#no"]
    assert [*pages.places(page, tmp_path)] == ["no file tests/none.py"]
    assert [offence.partition(":")[0] for offence in pages.commands(page)] == ["check --of-nobody"]
    assert [offence.partition(":")[0] for offence in pages.code(page)] == ["a block of json", "a block of python"]
