"""Packages installed for an artifact: from beside the compiler or by uv, whole or not at all, the same every time."""

import hashlib
import json
import os
import shutil
import stat
import zipfile
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import pytest

from mcpc.diagnostics import Diagnostics
from mcpc.model.ir import Server
from mcpc.options import Options
from mcpc.packages import (
    StagedPackages,
    cached_packages,
    include_packages,
    read_requirements,
    stage_packages,
    staging,
    uv,
)
from mcpc.packages.cached_packages import keep_bytecode
from mcpc.packages.installed_files import UnfitPackageError, copy_package
from mcpc.packages.layer import shiv_contents, split_packages, unsupported_versions, with_pydantic
from mcpc.sandbox import cache_dir
from support.projects import SERVER_JSON, lowered, tree
from support.wheels import only, sdist, wheel

pytestmark = pytest.mark.slow


def wanted(*lines: str):
    found, _ = read_requirements(tree({"requirements.txt": "\n".join((*lines, ""))}))
    return found


def staged(*lines: str, platform: str = "", python: str = "") -> StagedPackages:
    found, problems = stage_packages(wanted(*lines), platform=platform, python=python)
    assert found is not None, problems
    return found


def refused(*lines: str, platform: str = "") -> Diagnostics:
    found, problems = stage_packages(wanted(*lines), platform=platform)
    assert found is None
    return problems


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    only(tmp_path, monkeypatch)
    wheel(tmp_path, "demo-base", "1.0", {"demo_base.py": "value = 1\n"})
    wheel(tmp_path, "demo-base", "2.0", {"demo_base.py": "value = 2\n"})
    files = {
        "demo/__init__.py": "from demo_base import value\n",
        "demo/data.txt": "x",
        "demo-1.0.data/scripts/demo": "#!python\n",
    }
    wheel(tmp_path, "demo", "1.0", files, needs=["demo-base>=1", "missing; sys_platform == 'win32'"])
    return tmp_path


def contents(one: StagedPackages) -> dict[str, bytes]:
    return {path.relative_to(one.root).as_posix(): path.read_bytes() for path in one.root.rglob("*") if path.is_file()}


@pytest.fixture
def no_uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCPC_CACHE_DIR", str(tmp_path / "cache"))

    def install(*given: object) -> None:
        raise AssertionError("uv was asked")

    monkeypatch.setattr(staging, "install", install)


def test_what_lies_beside_the_compiler_needs_no_uv(no_uv: None) -> None:
    version = metadata.version("pydantic")
    one = staged(f"pydantic=={version}")
    assert {"pydantic", "pydantic_core", "annotated_types", "typing_extensions"} <= one.modules
    assert [
        (found.version, found.licence, found.is_spdx) for found in one.distributions if found.name == "pydantic"
    ] == [(version, "MIT", True)]
    files = contents(one)
    assert not [path for path in files if path.endswith((".pyc", "RECORD", "INSTALLER", "REQUESTED"))]
    assert {path: hashlib.sha256(data).hexdigest() for path, data in files.items()} == {
        path: digest for found in one.distributions for path, digest in found.files.items()
    }


def test_what_was_staged_is_not_staged_again_unless_it_was_changed(no_uv: None) -> None:
    pin = f"annotated-types=={metadata.version('annotated-types')}"
    one = staged(pin)
    place = one.root / "annotated_types/__init__.py"
    before = place.stat().st_ino
    assert staged(pin) == one
    assert place.stat().st_ino == before
    place.write_text("import os\n")
    (one.root / "annotated_types/__pycache__").mkdir()
    again = staged(pin)
    assert again == one
    assert contents(again)["annotated_types/__init__.py"] != b"import os\n"


