"""Models and constraints of pydantic, reST's docstrings, results of several kinds."""

from __future__ import annotations

from typing import Annotated

from fastmcp import FastMCP
from pydantic import BaseModel, Field

mcp = FastMCP("Trips")


class Place(BaseModel):
    """Somewhere."""

    name: str = Field(min_length=2, description="What it is called")
    nights: int = Field(default=1, ge=1)


class Trip(BaseModel):
    places: list[Place]
    price: float | None = None


@mcp.tool
def plan(
    trip: Trip,
    people: Annotated[int, Field(ge=1, le=9, description="Who comes along")] = 2,
    currency: str = Field("EUR", pattern="^[A-Z]{3}$"),
) -> Trip:
    """Plan a trip.

    :param trip: Where it goes.
    :param currency: In what is paid.
    """
    assert isinstance(trip, Trip)
    return Trip(places=trip.places, price=100.0 * people * sum(place.nights for place in trip.places))


@mcp.tool
def names(places: list[Place]) -> list[str]:
    """List the names."""
    return [place.name for place in places]


@mcp.tool
def longest(trip: Trip) -> Place | None:
    """Find where the stay is longest."""
    return max(trip.places, key=lambda place: place.nights, default=None)
