"""Traits: how servers of a system differ from others, as data set by its front end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class Traits:
    """The differences; all are off by default.

    `unpacks_as_one_entry`: files that handlers read on disk are packed as one entry if all handlers read from disk.
    `announces_extensions`: in every revision, not only in those that define them. `describes_in_schema`: clients find a
    tool's description in its input schema. `keeps_argument_text`: handlers get the unchanged text of the call, so that
    no default is filled in. `other_tools_of`: pairs of a name in `settings` and a contract; those settings receive the
    tools of all other contracts. `hooks`: pairs of a runtime hook and the function that it calls
    (`package.module:name`). `contracts`: those that every server of the system may need. `whole_packages`: runtime
    packages of which all modules are included, with their annotations, because the project's code imports them.
    `suspends_errexit`: functions of a shell are called where their status is tested, so that `set -e` has no effect.
    `serial`: a call begins when the one before it has ended, as its handlers expect.
    `takes_arguments`: what follows `--` on the command line of the built file is for the project's program. `notes`:
    what `mcpc inspect` says about the built file, a sentence each.
    """

    unpacks_as_one_entry: bool = False
    announces_extensions: bool = False
    describes_in_schema: bool = False
    keeps_argument_text: bool = False
    other_tools_of: tuple[tuple[str, str], ...] = ()
    hooks: tuple[tuple[str, str], ...] = ()
    contracts: tuple[str, ...] = ()
    whole_packages: tuple[str, ...] = ()
    takes_arguments: bool = False
    serial: bool = False
    suspends_errexit: bool = False
    notes: tuple[str, ...] = ()

    def __or__(self, other: Self) -> Self:
        """Return the union of two traits."""
        return type(self)(
            unpacks_as_one_entry=self.unpacks_as_one_entry or other.unpacks_as_one_entry,
            announces_extensions=self.announces_extensions or other.announces_extensions,
            describes_in_schema=self.describes_in_schema or other.describes_in_schema,
            keeps_argument_text=self.keeps_argument_text or other.keeps_argument_text,
            other_tools_of=(*self.other_tools_of, *other.other_tools_of),
            contracts=tuple(sorted({*self.contracts, *other.contracts})),
            takes_arguments=self.takes_arguments or other.takes_arguments,
            serial=self.serial or other.serial,
            suspends_errexit=self.suspends_errexit or other.suspends_errexit,
            whole_packages=tuple(sorted({*self.whole_packages, *other.whole_packages})),
            notes=(*self.notes, *other.notes),
            hooks=(*self.hooks, *(hook for hook in other.hooks if hook not in self.hooks)),
        )


NO_TRAITS = Traits()
