"""Executables."""
