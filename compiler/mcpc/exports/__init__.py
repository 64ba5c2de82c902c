"""Deployment files for a built server, generated from its build facts, to be reviewed before use.

An export is a module here and a row in EXPORTS: a function from a `Deployment` to a text.
"""

from __future__ import annotations

from mcpc.carriers.errors import UnusableValueError
from mcpc.exports.deployment import Deployment, base_image
from mcpc.exports.kubernetes import kubernetes
from mcpc.exports.nginx import nginx

EXPORTS = {"kubernetes": kubernetes, "nginx": nginx}

__all__ = ["EXPORTS", "Deployment", "UnusableValueError", "base_image"]
