"""Packages of npm beside a project: which are found, which are copied, and what is said where npm fails."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from mcpc.languages.bundling import module_inspection, node
from mcpc.languages.bundling.module_inspection import Description, describe_modules
from mcpc.languages.bundling.node import (
    NpmInstallError,
    OutsidePackagesError,
    copy_with_requirements,
    find_package,
    has_packages,
    install_folder,
    install_possible,
    installed_folder,
    package_json,
    package_name,
    requirements_of,
    run_npm,
    shorten_errors,
)
from mcpc.sandbox.confinement import ConfinedProgram
from mcpc.sandbox.confinement.model import ProgramOutcome
from support.files import write_files


def files_below(folder: Path) -> list[str]:
    found = (path for path in folder.rglob("*") if path.is_symlink() or path.is_file())
    return sorted(
        f"{path.relative_to(folder)}{f' -> {os.readlink(path)}' if path.is_symlink() else ''}" for path in found
    )


def package(name: str, *needs: str, kind: str = "dependencies") -> dict[str, object]:
    return {f"{name}/package.json": {"name": name, kind: dict.fromkeys(needs, "*")}, f"{name}/index.js": "x"}


def test_packages_are_copied_with_what_they_require(tmp_path: Path) -> None:
    root, target = tmp_path / "p", tmp_path / "t"
    modules = {
        **package("a", "b", "@s/c", "gone"), **package("b", "d", kind="peerDependencies"), **package("@s/c"),
        **package("d", "a", kind="optionalDependencies"), **package("unused"), **package("a/node_modules/b"),
        "a/lib/deep.js": "x", "a/lib/node_modules/kept.js": "x",
    }  # fmt: skip
    write_files(root / "node_modules", modules)
    copy_with_requirements(root, ["a"], target)
    assert files_below(target / "node_modules") == [
        "@s/c/index.js", "@s/c/package.json", "a/index.js", "a/lib/deep.js", "a/lib/node_modules/kept.js",
        "a/node_modules/b/index.js", "a/node_modules/b/package.json", "a/package.json",
    ]  # fmt: skip
    copy_with_requirements(root, ["b"], tmp_path / "u")
    assert [name for name in files_below(tmp_path / "u/node_modules") if name.endswith("json")] == [
        "@s/c/package.json", "a/node_modules/b/package.json", "a/package.json", "b/package.json", "d/package.json"
    ]  # fmt: skip


def test_packages_above_the_project_are_not_found(tmp_path: Path) -> None:
    write_files(tmp_path / "node_modules", package("above"))
    root = tmp_path / "p"
    write_files(
        root / "node_modules", {**package("a", "above"), **package("a/node_modules/inner"), **package("beside")}
    )
    base = root / "node_modules"
    found = {
        (where, name): find_package(base, base / where if where else base, name)
        for where in ("", "a", "a/node_modules/inner")
        for name in ("a", "inner", "beside", "above", "gone")
    }
    inner = base / "a/node_modules/inner"
    assert {key: path for key, path in found.items() if path is not None} == {
        ("", "a"): base / "a", ("a", "a"): base / "a", ("a/node_modules/inner", "a"): base / "a",
        ("a", "inner"): inner, ("a/node_modules/inner", "inner"): inner,
        **{(where, "beside"): base / "beside" for where in ("", "a", "a/node_modules/inner")},
    }  # fmt: skip
    copy_with_requirements(root, ["a"], tmp_path / "t")
    assert files_below(tmp_path / "t/node_modules") == ["a/index.js", "a/package.json"]
    assert [has_packages(root, names) for names in (["a"], ["a", "beside"], ["a", "above"], [])] == [
        True,
        True,
        False,
        True,
    ]


def test_links_are_followed_inside_the_folder_only(tmp_path: Path) -> None:
    modules, outside = tmp_path / "p/node_modules", tmp_path / "outside"
    write_files(modules, {**package(".store/a", "b"), **package(".store/b"), ".store/a/data.txt": "x"})
    write_files(outside, package("o"))
    (modules / "a").symlink_to(".store/a")
    (modules / "b").symlink_to(modules / ".store/b")
    (modules / ".store/a/secret").symlink_to(outside / "o/index.js")
    (modules / ".store/a/near").symlink_to("data.txt")
    copy_with_requirements(tmp_path / "p", ["a", "a"], tmp_path / "t")
    assert files_below(tmp_path / "t/node_modules") == [
        ".store/a/data.txt", ".store/a/index.js", ".store/a/near", ".store/a/package.json", ".store/b/index.js",
        ".store/b/package.json", "a -> .store/a", "b -> .store/b",
    ]  # fmt: skip
    (modules / "o").symlink_to(outside / "o")
    with pytest.raises(OutsidePackagesError):
        copy_with_requirements(tmp_path / "p", ["o"], tmp_path / "v")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("{", []),
        ("[]", []),
        ('{"dependencies": []}', []),
        ('{"peerDependencies": {"b": "1"}, "dependencies": {"a": "1"}}', ["a", "b"]),
    ],
)
def test_requirements_of_a_package(text: str, names: list[str], tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text(text)
    assert [*requirements_of(tmp_path)] == names
    assert [*requirements_of(tmp_path / "gone")] == []


def test_names_and_reasons() -> None:
    names = {"a": "a", "a/b/c": "a", "@s/a": "@s/a", "@s/a/b": "@s/a"}
    assert {each: package_name(each) for each in names} == names
    assert json.loads(package_json({"b": "2", "a": "1"})) == {
        "name": "tools", "version": "0.0.0", "private": True, "dependencies": {"a": "1", "b": "2"}
    }  # fmt: skip
    said = "npm error code E404\nnpm error 404 Not Found - GET https://r.test/x\nnpm error network a\nnpm error network a\nnpm ERR! errno 1\nother\n"
    assert shorten_errors(said) == "Not Found - GET …; a"
    assert len(shorten_errors("npm error " + "x" * 400)) == 300


def npm_that(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir()
    (folder / "npm").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "npm").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def test_npm_is_asked_again_where_the_registry_of_a_lock_is_unreachable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = 'echo "$*" >> calls; case "$*" in *replace-registry*) exit 0;; esac; echo "npm error code ENOTFOUND" >&2; exit 1'
    npm_that(tmp_path / "bin", script, monkeypatch)
    folder = tmp_path / "f"
    folder.mkdir()
    with pytest.raises(NpmInstallError) as problem:
        install_folder(folder, offline=True)
    assert (problem.value.code, str(problem.value)) == ("ENOTFOUND", "npm ended with status 1")
    (folder / "package-lock.json").write_text("{}")
    install_folder(folder)
    calls = [line.split() for line in (folder / "calls").read_text().splitlines()]
    assert ["--offline" in call for call in calls] == [True, False, False]
    assert ["--no-package-lock" in call for call in calls] == [True, False, False]
    assert ["--replace-registry-host=always" in call for call in calls] == [False, False, True]
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NpmInstallError) as missing:
        install_folder(folder)
    assert missing.value.code == ""


def test_as_many_packages_as_possible(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def install(wanted: bytes, lock: bytes, *, offline: bool) -> Path:
        names = list(json.loads(wanted)["dependencies"])
        asked.append(names)
        if "bad" in names or len(names) > 2:
            raise NpmInstallError("E404", "no")
        if "far" in names:
            raise NpmInstallError("ENOTFOUND", "far")
        return Path("/", *names)

    monkeypatch.setattr(node, "installed_folder", install)
    assert install_possible({}, b"") == (None, {})
    assert install_possible({"a": "1", "bad": "1"}, b"") == (Path("/a"), {"bad": "no"})
    assert asked == [["a", "bad"], ["a"], ["bad"], ["a"]]
    assert install_possible({"bad": "1"}, b"") == (None, {"bad": "no"})
    assert install_possible({"far": "1", "a": "1"}, b"") == (None, {"far": "far", "a": "far"})
    together = install_possible({"a": "1", "b": "1", "c": "1"}, b"")
    assert (together[0], together[1].keys()) == (None, {"a", "b", "c"})


def test_an_installation_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCPC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(node, "node_path", lambda: "node")
    monkeypatch.setattr(node, "program_version", lambda path: "v20")
    calls: list[list[str]] = []
    monkeypatch.setattr(node, "install_folder", lambda folder, *, offline: calls.append(sorted(os.listdir(folder))))
    first = installed_folder(b"{}", b"")
    assert (installed_folder(b"{}", b""), len(calls)) == (first, 1)
    assert installed_folder(b"{}", b"lock") != first
    assert calls == [["package.json"], ["package-lock.json", "package.json"]]
    assert not [path for path in first.parent.iterdir() if path.name.startswith("new-")]


def test_what_node_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tmp_path / "node_modules", {"b/x": "12", "a": "1"})
    rows = node.package_files(tmp_path)
    assert [(Path(name).relative_to(tmp_path).as_posix(), size) for name, size, _ in (row.split() for row in rows)] == [
        ("node_modules/a", "1"), ("node_modules/b/x", "2")
    ]  # fmt: skip
    monkeypatch.setenv("SECRET", "x")
    names = {"PATH", "HOME", "TMPDIR", "LANG", "TZ"}
    assert (node.build_environment(tmp_path).keys(), node.build_environment(tmp_path)["HOME"]) == (names, str(tmp_path))
    npm_that(tmp_path / "bin", "exit 3", monkeypatch)
    with pytest.raises(NpmInstallError) as problem:
        run_npm(["npm"], tmp_path)
    assert (problem.value.code, str(problem.value)) == ("", "npm ended with status 3")


def test_modules_behind_one_that_ends_the_process_are_described(monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[list[dict[str, Any]]] = [
        [{"begins": "a"}, {"handler": "function"}, {"begins": "b"}],
        [{"begins": "c"}, {"failure": {"message": "m", "stack": "at f (/x/src/c.ts:1:2)"}}, {"begins": "prompts"}],
    ]
    rows[1] += [{"prompts": ["p"]}, {"end": True}]
    seen: list[tuple[Any, ...]] = []

    def run(job: ConfinedProgram) -> ProgramOutcome:
        home, question = Path(job.words[-2]), json.loads(job.words[-1])
        assert (home.is_dir(), [*home.iterdir()], job.variables) == (True, [], {"HOME": str(home)})
        module = (job.folder / "a.js").read_text()
        seen.append((home, [*question["tools"]], question["prompts"], job.seconds, module))
        answer = "".join(f"{json.dumps(row)}\n" for row in rows[len(seen) - 1])
        return ProgramOutcome(answer.encode(), b"", 3, "")

    monkeypatch.setattr(module_inspection, "node_path", lambda: "node")
    monkeypatch.setattr(module_inspection.confinement, "run_confined", run)
    tools = {name: f"{name}.js" for name in "abc"}
    maps = {"a.js.map": b"{}"}
    assert describe_modules({"a.js": b"x"}, maps, tools, {"prompts": "p.js"}) == {
        "a": Description("function"),
        "b": Description(failure=ProgramOutcome(b"", b"", 3, "").how),
        "c": Description(failure="m", place=("src/c.ts", 1, 2)),
        "prompts": Description(prompts=("p",)),
    }
    second = module_inspection.IMPORT_SECONDS
    assert [row[1:4] for row in seen] == [
        (["a", "b", "c"], "p.js", 4 * second + module_inspection.IMPORT_GRACE_SECONDS),
        (["c"], "p.js", 2 * second + module_inspection.IMPORT_GRACE_SECONDS),
    ]
    assert (seen[0][0] != seen[1][0], seen[0][4]) == (True, "x\n//# sourceMappingURL=a.js.map\n")
