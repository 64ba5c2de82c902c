"""What the modules of the stand-in `fastmcp` export; `fastmcp_modules.py` says which module has which name."""
