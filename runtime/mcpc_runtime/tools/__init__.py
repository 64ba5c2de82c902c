"""For people: commands and entries of clients; never imported while a server serves."""
