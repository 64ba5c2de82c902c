"""Evidence about a built file: whether a project is its source, what it is made of, and what signers sign.

contents.py      a built file taken apart, without any byte left over
comparison.py    two files compared by entry
causes.py        the likely cause of each difference, and the verdict
environments.py  a second build in which everything differs that may differ
bill.py          the SBOM beside a file, with the digest of the file
provenance.py    an unsigned statement about how a file was built
checksums.py     SHA256SUMS: written and checked
"""
