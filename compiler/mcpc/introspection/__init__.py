"""Definitions that are Python functions: which there are is read from the source, what they offer is asked of Python.

    Source ─find─▶ MarkedFile ─ask─▶ Answer, one a file: what every marked function offers, or why it cannot be known

Only `ask` runs anything, in a process of its own (`process.py`), and only files in which `find` found a mark.
"""

from mcpc.introspection.marks import find, servers_of
from mcpc.introspection.meanings import KINDS, STATED
from mcpc.introspection.model import Mark, MarkedFile, ServerMark
from mcpc.introspection.process import Answer, Answers, Failure, ask, decisive

__all__ = [
    "KINDS",
    "STATED",
    "Answer",
    "Answers",
    "Failure",
    "Mark",
    "MarkedFile",
    "ServerMark",
    "ask",
    "decisive",
    "find",
    "servers_of",
]
