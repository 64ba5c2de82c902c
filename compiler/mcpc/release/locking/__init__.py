"""Locks: what `mcpc lock` writes, a `pylock.toml` (PEP 751) with one file of each package for each target.

    project ─requirements─▶ LockRequest ─resolve, by uv─▶ ResolvedFiles ─assemble─▶ table ─lock_text─▶ bytes

uv chooses versions only.  What is locked is decided here, by the tags of each target and the metadata of what is
installed there, so that the same versions give the same bytes.
"""

from mcpc.release.locking.making import LockOrder, MadeLock, make_lock

__all__ = ["LockOrder", "MadeLock", "make_lock"]
