"""The protocol revisions a server is compiled for, oldest first: a new one is a new file and a row here."""

from mcpc.revisions.r2024_11_05 import REVISION as R2024_11_05
from mcpc.revisions.r2025_03_26 import REVISION as R2025_03_26
from mcpc.revisions.r2025_06_18 import REVISION as R2025_06_18
from mcpc.revisions.r2025_11_25 import REVISION as R2025_11_25
from mcpc.revisions.r2026_07_28 import REVISION as R2026_07_28
from mcpc.revisions.revision import Revision

REVISIONS: tuple[Revision, ...] = (R2024_11_05, R2025_03_26, R2025_06_18, R2025_11_25, R2026_07_28)

__all__ = ["REVISIONS", "Revision"]
