"""The inputs of computed values, and the rules of `universe.domain.derivation` in words."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from universe.domain.derivation import get_field_value
from universe.domain.state import get_derived_element
from universe.orbits.grouping import list_orbited_bodies
from universe.orbits.units import SOLAR_MASS_IN_KG

_PLANE: Final = ("kepler.inclination", "kepler.longitudeOfAscendingNode", "kepler.argumentOfPeriapsis")
_AXIS: Final = ("kepler.semiMajorAxis",)
_SAME: Final = "the same number, for programs that do not read the kepler block"
_RULES: Final[dict[str, tuple[tuple[str, ...], str]]] = {
    "physical.massKg": (("mass",), f"times the mass of the Sun, {SOLAR_MASS_IN_KG:.6g} kg"),
    "physical.radiusKm": (("radius",), "in km, without the magnification of the drawing"),
    "orbitalDistance": (_AXIS, _SAME),
    "semiMajorAxis": (_AXIS, _SAME),
    "eccentricity": (("kepler.eccentricity",), _SAME),
    "orbitalSpeed": (("kepler.period",), "360 degrees divided by the period"),
    "orbitalPhase": (("kepler.meanAnomaly", "kepler.eccentricity"), "the eccentric anomaly, by Kepler's equation"),
    **{f"orbitRot{axis}": (_PLANE, "the orientation of the orbit as turns about the axes") for axis in "XYZ"},
    **{
        f"orbitOffset{axis}": ((*_AXIS, "kepler.eccentricity", *_PLANE), "from the focus of the orbit to its centre")
        for axis in "XYZ"
    },
}
"""The inputs and the rule of each computed field."""


class ValueInputs(NamedTuple):
    """The rule of a computed value, the fields of its body and the bodies whose masses it uses."""

    rule: str
    fields: tuple[str, ...]
    masses: tuple[str, ...] = ()


def find_inputs(stars: Mapping[str, Mapping[str, Any]], key: str, field: str) -> ValueInputs | None:
    """Return the inputs of a computed field of a body; None for a field that is not computed."""
    body = stars[key]
    if field == f"kepler.{get_derived_element(body)}":
        basis = "kepler.semiMajorAxis"
        if field == basis:
            periods = ("kepler.osculatingPeriod", "kepler.period")
            basis = next((one for one in periods if get_field_value(body, one) is not None), periods[1])
        return ValueInputs("by Kepler's third law", (basis,), tuple(list_orbited_bodies(stars, key)))
    fields, rule = _RULES.get(field, ((), ""))
    present = tuple(one for one in fields if get_field_value(body, one) is not None)
    return ValueInputs(rule, present) if present else None
