"""Launchers: small programs in front of an archive, for systems that start no script by its first line."""
