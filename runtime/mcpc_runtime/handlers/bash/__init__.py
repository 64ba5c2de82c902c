"""Bash functions."""