def test_a_change_is_seen_that_neither_size_nor_time_of_a_staged_file_tells(no_uv: None) -> None:
    pin = f"annotated-types=={metadata.version('annotated-types')}"
    place = staged(pin).root / "annotated_types/__init__.py"
    data, status = place.read_bytes(), place.stat()
    for change in (data[:-1] + b"#", data):
        assert staged(pin).root / "annotated_types/__init__.py" == place
        assert place.read_bytes() == data
        place.write_bytes(change)
        os.utime(place, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_bytecode_beside_staged_files_stays_as_long_as_it_is_what_was_written(no_uv: None) -> None:
    pin = f"annotated-types=={metadata.version('annotated-types')}"
    one = staged(pin)
    path, other = "annotated_types/__init__.py", "annotated_types/test_cases.py"
    digests = one.distributions[0].files
    keep_bytecode(one.root, [(path, digests[path], b"code"), (other, digests[path], b"x"), ("a.py", "", b"y")], "tag")
    place = one.root / "annotated_types/__pycache__/__init__.tag.pyc"
    for change in (b"code", b"cods"):
        assert staged(pin) == one
        assert {each: each.read_bytes() for each in one.root.rglob("*.pyc")} == {place: b"code"}
        place.write_bytes(change)
    assert staged(pin) == staged(pin) == one
    assert not place.exists()


def test_an_older_version_than_the_one_beside_is_installed(shop: Path) -> None:
    words = refused("annotated-types==0.0.1")[0].message
    assert "the registry has nothing named `annotated-types`" in words


def test_uv_installs_what_is_asked_for_and_what_that_needs(shop: Path) -> None:
    one = staged("demo==1.0", "demo-base==1.0")
    assert one.modules == {"demo", "demo_base"}
    files = contents(one)
    assert files["demo_base.py"] == b"value = 1\n"
    assert files["demo/data.txt"] == b"x"
    assert not [path for path in files if "bin" in path or ".data" in path or path.endswith(".pyc")]
    assert [found.tags for found in one.distributions] == [("py3-none-any",)] * 2


def test_packages_with_nothing_but_modules_of_the_standard_library_are_not_installed(shop: Path) -> None:
    wheel(shop, "needy", "1.0", {"needy.py": ""}, needs=["uuid==1.30", "demo-base==1.0"])  # the shop has no `uuid`
    assert staged("needy==1.0").modules == {"needy", "demo_base"}


def test_the_same_wheels_make_the_same_files_and_the_same_layer(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = staged("demo==1.0", "demo-base==1.0")
    monkeypatch.setenv("MCPC_CACHE_DIR", str(shop / "elsewhere"))
    previous = os.umask(0o077)
    try:
        second = staged("demo==1.0", "demo-base==1.0")
    finally:
        os.umask(previous)
    assert first.root != second.root
    assert contents(first) == contents(second) == shiv_contents(first.root) == shiv_contents(second.root)
    assert first.distributions == second.distributions


def test_a_hash_is_held_against_the_wheel(shop: Path) -> None:
    data = next(shop.glob("demo_base-1.0-*.whl")).read_bytes()
    right = hashlib.sha256(data).hexdigest()
    assert staged(f"demo-base==1.0 --hash=sha256:{right}").modules == {"demo_base"}
    problem = refused(f"demo-base==1.0 --hash=sha256:{'0' * 64}")[0]
    assert problem.code == "MCP405"
    assert f"`demo-base==1.0` has SHA-256 {right}, and SHA-256 {'0' * 64} is expected" in problem.message


def test_uv_s_refusal_is_a_diagnostic_at_the_requirement_it_names(shop: Path) -> None:
    problems = refused("demo-base==1.0", "demo==9")
    assert [problem.code for problem in problems] == ["MCP405"]
    assert "demo==9" in problems[0].message
    assert problems[0].span.start == len("demo-base==1.0\n")
    assert not list((shop / "cache/packages").iterdir())


def test_requirements_that_no_version_satisfies_are_reported(shop: Path) -> None:
    wheel(shop, "other", "1.0", {"other.py": ""}, needs=["demo-base<2"])
    problems = refused("demo-base==2.0", "other==1.0")
    assert [problem.code for problem in problems] == ["MCP405"]


def test_uv_that_cannot_be_started_is_reported(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uv, "find_uv_bin", lambda: str(shop / "nowhere"))
    assert "uv cannot be used: [Errno 2]" in refused("demo==1.0")[0].message


def test_wheels_of_another_platform_are_chosen_by_its_tags(shop: Path) -> None:
    for arch in ("x86_64", "aarch64"):
        name = f"nat/_n.cpython-312-{arch}-linux-gnu.so"
        files = {"nat/__init__.py": "", name: f"native {arch}"}
        wheel(shop, "nat", "1.0", files, tag=f"cp312-cp312-manylinux_2_17_{arch}")
    one = staged("nat==1.0", platform="manylinux2014_aarch64-cp312")
    assert one.python == "3.12"
    assert one.distributions[0].tags == ("cp312-cp312-manylinux_2_17_aarch64",)
    assert contents(one)["nat/_n.cpython-312-aarch64-linux-gnu.so"] == b"native aarch64"
    problem = refused("nat==1.0", platform="musllinux_1_2_x86_64-cp312")[0]
    assert problem.code == "MCP405"
    assert "musllinux_1_2_x86_64" in problem.message and "3.12" in problem.message


def test_what_another_platform_needs_is_installed(shop: Path) -> None:
    wheel(shop, "mac", "1.0", {"mac.py": ""}, needs=["demo-base==1.0; sys_platform == 'darwin'"])
    wheel(shop, "outer", "1.0", {"outer.py": ""}, needs=["mac==1.0; platform_system == 'Darwin'"])
    assert staged("outer==1.0", platform="macosx_11_0_arm64").modules == {"outer", "mac", "demo_base"}
    assert staged("outer==1.0", platform="win_amd64").modules == {"outer"}


def test_markers_of_the_project_are_those_of_the_platform(shop: Path) -> None:
    texts = (
        "mac==1.0; sys_platform == 'darwin'",
        "demo-base==1.0; os_name == 'nt'",
        "none==9; sys_platform == 'linux'",
    )
    wheel(shop, "mac", "1.0", {"mac.py": ""})
    assert staged(*texts, platform="macosx_11_0_arm64").modules == {"mac"}
    assert staged(*texts, platform="win_arm64").modules == {"demo_base"}
    assert staged(texts[0], platform="win_amd64").modules == set()


def test_what_is_needed_elsewhere_and_cannot_be_had_is_reported(shop: Path) -> None:
    wheel(shop, "mac", "1.0", {"mac.py": ""}, needs=["nowhere==1.0; sys_platform == 'darwin'"])
    problem = refused("mac==1.0", platform="macosx_11_0_arm64")[0]
    assert problem.code == "MCP405"
    assert "nowhere" in problem.message


def test_an_older_version_is_not_taken_because_it_has_a_wheel(shop: Path) -> None:
    """Neither of a package itself, nor of one whose newest version needs sources."""
    sdist(shop, "demo-base", "3.0", {"demo_base.py": ""})
    problem = refused("demo-base")[0]
    assert (problem.code, "`demo-base==3.0` has no wheel" in problem.message) == ("MCP417", True)
    wheel(shop, "demo", "2.0", {"demo.py": ""}, needs=["only-sources>=1"])
    sdist(shop, "only-sources", "1.0", {"only_sources.py": ""})
    problem = refused("demo")[0]
    assert (problem.code, "`only-sources==1.0`, which `demo` needs, has no" in problem.message) == ("MCP417", True)
    assert [item.version for item in staged("demo<2", "demo-base<3").distributions] == ["1.0", "2.0"]


def test_a_newer_version_that_does_not_fit_the_others_is_no_reason_to_refuse(shop: Path) -> None:
    wheel(shop, "other", "1.0", {"other.py": ""}, needs=["demo-base<2"])
    assert {item.name: item.version for item in staged("other", "demo-base").distributions} == {
        "demo-base": "1.0",
        "other": "1.0",
    }


def test_of_two_files_at_one_path_the_one_that_is_installed_last_counts(shop: Path) -> None:
    """Packages that need nothing come first, of these those with later names; the same files are shared."""
    for name, needs in (("owner-a", []), ("owner-b", []), ("owner-c", ["owner-b"])):
        files = {"both/__init__.py": f"owner = '{name}'\n", f"both/{name[-1]}.py": "", "both/same.py": "x = 1\n"}
        wheel(shop, name, "1.0", files, needs=needs)
    found, problems = stage_packages(wanted("owner-a==1.0", "owner-b==1.0"))
    assert found is not None
    assert contents(found)["both/__init__.py"] == b"owner = 'owner-a'\n"
    assert [problem.message for problem in problems] == [
        "`both/__init__.py` of `owner-b` is that of `owner-a`, which is installed after it"
    ]
    assert {"both/a.py", "both/b.py", "both/same.py"} <= contents(found).keys()
    again, problems = stage_packages(wanted("owner-a==1.0", "owner-c==1.0"))
    assert again is not None
    assert contents(again)["both/__init__.py"] == b"owner = 'owner-c'\n"
    assert [problem.code for problem in problems] == ["MCP428", "MCP428"]
    assert stage_packages(wanted("owner-a==1.0", "owner-c==1.0")) == (again, problems), "also from the cache"


def test_modules_in_a_package_that_is_extracted_are_extracted_with_it(shop: Path) -> None:
    reading = "path = __file__\n"
    wheel(shop, "reader", "1.0", {"both/__init__.py": reading, "both/data.txt": "x", "space/one/__init__.py": ""})
    wheel(shop, "other", "1.0", {"both/deep/more.py": "", "other.py": "", "space/two/__init__.py": ""})
    one, problems = stage_packages(wanted("reader==1.0", "other==1.0"))
    assert one is not None, problems
    other, reader = split_packages([one], ())
    assert sorted(path for path in other.files() if "dist-info" not in path) == ["other.py", "space/two/__init__.py"]
    (variant,) = reader.variants
    expected = ["both/__init__.py", "both/data.txt", "both/deep/more.py", "space/one/__init__.py"]
    assert sorted(variant.files) == expected


def test_variables_of_pip_name_registries_where_uv_has_none(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("UV_DEFAULT_INDEX", "UV_FIND_LINKS"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", f"{shop / 'gone'} {shop}")
    (shop / "gone").mkdir()
    assert staged("demo-base==1.0").modules == {"demo_base"}
    only(shop, monkeypatch)
    monkeypatch.setenv("UV_FIND_LINKS", str(shop / "gone"))
    assert refused("demo-base==1.0")[0].code == "MCP405"


def test_a_file_that_was_changed_in_the_cache_of_uv_is_installed_anew(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_CACHE_DIR", str(shop / "uv-cache"))
    staged("demo-base==1.0")
    (place,) = (shop / "uv-cache").rglob("demo_base.py")
    place.write_text("import os\n")
    monkeypatch.setenv("MCPC_CACHE_DIR", str(shop / "elsewhere"))
    assert contents(staged("demo-base==1.0"))["demo_base.py"] == b"value = 1\n"


def installed(folder: Path, *lines: str) -> metadata.Distribution:
    target = folder / "target"
    for path in sorted(folder.glob("*.whl")):
        with zipfile.ZipFile(path) as archive:
            archive.extractall(target)
    return next(one for one in metadata.distributions(path=[str(target)]) if one.metadata["Name"] == lines[0])


FAULTS = {
    "changed": (lambda place: place.write_text("import os\n"), "differs from RECORD"),
    "a symlink": (lambda place: (place.unlink(), place.symlink_to("/etc/passwd")), "is not a file"),
    "missing": (lambda place: place.unlink(), "cannot be read"),
    "a folder": (lambda place: (place.unlink(), place.mkdir()), "is not a file"),
    "a pipe": (lambda place: (place.unlink(), os.mkfifo(place)), "is not a file"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_file_that_is_not_what_the_wheel_had_is_refused(name: str, tmp_path: Path) -> None:
    spoil, words = FAULTS[name]
    wheel(tmp_path, "demo-base", "1.0", {"demo_base.py": "value = 1\n"})
    one = installed(tmp_path, "demo-base")
    spoil(tmp_path / "target/demo_base.py")
    with pytest.raises(UnfitPackageError, match=words):
        copy_package(one, tmp_path / "copy")


def test_a_record_leads_nowhere_outside(tmp_path: Path) -> None:
    wheel(tmp_path, "demo-base", "1.0", {"demo_base.py": ""})
    one = installed(tmp_path, "demo-base")
    record = tmp_path / "target/demo_base-1.0.dist-info/RECORD"
    secret = tmp_path / "secret.py"
    secret.write_text("secret")
    record.write_text(record.read_text() + f"../secret.py,,\n{secret},,\na/../../secret.py,,\n")
    assert sorted(copy_package(one, tmp_path / "copy/x").files) == [
        "demo_base-1.0.dist-info/METADATA",
        "demo_base-1.0.dist-info/WHEEL",
        "demo_base.py",
    ]
    assert sorted(path.name for path in tmp_path.iterdir() if path.name == "secret.py") == ["secret.py"]


def test_without_a_digest_nothing_is_believed(tmp_path: Path) -> None:
    wheel(tmp_path, "demo-base", "1.0", {"demo_base.py": ""})
    one = installed(tmp_path, "demo-base")
    record = tmp_path / "target/demo_base-1.0.dist-info/RECORD"
    (tmp_path / "target/more.py").write_text("")
    record.write_text(record.read_text() + "more.py,,\n")
    with pytest.raises(UnfitPackageError, match="no digest"):
        copy_package(one, tmp_path / "copy")


def test_a_checkout_is_no_package(tmp_path: Path) -> None:
    wheel(tmp_path, "demo-base", "1.0", {"demo_base.py": ""})
    one = installed(tmp_path, "demo-base")
    direct = tmp_path / "target/demo_base-1.0.dist-info/direct_url.json"
    direct.write_text(json.dumps({"url": "file:///x", "dir_info": {"editable": True}}))
    with pytest.raises(UnfitPackageError, match="wheel"):
        copy_package(one, tmp_path / "copy")
    direct.unlink()
    (tmp_path / "target/demo_base-1.0.dist-info/RECORD").unlink()
    with pytest.raises(UnfitPackageError, match="wheel"):
        copy_package(one, tmp_path / "copy")


def test_a_broken_package_beside_the_compiler_is_left_to_uv(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = installed(shop, "demo-base")
    (shop / "target/demo_base.py").write_text("broken")
    monkeypatch.setattr(staging, "installed_package", lambda name: one if name == "demo-base" else None)
    assert contents(staged(f"demo-base=={one.version}"))["demo_base.py"] == f"value = {one.version[0]}\n".encode()


def test_a_folder_that_cannot_be_written_to_is_reported(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCPC_CACHE_DIR", "/dev/null/cache")
    problem = refused("demo-base==1.0")[0]
    assert problem.code == "MCP405"
    assert "Not a directory" in problem.message
    assert "MCPC_CACHE_DIR" in problem.hint


def test_what_was_not_used_for_long_goes_first(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cache_dir.MAX_ENTRIES_BY_KIND, "packages", 2)
    one = staged("demo-base==1.0")
    two = staged("demo-base==2.0")
    os.utime(two.root.parent, (1, 1))
    staged("demo==1.0")
    assert one.root.exists()
    assert not two.root.exists()


def test_two_at_once_make_one_folder(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = cached_packages._rename

    def late(made: Path, folder: Path) -> None:
        if not folder.exists():
            shutil.copytree(made, folder)
        real(made, folder)

    monkeypatch.setattr(cached_packages, "_rename", late)
    one = staged("demo-base==1.0")
    assert contents(one)["demo_base.py"] == b"value = 1\n"
    assert len(list(one.root.parents[1].iterdir())) == 1


def test_the_folder_of_staged_packages_is_the_user_s_own(shop: Path) -> None:
    one = staged("demo-base==1.0")
    assert stat.S_IMODE(one.root.parents[1].stat().st_mode) == 0o700


def test_pydantic_comes_at_the_versions_beside_the_compiler() -> None:
    found, problems = with_pydantic(wanted("annotated-types==0.7.0", "demo==1"))
    assert problems == ()
    texts = {one.name: one.text for one in found}
    assert texts["pydantic"] == f"pydantic=={metadata.version('pydantic')}"
    assert texts["pydantic-core"] == f"pydantic-core=={metadata.version('pydantic-core')}"
    assert texts["annotated-types"] == "annotated-types==0.7.0"


def with_models(files: dict[str, str | bytes]) -> Server:
    """Return the server of these files, as if its handler asked for a model."""
    server, _ = lowered(files)
    (tool,) = server.tools
    handler = replace(tool.handler, binding=("models", "demo"))  # type: ignore[type-var]
    return replace(server, tools=(replace(tool, handler=handler),))


PROJECT: dict[str, str | bytes] = {
    "server.json": SERVER_JSON,
    "tools.json": json.dumps({"tools": [{"name": "demo", "inputSchema": {"type": "object"}}]}),
    "tools.py": "def demo(arguments): pass\n",
}


def test_a_handler_that_asks_for_a_model_has_pydantic_carried(no_uv: None) -> None:
    server, problems = include_packages(with_models(PROJECT), tree(PROJECT), Options())
    assert problems == ()
    assert ("pydantic", metadata.version("pydantic")) in {(one.name, one.version) for one in server.layer.packages}
    assert "pydantic" in server.layer.modules
    assert server.layer.index["modules"] == {"pydantic_core._pydantic_core": 0}


def test_a_handler_that_asks_for_a_model_needs_the_second_pydantic(shop: Path) -> None:
    wheel(shop, "pydantic", "1.10", {"pydantic.py": ""})
    files = {**PROJECT, "requirements.txt": "# old\npydantic==1.10\n"}
    server, problems = include_packages(with_models(files), tree(files), Options())
    assert [(problem.code, problem.span and problem.span.start) for problem in problems] == [("MCP403", 6)]
    assert not server.layer.complete


def test_the_project_s_own_pydantic_is_taken_if_it_is_the_second() -> None:
    own = wanted("pydantic==2.0")
    assert with_pydantic(own) == (own, ())


def test_another_pydantic_than_the_second_makes_no_models(shop: Path) -> None:
    wheel(shop, "pydantic", "1.10", {"pydantic.py": ""})
    own = wanted("pydantic==1.10")
    problems = unsupported_versions([staged("pydantic==1.10")], own)
    assert [(problem.code, problem.span) for problem in problems] == [("MCP403", own[0].span)]


def test_models_of_a_project_with_hashes_need_pydantic_listed() -> None:
    own = wanted(f"demo==1 --hash=sha256:{'0' * 64}")
    assert [problem.code for problem in with_pydantic(own)[1]] == ["MCP403"]
