"""Patterns for sharing threads, places and turns."""
