"""How a built server is run by others: configuration written out of what is known of it, to be read before it is used.

An export is a file here and a row in EXPORTS: a function from a `Deployment` to a text.
"""

from __future__ import annotations

from mcpc.exports.base_image import base_image
from mcpc.exports.deployment import Deployment, UnfitError
from mcpc.exports.kubernetes import kubernetes
from mcpc.exports.nginx import nginx

EXPORTS = {"kubernetes": kubernetes, "nginx": nginx}

__all__ = ["EXPORTS", "Deployment", "UnfitError", "base_image"]
