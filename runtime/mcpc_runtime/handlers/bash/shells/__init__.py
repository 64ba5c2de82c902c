"""Bash that has read a library: what it reads, one call of a function, and the fork server that does most of them."""
