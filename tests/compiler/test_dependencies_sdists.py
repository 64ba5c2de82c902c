"""Packages without a wheel: refused with their own code, or built from their sources, confined and the same each time."""

import hashlib
import io
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from mcpc.diagnostics import Diagnostics
from mcpc.model.ir.layer import Origins
from mcpc.options import Options
from mcpc.packages import StagedPackages, read_requirements, sdists, stage_packages, staging
from mcpc.packages.platforms import Target
from mcpc.packages.sdists import BuildError, BuiltWheel, check_fits, unpack
from support.projects import tree
from support.wheels import only, sdist, sources, wheel

pytestmark = pytest.mark.slow
VALUE = {"bare.py": "value = 1\n"}


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages, one of them without a wheel, and uv that knows of no other."""
    only(tmp_path, monkeypatch)
    sdist(tmp_path, "bare", "1.0", VALUE)
    wheel(tmp_path, "needy", "1.0", {"needy.py": ""}, needs=["bare>=1"])
    return tmp_path


def staged(
    *lines: str, allowed: bool = True, files: dict[str, str] | None = None
) -> tuple[StagedPackages | None, Diagnostics]:
    project = tree({"requirements.txt": "".join(f"{line}\n" for line in lines), **(files or {})})
    wanted, problems = read_requirements(replace(project, options=Options(allow_sdist=allowed)))
    assert [problem for problem in problems if problem.code != "MCP404"] == []
    return stage_packages(wanted)


def contents(*lines: str, files: dict[str, str] | None = None) -> dict[str, bytes]:
    found, problems = staged(*lines, files=files)
    assert found is not None, problems
    return {
        path.relative_to(found.root).as_posix(): path.read_bytes() for path in found.root.rglob("*") if path.is_file()
    }


@pytest.mark.parametrize(("line", "words"), [
    ("bare==1.0", "`bare==1.0` has no wheel for this machine with Python"),
    ("needy==1.0", "`bare==1.0`, which `needy` needs, has no wheel for this machine"),
])  # fmt: skip
def test_what_has_only_sources_is_refused_at_its_requirement(shop: Path, line: str, words: str) -> None:
    found, problems = staged("# first", line, allowed=False)
    assert found is None
    assert [(problem.code, problem.span.start if problem.span else 0) for problem in problems] == [("MCP417", 8)]
    assert words in problems[0].message
    assert problems[0].hint.startswith("`--allow-sdist`, or `allow-sdist = true`")


@pytest.mark.parametrize("allowed", [False, True])
def test_a_locked_version_with_wheels_of_other_machines_only(shop: Path, allowed: bool) -> None:
    wheel(shop, "bare", "1.0", VALUE, tag="cp311-cp311-win32")
    wheel(shop, "bare", "2.0", VALUE)
    found, problems = staged("-c lock.txt", "needy==1.0", allowed=allowed, files={"lock.txt": "bare==1.0\n"})
    if allowed:
        assert found is not None, problems
        assert {item.name: item.version for item in found.distributions} == {"bare": "1.0", "needy": "1.0"}
    else:
        assert [problem.code for problem in problems] == ["MCP417"]
        assert "`bare==1.0`, which `needy` needs, has no wheel for this machine" in problems[0].message


def test_a_version_that_does_not_exist_is_named_also_where_a_lock_says_it(shop: Path) -> None:
    _, problems = staged("-c lock.txt", "bare==7.0", files={"lock.txt": "bare==7.0\n"})
    assert [problem.code for problem in problems] == ["MCP405"]
    assert "there is no version of bare==7.0" in problems[0].message


def test_a_version_that_does_not_exist_is_not_about_wheels(shop: Path) -> None:
    assert [problem.code for problem in staged("bare==7.0", allowed=False)[1]] == ["MCP405"]


def test_it_is_built_if_that_is_allowed_and_kept(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = contents("needy==1.0")
    assert found["bare.py"] == b"value = 1\n"
    monkeypatch.setattr(sdists, "_ask", lambda *given: pytest.fail("it was built again"))
    assert contents("bare==1.0") == {path: data for path, data in found.items() if path.startswith("bare")}


@pytest.mark.parametrize("most", [1, 2])
def test_only_so_many_packages_are_built(shop: Path, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    sdist(shop, "second", "1.0", {"second.py": ""})
    monkeypatch.setattr(staging, "MAX_BUILT", most)
    packages, problems = staged("bare==1.0", "second==1.0")
    assert [problem.code for problem in problems] == ["MCP417"] * (2 - most)
    assert (packages is not None) is (most == 2)


def test_two_builds_are_the_same(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = contents("bare==1.0")
    monkeypatch.setenv("MCPC_CACHE_DIR", str(shop / "elsewhere"))
    assert contents("bare==1.0") == found


def test_a_digest_is_that_of_the_sources(shop: Path) -> None:
    digest = hashlib.sha256((shop / "bare-1.0.tar.gz").read_bytes()).hexdigest()
    assert contents(f"bare==1.0 --hash=sha256:{digest}")["bare.py"] == b"value = 1\n"
    _, problems = staged(f"bare==1.0 --hash=sha256:{'0' * 64}")
    assert [problem.code for problem in problems] == ["MCP418"]
    assert "the digest of its sources is not among those of the requirement" in problems[0].message


DURING = {
    "an exception": ("raise ValueError('this machine is too small')", "ValueError: this machine is too small"),
    "its end": ("import os; os._exit(3)", "it ended the process with status 3"),
    "writing elsewhere": ("import os; os.makedirs({folder!r}, exist_ok=True); open({place!r}, 'w')", "denied"),
}


@pytest.mark.parametrize("name", DURING)
def test_a_build_that_fails_is_quoted(name: str, shop: Path) -> None:
    code, words = DURING[name]
    place = shop / "written"
    sdist(shop, "bad", "1.0", {"bad.py": "", "during.py": code.format(place=str(place), folder=str(shop))})
    found, problems = staged("bad==1.0")
    if found is None:
        assert [problem.code for problem in problems] == ["MCP418"]
        assert problems[0].message.startswith("`bad` could not be built: ")
        assert words in problems[0].message
        assert problems[0].span is not None
    assert found is None or name == "writing elsewhere"
    assert not place.exists() or name == "writing elsewhere"  # where the kernel has no Landlock


def test_what_a_build_requires_is_taken_from_wheels(shop: Path) -> None:
    files = sources("tooled", "1.0", {"tooled.py": ""})
    files["pyproject.toml"] = files["pyproject.toml"].replace("requires = []", "requires = ['tool==1.0']")
    files["during.py"] = "import tool\nopen('tooled.py', 'w').write(f'by = {tool.name!r}\\n')\n"
    wheel(shop, "tool", "1.0", {"tool.py": "name = 'tool'\n"})
    place = {f"libs/tooled/{path}": text for path, text in files.items()}
    assert contents("./libs/tooled", files=place)["tooled.py"] == b"by = 'tool'\n"
    place["libs/tooled/pyproject.toml"] = place["libs/tooled/pyproject.toml"].replace("tool==1.0", "tool==2.0")
    _, problems = staged("./libs/tooled", files=place)
    assert [problem.code for problem in problems] == ["MCP418"]
    assert "what its build requires is missing" in problems[0].message


def test_a_folder_of_the_project_is_built_without_an_option(shop: Path) -> None:
    local = {
        f"libs/own-lib/{path}": text for path, text in sources("own-lib", "1.0", {"own_lib.py": "x = 1\n"}).items()
    }
    project = tree({"requirements.txt": "-e ./libs/own-lib\n", **local})
    wanted, _ = read_requirements(project)
    found, problems = stage_packages(wanted)
    assert found is not None, problems
    assert found.modules == {"own_lib"}
    changed = replace(wanted[0].local, files={**wanted[0].local.files, "own_lib.py": b"x = 2\n"})
    again, _ = stage_packages([replace(wanted[0], local=changed)])
    assert (again.root / "own_lib.py").read_bytes() == b"x = 2\n"


def test_a_wheel_of_the_project_is_installed(shop: Path) -> None:
    made = wheel(shop / "other", "inside", "1.0", {"inside.py": "x = 1\n"}, needs=["needy==1.0"])
    project = tree(
        {
            "requirements.txt": "inside @ ./w/inside-1.0-py3-none-any.whl\n",
            "w/inside-1.0-py3-none-any.whl": made.read_bytes(),
        }
    )
    wanted, problems = read_requirements(replace(project, options=Options(allow_sdist=True)))
    assert problems == ()
    found, problems = stage_packages(wanted)
    assert found is not None, problems
    assert found.modules == {"inside", "needy", "bare"}


def test_constraints_decide_what_is_installed(shop: Path) -> None:
    for version in ("1.0", "2.0"):
        wheel(shop, "base", version, {"base.py": f"version = {version}\n"})
    wheel(shop, "user", "1.0", {"user.py": ""}, needs=["base"])
    assert contents("user==1.0")["base.py"] == b"version = 2.0\n"
    limited = contents("-c limits.txt", "user==1.0", files={"limits.txt": "base<2\n"})
    assert limited["base.py"] == b"version = 1.0\n"


def test_an_address_that_cannot_be_read_is_named_by_its_place(shop: Path) -> None:
    _, problems = staged("needy==1.0", f"x @ http://127.0.0.1:9/x-1-py3-none-any.whl#sha256={'0' * 64}")
    assert [(problem.code, problem.span.start if problem.span else 0) for problem in problems] == [("MCP405", 11)]


def packed(**files: str) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
        link = tarfile.TarInfo("x-1/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return data.getvalue()


def test_sources_are_unpacked_into_their_folder_only() -> None:
    assert unpack("x", "x-1.tar.gz", packed(**{"x-1/a/b.py": "1", "x-1/c": "2"})) == {"a/b.py": b"1", "c": b"2"}
    for name in ("x-1/../../out", "/etc/out"):
        with pytest.raises(BuildError, match="outside"):
            unpack("x", "x-1.tar.gz", packed(**{name: "1"}))
    with pytest.raises(BuildError, match="cannot be unpacked"):
        unpack("x", "x-1.zip", b"no archive")


def test_sources_are_found_where_the_project_says(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UV_FIND_LINKS")
    wanted, _ = read_requirements(replace(tree({"requirements.txt": "bare==1.0\n"}), options=Options(allow_sdist=True)))
    linked = [replace(item, origins=Origins(find_links=(str(shop),))) for item in wanted]
    found, problems = stage_packages(linked)
    assert found is not None, problems


@pytest.mark.parametrize(("tag", "target", "fits"), [
    ("py3-none-any", Target("win_amd64", "3.13"), True), ("cp312-cp312-linux_x86_64", Target("win_amd64", "3.12"), False),
    ("cp312-cp312-win_amd64", Target("win_amd64", "3.12"), True), ("cp312-cp312-win_amd64", Target("win_amd64", "3.13"), False),
])  # fmt: skip
def test_a_built_wheel_is_for_a_target_or_refused(tag: str, target: Target, fits: bool) -> None:
    wheel = BuiltWheel(f"bare-1.0-{tag}.whl", b"")
    if fits:
        check_fits("bare", wheel, target)
    else:
        with pytest.raises(BuildError, match=f"{tag}.whl` is not for win_amd64 with Python {target.python}"):
            check_fits("bare", wheel, target)
