"""A project of any format, written in our own: what was understood of it, and not its text, decides what is written."""

from mcpc.importing.translation import Row, Translation, translate

__all__ = ["Row", "Translation", "translate"]
