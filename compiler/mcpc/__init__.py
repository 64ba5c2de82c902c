"""mcpc compiles Model Context Protocol servers: definitions in, one executable file out."""

__version__ = "0.1.0"
