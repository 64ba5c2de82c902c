"""Commands below `mcpc ship`: forms in which a server reaches its users, and files that deploy it."""
