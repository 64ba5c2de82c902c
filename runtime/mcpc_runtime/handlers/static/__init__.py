"""Answers that are known when the server is built."""
