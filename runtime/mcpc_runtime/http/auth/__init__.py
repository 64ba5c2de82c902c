"""Who may call over HTTP: bearer tokens of our own, and those of an OAuth authorization server.

Its law: a secret is compared as a digest, in a time that says nothing about it, and is in no answer, text or `repr`.
"""
