"""Why a resolver found nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpc.packages.platforms import Target
    from mcpc.packages.uv_failures import NoWheelError


class ResolutionError(Exception):
    """No versions, or no files, satisfy the requirements; the message describes why, `hint` what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class OnlySourcesError(ResolutionError):
    """A package has no wheel for a target, but a source distribution."""

    def __init__(self, absent: NoWheelError, target: Target) -> None:
        super().__init__(absent.describe(target))
        self.absent = absent
        self.target = target
