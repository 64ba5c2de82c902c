"""Problems are values: found anywhere, collected everywhere, reported together."""

from mcpc.diagnostics.codes import CODES, Code, explain
from mcpc.diagnostics.model import Diagnostic, Diagnostics, Severity, Span, diagnose, has_errors, in_order

__all__ = [
    "CODES",
    "Code",
    "Diagnostic",
    "Diagnostics",
    "Severity",
    "Span",
    "diagnose",
    "explain",
    "has_errors",
    "in_order",
]
