"""Diagnostics as values: returned by every stage, and reported together."""

from mcpc.diagnostics.codes import CODES, DiagnosticCode, explain
from mcpc.diagnostics.model import Diagnostic, Diagnostics, Severity, Span, diagnose, has_errors, in_order

__all__ = [
    "CODES",
    "Diagnostic",
    "DiagnosticCode",
    "Diagnostics",
    "Severity",
    "Span",
    "diagnose",
    "explain",
    "has_errors",
    "in_order",
]
