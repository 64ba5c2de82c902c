"""Import of a project of any format: writes it in the native format, from its parsed definitions."""

from mcpc.workbench.importing.translation import DefinitionRow, Translation, translate

__all__ = ["DefinitionRow", "Translation", "translate"]
