"""Commands below `mcpc generate`: code and documentation made of a server's definitions."""
