"""Files of clients are changed whole or not at all, whatever stands in the way, and never over another program's change.

`TESTS_CLIENT_FILES=10000` tries so many random files, each in a random situation.
"""

import os
import stat
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from mcpc_runtime.tools.clients import files
from mcpc_runtime.tools.clients.files import edit_file, undo_in_file
from mcpc_runtime.tools.clients.installing import EDITORS
from mcpc_runtime.tools.clients.text_edits import CannotEditError, EntryPlace
from support import client_texts

COUNT = int(os.environ.get("TESTS_CLIENT_FILES", "200"))
PLACES = {
    "json": EntryPlace((("mcpServers",),)),
    "toml": EntryPlace((("mcp_servers",),)),
    "yaml": EntryPlace((("extensions",),)),
}
TEXTS: dict[str, Callable[[Random, str], str]] = {
    "json": client_texts.json_text,
    "toml": client_texts.toml_text,
    "yaml": client_texts.yaml_text,
}
READERS = {"json": client_texts.read_json, "toml": client_texts.read_toml, "yaml": client_texts.read_yaml}
OWNED = frozenset(("command",))


class Editing:
    def __init__(self, path: Path, kind: str) -> None:
        self.path, self.kind = path, kind
        self.editor, self.place = EDITORS[kind], PLACES[kind]

    def put(self, text: str) -> str:
        return self.editor.put(text, self.place, "w", {"command": "x"}, OWNED)

    def drop(self, text: str) -> str:
        return self.editor.drop(text, self.place, "w")

    def install(self) -> bool:
        return edit_file(str(self.path), "w", self.put)

    def uninstall(self) -> bool:
        return undo_in_file(str(self.path), "w", self.drop, lambda text: text == self.drop(self.put("")))

    def has_entry(self) -> bool:
        return "w" in self.editor.read(self.path.read_bytes().decode(), self.place)


def leftovers(folder: Path) -> list[str]:
    """Return what is in a folder besides files of clients and their backups."""
    return [name for name in os.listdir(folder) if name.endswith(("mcpc-tmp", "mcpc-lock"))]


def plain(random: Random, editing: Editing, data: bytes) -> None:
    mode = random.choice((0o600, 0o644, 0o640))
    editing.path.chmod(mode)
    assert editing.install()
    assert editing.has_entry()
    assert stat.S_IMODE(editing.path.stat().st_mode) == mode
    assert not editing.install()
    assert editing.uninstall()
    assert editing.path.read_bytes() == data
    assert stat.S_IMODE(editing.path.stat().st_mode) == mode
    assert not editing.uninstall()


def linked(random: Random, editing: Editing, data: bytes) -> None:
    """The file is a link into another folder, perhaps over another link."""
    folder = editing.path.parent / "dotfiles"
    folder.mkdir()
    editing.path.rename(folder / "real")
    (folder / "alias").symlink_to("real")
    editing.path.symlink_to(random.choice(("dotfiles/real", str(folder / "alias"))))
    assert editing.install()
    assert editing.path.is_symlink()
    assert editing.has_entry()
    assert editing.uninstall()
    assert (folder / "real").read_bytes() == data
    assert not leftovers(folder)


def read_only(random: Random, editing: Editing, data: bytes) -> None:
    editing.path.chmod(0o444)
    with pytest.raises(CannotEditError, match="read-only"):
        editing.install()


def owned_by_another(random: Random, editing: Editing, data: bytes) -> None:
    """The file belongs to another user."""
    if os.geteuid() == 0:
        os.chown(editing.path, 12345, 12345)
        with pytest.raises(CannotEditError, match="another user"):
            editing.install()


def half_written(random: Random, editing: Editing, data: bytes) -> None:
    """The file ends early; what is left of it may be whole."""
    cut = data[: random.randrange(len(data) + 1)]
    editing.path.write_bytes(cut)
    try:
        READERS[editing.kind](cut.decode())
    except Exception:  # noqa: BLE001 - whatever a reader raises
        before = cut
    else:
        before = None
    try:
        editing.install()
    except CannotEditError:
        assert editing.path.read_bytes() == cut
    else:
        assert editing.has_entry()
        assert before is None or editing.kind == "yaml", "what a reader refuses was edited"
    editing.path.write_bytes(data)


def not_text(random: Random, editing: Editing, data: bytes) -> None:
    wrong = random.choice((b"\xff\xfe" + data.decode().encode("utf-16-le"), data + b"\xe9"))
    editing.path.write_bytes(wrong)
    with pytest.raises(CannotEditError, match="UTF-8"):
        editing.install()
    assert editing.path.read_bytes() == wrong
    editing.path.write_bytes(data)


