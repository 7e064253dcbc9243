"""Osculating elements of bodies from their states, and their history in a run, with whole revolutions counted."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from universe.domain.nbody.initial_conditions import InitialConditions
from universe.domain.nbody.integration.point_masses import compute_subsystem_masses
from universe.domain.orbits.kepler_equation import Floats
from universe.domain.units_and_dates import G

_PARABOLIC: Final = 1e-12
"""The total energy, relative to the potential energy, below which the orbit counts as a parabola."""
_FLAT: Final = 1e-13
"""Below this sine of the inclination the node has no direction and is set to 0."""


@dataclass(frozen=True, slots=True)
class OsculatingElements:
    """Elements in arrays of one shape: AU and degrees, in the reference frame.

    A hyperbola has a negative semi-major axis, and a mean anomaly that is not within one turn. The node of an orbit in
    the reference plane is 0. All elements of a body without a centre are not-a-number.
    """

    semi_major_axis: Floats
    eccentricity: Floats
    inclination: Floats
    longitude_of_ascending_node: Floats
    argument_of_periapsis: Floats
    true_anomaly: Floats
    mean_anomaly: Floats
    mean_longitude: Floats


def compute_jacobi_elements(start: InitialConditions, positions: Floats, velocities: Floats) -> OsculatingElements:
    """Return the Jacobi elements of all bodies of a run, from states of shape (…, n, 3) in the order of the start.

    The elements of the root are not-a-number.
    """
    return compute_osculating_elements(
        start.relative_matrix @ positions, start.relative_matrix @ velocities, G * start.orbited_mass
    )


@np.errstate(invalid="ignore", divide="ignore", over="ignore")
def compute_osculating_elements(positions: ArrayLike, velocities: ArrayLike, mu: ArrayLike) -> OsculatingElements:
    """Return the elements of relative states of shape (…, 3), in AU and AU a day, for mu = G times the mass orbited."""
    x, v = np.asarray(positions, dtype=np.float64), np.asarray(velocities, dtype=np.float64)
    attraction = np.where(np.asarray(mu, dtype=np.float64) > 0, mu, np.nan)
    distance, square = np.sqrt(_compute_dot_products(x, x)), _compute_dot_products(v, v)
    momentum = np.cross(x, v)
    towards_pole, across = momentum[..., 2], np.hypot(momentum[..., 0], momentum[..., 1])
    size = np.sqrt(_compute_dot_products(momentum, momentum))
    node = np.where(across > _FLAT * size, np.arctan2(momentum[..., 0], -momentum[..., 1]), 0.0)
    bound = 2 - square * distance / attraction
    axis = distance / np.where(np.abs(bound) <= _PARABOLIC, 0.0, bound)
    # e cos f and e sin f by the radial motion: accurate for circles, where the vector to the periapsis is noise.
    along, radial = (
        size * size / (attraction * distance) - 1,
        _compute_dot_products(x, v) * size / (attraction * distance),
    )
    eccentricity, true = np.hypot(along, radial), np.arctan2(radial, along)
    latitude = _compute_argument_of_latitude(x, momentum / size[..., None], node)
    periapsis = latitude - true
    mean = _compute_mean_anomaly(true, eccentricity)
    closed = eccentricity < 1
    longitude = node + periapsis + mean
    return OsculatingElements(
        axis,
        eccentricity,
        np.degrees(np.arctan2(across, towards_pole) + 0 * attraction),
        np.degrees(node + 0 * attraction) % 360,
        np.degrees(periapsis) % 360,
        np.degrees(true) % 360,
        np.where(closed, np.degrees(mean) % 360, np.degrees(mean)),
        np.where(closed, np.degrees(longitude) % 360, np.degrees(longitude)),
    )


def _compute_argument_of_latitude(x: Floats, pole: Floats, node: Floats) -> Floats:
    """Return the angle from the ascending node to the body along its motion, in radians."""
    to_node = np.stack([np.cos(node), np.sin(node), np.zeros_like(node)], axis=-1)
    return np.arctan2(_compute_dot_products(x, np.cross(pole, to_node)), _compute_dot_products(x, to_node))


def _compute_mean_anomaly(true: Floats, eccentricity: Floats) -> Floats:
    half = true / 2
    closed = 2 * np.arctan2(
        np.sqrt(np.maximum(1 - eccentricity, 0)) * np.sin(half), np.sqrt(1 + eccentricity) * np.cos(half)
    )
    open_ = 2 * np.arctanh(np.sqrt((eccentricity - 1) / (eccentricity + 1)) * np.tan(half))
    return np.where(eccentricity < 1, closed - eccentricity * np.sin(closed), eccentricity * np.sinh(open_) - open_)


def _compute_dot_products(first: Floats, second: Floats) -> Floats:
    return np.einsum("...i,...i->...", first, second)


OPEN_AXIS: Final = 1e12
"""AU: an orbit with a longer semi-major axis is a parabola with rounding errors."""
_SAMPLED: Final = ("axes", "eccentricities", "inclinations", "tilts", "longitudes", "apsides")
_SMOOTHED: Final = 5
"""Samples over which an osculating mean motion is averaged to predict the next longitude."""
_AMBIGUOUS: Final = 90.0
"""Degrees between a predicted and a sampled longitude beyond which the number of revolutions is a guess."""


class Samples(Protocol):
    """States of a run at evenly spread times."""

    @property
    def times(self) -> Floats: ...
    @property
    def positions(self) -> Floats: ...
    @property
    def velocities(self) -> Floats: ...


@dataclass(frozen=True, slots=True)
class OrbitHistory:
    """Jacobi elements of n bodies at m times, in AU and degrees; not-a-number where a body has no closed orbit."""

    ids: tuple[str, ...]
    names: tuple[str, ...]
    masses: Floats
    """Shape (n,): solar masses of each body with everything that orbits it."""
    central_masses: Floats
    """Shape (n,): solar masses of the parent alone; 0 for a root."""
    parents: tuple[int, ...]
    times: Floats
    """Shape (m,): days since the start."""
    axes: Floats
    """Shape (m, n)."""
    eccentricities: Floats
    inclinations: Floats
    """To the reference plane."""
    tilts: Floats
    """To the invariable plane of the siblings."""
    longitudes: Floats
    """Mean longitudes about the invariable plane of the siblings, with whole revolutions; shape (m, n)."""
    apsides: Floats
    """Longitudes of the periapsis in the same frame, within one turn."""
    mean_motions: Floats
    """Degrees a day over the run, shape (n,); not-a-number where the samples do not determine it."""

    @property
    def periods(self) -> Floats:
        """Return the mean periods in days."""
        return 360 / self.mean_motions

    @property
    def span(self) -> float:
        """Return the days between the first and the last sample."""
        return float(abs(self.times[-1] - self.times[0]))

    def mask_bodies(self, is_gone: NDArray[np.bool_]) -> "OrbitHistory":
        """Return the motion with not-a-number where a body is gone, of shape (m, n)."""
        if not is_gone.any():
            return self
        left = {name: np.where(is_gone, np.nan, getattr(self, name)) for name in _SAMPLED}
        return replace(self, **left, mean_motions=np.where(is_gone.any(axis=0), np.nan, self.mean_motions))

    def select_samples(self, samples: slice) -> "OrbitHistory":
        """Return the motion at some of its times, with the mean motions of all."""
        return replace(self, times=self.times[samples], **{name: getattr(self, name)[samples] for name in _SAMPLED})

    def list_sibling_families(self) -> list[list[int]]:
        """Return the bodies that share a parent, each family from the inside outwards."""
        order = np.argsort(np.where(self.axes[0] > 0, self.axes[0], np.inf), kind="stable")
        return [
            [int(index) for index in order if self.parents[index] == parent]
            for parent in sorted(set(self.parents) - {-1})
        ]


@np.errstate(invalid="ignore", divide="ignore")
def compute_orbit_history(start: InitialConditions, samples: Samples) -> OrbitHistory:
    """Return the orbits of a run from its samples."""
    seen = _compute_elements(start, samples.positions, samples.velocities)
    turned = _compute_elements(start, samples.positions, samples.velocities, _compute_invariable_frames(start))
    times = samples.times - samples.times[0]
    # A parabola has no period, and rounding must not make one of its longitudes.
    rates = 360 / _compute_periods(start, np.where(np.isfinite(seen.semi_major_axis), seen.semi_major_axis, np.nan))
    longitudes = _unwrap_longitudes(times, turned.mean_longitude, rates)
    return OrbitHistory(
        start.ids,
        start.names,
        compute_subsystem_masses(start.masses, start.parents),
        np.array([start.masses[parent] if parent >= 0 else 0.0 for parent in start.parents]),
        start.parents,
        times,
        seen.semi_major_axis,
        seen.eccentricity,
        seen.inclination,
        turned.inclination,
        longitudes,
        (turned.longitude_of_ascending_node + turned.argument_of_periapsis) % 360,
        _fit_slopes(times, longitudes),
    )


def iterate_pairs_neighbours_first(family: Sequence[int]) -> Iterator[tuple[int, int, bool]]:
    """Yield all pairs of a family (inner, outer, whether they are neighbours), the closest in rank first."""
    for gap in range(1, len(family)):
        for inner, outer in zip(family, family[gap:], strict=False):
            yield inner, outer, gap == 1


def _compute_elements(
    start: InitialConditions, positions: Floats, velocities: Floats, frames: Floats | None = None
) -> OsculatingElements:
    offsets, speeds = start.relative_matrix @ positions, start.relative_matrix @ velocities
    if frames is not None:
        offsets, speeds = (np.einsum("nij,...nj->...ni", frames, one) for one in (offsets, speeds))
    return compute_osculating_elements(offsets, speeds, G * start.orbited_mass)


def _compute_invariable_frames(start: InitialConditions) -> Floats:
    """Return for each body a rotation to axes whose z is the angular momentum of the body and its siblings.

    Angles among siblings then do not depend on the reference plane, nor on which of its sides is called up.
    """
    offsets, speeds = start.relative_matrix @ start.positions, start.relative_matrix @ start.velocities
    momenta = np.cross(offsets, speeds) * np.maximum(start.masses, 1e-30)[:, None]
    frames = np.broadcast_to(np.eye(3), (len(start.ids), 3, 3)).copy()
    for parent in set(start.parents) - {-1}:
        family = [index for index, one in enumerate(start.parents) if one == parent]
        pole = momenta[family].sum(axis=0)
        if (size := float(np.linalg.norm(pole))) > 0:
            frames[family] = _make_frame_with_pole(pole / size)
    return frames


def _make_frame_with_pole(pole: Floats) -> Floats:
    nearly_x = np.eye(3)[0 if abs(pole[0]) < 0.9 else 1]
    across = nearly_x - float(nearly_x @ pole) * pole
    first: Floats = across / float(np.linalg.norm(across))
    second: Floats = np.cross(pole, first)
    return np.stack([first, second, pole])


def _unwrap_longitudes(times: Floats, longitudes: Floats, rates: Floats) -> Floats:
    """Return longitudes that grow with every revolution; not-a-number for a body whose revolutions are ambiguous."""
    steps = np.diff(times)[:, None]
    kernel = np.ones(min(_SMOOTHED, len(times)))
    weights = np.convolve(np.ones(len(times)), kernel, "same")
    smooth = np.stack([np.convolve(rate, kernel, "same") / weights for rate in rates.T], axis=1)
    expected = (smooth[1:] + smooth[:-1]) / 2 * steps
    surprise = (np.diff(longitudes, axis=0) - expected + 180) % 360 - 180
    counted = longitudes[0] + np.concatenate([np.zeros((1, rates.shape[1])), np.cumsum(expected + surprise, axis=0)])
    is_known = (np.abs(surprise) < _AMBIGUOUS).all(axis=0)
    return np.where(is_known, counted, np.nan)


def _fit_slopes(times: Floats, values: Floats) -> Floats:
    """Return the slope of the best line through each column."""
    centred = times - times.mean()
    square = float(centred @ centred)
    slopes: Floats = np.einsum("m,mn->n", centred, values) / (square or np.nan)
    return slopes


@np.errstate(invalid="ignore", divide="ignore")
def _compute_periods(start: InitialConditions, axes: Floats) -> Floats:
    return 2 * np.pi * np.sqrt(axes**3 / (G * start.orbited_mass))
