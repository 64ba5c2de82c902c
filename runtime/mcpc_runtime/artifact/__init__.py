"""The built file as its server sees it: image, packages, settings, bytecode."""