def editable_text(random: Random, editing: Editing) -> str:
    while True:
        text = TEXTS[editing.kind](random, editing.place.keys[0][0])
        with suppress(CannotEditError):
            editing.put(text)
            return text


def written_meanwhile(random: Random, editing: Editing, data: bytes) -> None:
    """Another program changes the file while it is edited, in place or by a new file."""
    other = editable_text(random, editing).encode()
    times = random.randrange(1, 4)

    def change(text: str) -> str:
        nonlocal times
        if times:
            times -= 1
            if times % 2:
                editing.path.write_bytes(other)
            else:
                (editing.path.parent / "new").write_bytes(other)
                (editing.path.parent / "new").rename(editing.path)
        return editing.put(text)

    edit_file(str(editing.path), "w", change)
    assert editing.path.read_bytes().decode() == editing.put(other.decode())
    assert editing.uninstall()
    assert editing.path.read_bytes() == other
    editing.path.write_bytes(data)


def interrupted(random: Random, editing: Editing, data: bytes) -> None:
    """The process ends at one of the steps."""
    step = random.choice(("written_beside", "keep_attributes", "replace_file", "read_contents", "keep_backup"))
    calls = random.randrange(3)
    original = getattr(files, step)

    def fail(*arguments: object, **options: object) -> object:
        nonlocal calls
        calls -= 1
        if calls < 0:
            raise KeyboardInterrupt
        return original(*arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, step, fail)
        try:
            editing.install()
        except KeyboardInterrupt:
            assert editing.path.read_bytes().decode() in (data.decode(), editing.put(data.decode()))
    editing.path.write_bytes(data)


def changed_later(random: Random, editing: Editing, data: bytes) -> None:
    """The user changes the file between both edits: the change stays."""
    assert editing.install()
    text = editing.path.read_bytes().decode() + ("\n" if editing.kind == "json" else "\n# mine\n")
    editing.path.write_bytes(text.encode())
    assert editing.uninstall()
    assert not editing.has_entry()
    assert editing.path.read_bytes().decode().endswith(text[-2:])
    editing.path.write_bytes(data)


SITUATIONS = (
    *(plain, linked, read_only, owned_by_another, half_written, not_text),
    *(written_meanwhile, interrupted, changed_later),
)


@pytest.mark.skipif(os.name != "posix", reason="modes, owners and links are those of POSIX systems")
def test_random_files_in_random_situations_are_never_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    seen: Counter[str] = Counter()
    refused = 0
    for seed in range(COUNT):
        random = Random(seed)
        kind = random.choice(("json", "toml", "yaml"))
        data = TEXTS[kind](random, PLACES[kind].keys[0][0]).encode()
        folder = tmp_path / f"{seed}"
        folder.mkdir()
        editing = Editing(folder / "settings", kind)
        editing.path.write_bytes(data)
        try:
            editing.put(data.decode())
        except CannotEditError:
            refused += 1
            continue
        situation = random.choice(SITUATIONS)
        seen[situation.__name__] += 1
        try:
            situation(random, editing, data)
        except BaseException as problem:
            raise AssertionError(f"seed {seed}, {kind}, {situation.__name__}:\n{data.decode()}") from problem
        assert editing.path.read_bytes() == data, f"seed {seed}, {situation.__name__}"
        assert not leftovers(folder)
    assert len(seen) == len(SITUATIONS)
    assert refused <= COUNT * 0.05, "most files can be edited"


@pytest.mark.parametrize("kind", PLACES)
def test_a_file_that_was_made_goes_when_its_only_entry_goes(tmp_path: Path, kind: str) -> None:
    editing = Editing(tmp_path / "new" / "settings", kind)
    assert not editing.uninstall()
    assert editing.install()
    assert stat.S_IMODE(editing.path.stat().st_mode) == 0o600 or os.name != "posix"
    assert editing.uninstall()
    assert os.listdir(editing.path.parent) == []


def put_as(editing: Editing, name: str, entry: dict[str, str]) -> bool:
    return edit_file(
        str(editing.path), name, lambda text: editing.editor.put(text, editing.place, name, entry, frozenset(entry))
    )


def drop_as(editing: Editing, name: str) -> bool:
    def drop(text: str) -> str:
        return editing.editor.drop(text, editing.place, name)

    return undo_in_file(str(editing.path), name, drop, lambda text: text == drop(editing.put("").replace("w", name)))


