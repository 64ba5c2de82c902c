"""Authentication over HTTP: static bearer tokens, and those of an OAuth authorization server.

Rule: a secret is compared as a digest, in a time that says nothing about it, and is in no answer, text or `repr`.
"""
