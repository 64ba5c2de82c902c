"""Source files as they were read: bytes, text and lines; JSON as a tree with the position of every value."""

from mcpc.reading.json_text import parse_json
from mcpc.reading.json_tree import Json, Member, Node, compact_json, member_of
from mcpc.reading.source import Source, SourceTree, is_executable, judge_encoding
from mcpc.reading.tree import read_tree

__all__ = [
    "Json",
    "Member",
    "Node",
    "Source",
    "SourceTree",
    "compact_json",
    "is_executable",
    "judge_encoding",
    "member_of",
    "parse_json",
    "read_tree",
]
