"""Carriers: the forms in which a built file reaches its users, each a function from a `BuiltServer` to files.

A carrier is a module here and a command.  The same server and options make the same bytes: entries are sorted, times
and modes are constants, nothing is compressed, and every value gets into a file through a serialiser of that format.
"""

from mcpc.release.carriers.built_server import (
    BuiltServer,
    DeclaredSetting,
    SkillFolder,
    UnusableFileError,
    UnusableValueError,
    built_server,
)

__all__ = ["BuiltServer", "DeclaredSetting", "SkillFolder", "UnusableFileError", "UnusableValueError", "built_server"]
