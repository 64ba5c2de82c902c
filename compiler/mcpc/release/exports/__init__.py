"""Deployment files for a built server, generated from its build facts, to be reviewed before use.

An export is a module here and a row in EXPORTS: a function from a `Deployment` to a text.  Values get into a text by
a serialiser of its format, or are refused; settings are named, and their values are not known here.
"""

from __future__ import annotations

from mcpc.release.carriers.errors import UnusableValueError
from mcpc.release.exports.compose import compose
from mcpc.release.exports.deployment import Deployment, base_image
from mcpc.release.exports.github_actions import github_actions
from mcpc.release.exports.gitlab_ci import gitlab_ci
from mcpc.release.exports.homebrew import homebrew
from mcpc.release.exports.kubernetes import kubernetes
from mcpc.release.exports.nginx import nginx
from mcpc.release.exports.systemd import systemd

EXPORTS = {
    "systemd": systemd,
    "compose": compose,
    "kubernetes": kubernetes,
    "nginx": nginx,
    "github-actions": github_actions,
    "gitlab-ci": gitlab_ci,
    "homebrew": homebrew,
}
OVER_HTTP = frozenset({"systemd", "compose", "kubernetes", "nginx"})
"""The exports of servers that serve over HTTP."""

__all__ = ["EXPORTS", "OVER_HTTP", "Deployment", "UnusableValueError", "base_image"]
