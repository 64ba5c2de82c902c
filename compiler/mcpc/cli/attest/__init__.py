"""Commands below `mcpc attest`: what a built file contains, how it was built, and whether it is what it says."""
