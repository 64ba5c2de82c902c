"""The effects that are rare: what a driver does with them, whichever it is."""

from __future__ import annotations

from mcpc_runtime.errors import tell
from mcpc_runtime.lazy import lazy
from mcpc_runtime.protocol.effects import Give, Look, Publish, Tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.interfaces import Driver
    from mcpc_runtime.protocol.effects import Effect
    from mcpc_runtime.watching import watch
else:
    watch = lazy("mcpc_runtime.watching:watch")


def perform(driver: Driver, effect: Effect) -> None:
    """Do it; a driver to whose clients an effect means nothing passes it over here."""
    if isinstance(effect, Tell):
        tell(effect.text)
    elif isinstance(effect, Publish):
        driver.publish(effect)
    elif isinstance(effect, Look):
        watch(driver)
    elif isinstance(effect, Give) and driver.dispatcher is not None:
        driver.dispatcher.give(effect.call, effect.reply, effect.value)
