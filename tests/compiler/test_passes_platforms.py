"""Handlers and the platforms that a server is built for: a Bash on Windows, and compiled programs."""

from mcpc.packages.platforms import marker_values, parse_target, system_of

LINUX, MACOS, WINDOWS, ARM = "manylinux2014_x86_64", "macosx_11_0_arm64", "win_amd64", "win_arm64-cp312"


def test_tags_of_windows_are_targets_with_its_markers() -> None:
    systems = {tag: system_of(tag) for tag in (LINUX, MACOS, WINDOWS, ARM, "win32", "windows", "")}
    assert [*systems.values()] == ["linux", "darwin", "win32", "win32", "win32", "", ""]
    machines = []
    for tag in (WINDOWS, ARM, "win32"):
        target = parse_target(tag)
        values = marker_values(target)  # type: ignore[arg-type]
        assert (values["sys_platform"], values["os_name"], values["platform_system"]) == ("win32", "nt", "Windows")
        machines.append(values["platform_machine"])
    assert machines == ["AMD64", "ARM64", "x86"]
