"""Commands below `mcpc editor`: what shells and editors need to help with a project."""
