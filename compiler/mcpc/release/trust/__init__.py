"""Evidence about a built file: whether a project is its source, what it is made of, and what signers sign.

contents.py      a built file taken apart, without any byte left over
comparison.py    two files compared by entry, the likely cause of each difference, and the verdict
second_build.py  a second build in another environment
statements.py    what is published beside a file: the SBOM, provenance, checksums
"""
