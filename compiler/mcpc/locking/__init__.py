"""Locks: what `mcpc lock` writes, a `pylock.toml` (PEP 751) with one file of each package for each target.

    project ─requirements─▶ LockRequest ─resolve, by uv or pip─▶ ResolvedFiles ─assemble─▶ table ─lock_text─▶ bytes

The resolver chooses versions only.  What is locked is decided here, by the tags of each target and the metadata of the
wheels themselves, so that both resolvers give the same bytes for the same versions.
"""

from mcpc.locking.making import LockOrder, MadeLock, make_lock
from mcpc.locking.resolution import RESOLVERS

__all__ = ["RESOLVERS", "LockOrder", "MadeLock", "make_lock"]
