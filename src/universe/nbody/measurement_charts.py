"""Charts of measurements: transit times against their best lines, and the velocity of a star."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from universe.nbody.body_names import shorten_names
from universe.plotting import Drawing, Panel, Series, draw_chart
from universe.plotting.colours import make_colour_ramp


def draw_transit_chart(reply: Mapping[str, Any], *, title: str) -> Drawing:
    """Return a panel for each planet with at least three transits: minutes late or early against the best line."""
    planets = [one for one in reply["planets"].values() if one["ttvHalfRangeMinutes"] is not None]
    first = _find_time_origin(reply)
    star = next((one["starName"] for one in planets), "")
    names = shorten_names([star, *(one["name"] for one in planets)])[1:]
    panels = [
        Panel(
            f"{name}: observed minus computed, minutes",
            [
                Series(
                    name,
                    [transit["time"] - first for transit in planet["transits"]],
                    [transit["ocMinutes"] for transit in planet["transits"]],
                    colour,
                    is_points=True,
                    width=2.2,
                )
            ],
            f"period {planet['period']:.6f} days, half range {planet['ttvHalfRangeMinutes']:.3g} min",
            lines=(0.0,),
            height=110,
        )
        for name, planet, colour in zip(names, planets, make_colour_ramp(len(planets)), strict=True)
    ]
    return draw_chart(
        panels,
        title=title,
        subtitle="Transit timing variations",
        x_label=_format_axis_label(reply),
        footer=_format_footer(reply),
    )


def draw_velocity_chart(reply: Mapping[str, Any], *, title: str) -> Drawing:
    """Return the velocity of the star over time."""
    samples = reply["samples"]
    times = np.asarray(samples["times"]) - _find_time_origin(reply)
    panel = Panel(
        "radial velocity, m/s, positive away from us",
        [Series(reply["starName"], times, samples["velocities"])],
        f"from {reply['least']:.4g} to {reply['greatest']:.4g} m/s",
        lines=(0.0,) if reply["least"] < 0 < reply["greatest"] else (),
        height=360,
    )
    return draw_chart(
        [panel],
        title=title,
        subtitle=f"Velocity of {reply['starName']}",
        x_label=_format_axis_label(reply),
        footer=_format_footer(reply),
    )


def _find_time_origin(reply: Mapping[str, Any]) -> float:
    """Return the time that the axis counts from."""
    return float(reply["time"]) + (reply["epochJulianDate"] or 0.0)


def _format_axis_label(reply: Mapping[str, Any]) -> str:
    return (
        f"days since {reply['timeScale'].split(' ')[0]} {_find_time_origin(reply):.5f}"
        if reply["epochJulianDate"]
        else "days"
    )


def _format_footer(reply: Mapping[str, Any]) -> str:
    return "Kepler orbits without mutual attraction" if reply["method"] == "kepler" else "N-body (gauss), run twice"