@pytest.mark.parametrize(("before", "changes"), [(None, 1), (None, 3), ("", 1), ("{ }", 3), ('{"a": 1}', 2)])
def test_a_file_that_was_changed_for_one_entry_is_what_it_was(tmp_path: Path, before: str | None, changes: int) -> None:
    editing = Editing(tmp_path / "settings", "json")
    if before is not None:
        editing.path.write_text(before)
    for number in range(changes):
        assert put_as(editing, "w", {"command": str(number)})
        assert not put_as(editing, "w", {"command": str(number)})
    assert drop_as(editing, "w")
    assert (editing.path.read_text() if editing.path.exists() else None) == before
    assert os.listdir(tmp_path) == ([] if before is None else ["settings"])
    assert not drop_as(editing, "w")


def test_what_another_entry_has_a_backup_of_is_not_removed(tmp_path: Path) -> None:
    editing = Editing(tmp_path / "settings", "json")
    assert put_as(editing, "v", {"command": "x"})
    assert put_as(editing, "w", {"command": "x"})
    assert drop_as(editing, "v")
    assert editing.has_entry()
    assert drop_as(editing, "w")
    assert editing.editor.read(editing.path.read_text(), editing.place) == {}
    assert not drop_as(Editing(tmp_path / "gone/settings", "json"), "w")
    assert not (tmp_path / "gone").exists()


def test_a_change_is_made_again_so_often(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    editing, asked = Editing(tmp_path / "settings", "json"), list[str]()
    editing.path.write_text("{}")
    monkeypatch.setattr(files, "exchanged", lambda *_: False)
    for act in (
        lambda: edit_file(str(editing.path), "w", lambda text: asked.append(text) or '{"a": 1}'),
        lambda: undo_in_file(str(editing.path), "w", lambda text: asked.append(text) or '{"a": 1}', bool),
    ):
        asked.clear()
        with pytest.raises(CannotEditError, match="keeps changing"):
            act()
        assert asked == ["{}"] * files.ATTEMPTS
        assert not leftovers(tmp_path)


def test_files_of_a_size_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "settings"
    assert files.read_contents(str(path)) == (b"", None)
    assert files.read_text(str(path)) == ""
    monkeypatch.setattr(files, "MAX_BYTES", 3)
    path.write_bytes("é1".encode())
    assert files.read_contents(str(path)).data == "é1".encode()
    assert files.read_text(str(path)) == "é1"
    path.write_bytes(b"1234")
    with pytest.raises(CannotEditError, match="too big"):
        files.read_contents(str(path))


def test_backups_are_bounded_and_have_what_was_there(tmp_path: Path) -> None:
    editing = Editing(tmp_path / "settings", "json")
    editing.path.write_text("{}")
    (tmp_path / f"other.x{files.BACKUP}").touch()
    (tmp_path / "settings.x").touch()
    for number in range(6):
        assert put_as(editing, f"w{number}", {})
    kept = files.backups(str(editing.path))
    assert [Path(path).name.split("-")[0] for path in kept] == ["settings.w3", "settings.w4", "settings.w5"]
    texts = [editing.editor.read(Path(path).read_text(), editing.place) for path in kept]
    assert [[*text] for text in texts] == [[f"w{number}" for number in range(count)] for count in (3, 4, 5)]
    os.utime(kept[0])
    assert files.backups(str(editing.path)) == [*kept[1:], kept[0]]


def test_a_lock_that_is_held_elsewhere_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LOCK_SECONDS", 0.1)
    editing = Editing(tmp_path / "f.json", "json")
    lock = tmp_path / ".f.json.mcpc-lock"
    with lock.open("w") as held:
        assert files.lock_descriptor(held.fileno())
        with pytest.raises(CannotEditError, match="has locked it"):
            editing.install()
    assert editing.install()
    lock.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CannotEditError, match="cannot be opened"):
        editing.uninstall()
    assert not (tmp_path / "elsewhere").exists()


def test_installations_at_once_follow_each_other(tmp_path: Path) -> None:
    editing = Editing(tmp_path / "settings", "json")
    names = [f"w{number}" for number in range(24)]

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(lambda name: put_as(editing, name, {}), names))
    assert sorted(editing.editor.read(editing.path.read_text(), editing.place)) == sorted(names)
    assert not leftovers(tmp_path)


@pytest.mark.parametrize("kind", ["folder", "pipe", "below a file"])
def test_what_is_not_a_file_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "settings"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.write_text("")
        path /= "settings"
    for act in (Editing(path, "json").install, lambda: files.read_text(str(path))):
        with pytest.raises((CannotEditError, OSError)):
            act()
