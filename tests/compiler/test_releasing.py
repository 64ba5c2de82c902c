"""Names of the files of a release that no product makes."""

from mcpc.release.carriers import BuiltServer
from mcpc.release.releasing import ReleaseInput, release_files


def test_a_program_has_the_ending_of_its_system() -> None:
    server = BuiltServer("Weather", "1.0.0", data=b"x")
    targets = ("linux_x86_64", "macosx_arm64", "win_amd64", "win_arm64")
    made = release_files(ReleaseInput(server, tuple((target, server) for target in targets)), ())
    assert [file.path for file in made] == [
        *("weather-linux_x86_64", "weather-macosx_arm64", "weather-win_amd64.exe", "weather-win_arm64.exe")
    ]
