"""Files below a folder."""
