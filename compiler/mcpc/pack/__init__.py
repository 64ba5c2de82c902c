"""From generated modules to one executable file, and the cache of these files."""
