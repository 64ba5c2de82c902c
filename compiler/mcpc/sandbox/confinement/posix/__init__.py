"""The adapter for POSIX systems: limits from inside by a launcher, and a view of its processes from outside."""
