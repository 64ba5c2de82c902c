"""What the modules of the stand-in `fastmcp` export; `modules.py` says which module has which name."""
