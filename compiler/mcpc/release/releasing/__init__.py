"""A release: every file that a project publishes, made from one built server, with their checksums.

A product is a function in `products.py` and a row of PRODUCTS. The same sources and options make the same bytes.
"""

from mcpc.release.releasing.plan import ReleasePlan, read_plan
from mcpc.release.releasing.products import PRODUCTS, ReleaseInput, release_files

__all__ = ["PRODUCTS", "ReleaseInput", "ReleasePlan", "read_plan", "release_files"]
