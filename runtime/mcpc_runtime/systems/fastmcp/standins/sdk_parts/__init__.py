"""The parts of the stand-in of the SDK; `modules.py` says which modules they are in."""
