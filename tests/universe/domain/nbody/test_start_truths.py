"""The starts of shipped systems are those that REBOUND makes of the same papers, whatever axes they are written in."""

from typing import Final

import numpy as np
import pytest

from tests.universe.domain.nbody.truths import read_truth
from universe.domain.nbody.initial_conditions import InitialConditions, make_initial_conditions
from universe.domain.orbits.kepler_equation import Floats
from universe.domain.systems import load_system

CLOSE: Final = 1e-9
"""Relative: angles of a state are rounded to 1e-10 degrees."""


def relative_states(start: InitialConditions, ids: list[str]) -> tuple[Floats, Floats]:
    """Return positions and velocities of `ids` relative to the first of them."""
    rows = [start.ids.index(one) for one in ids]
    positions, velocities = start.positions[rows], start.velocities[rows]
    return positions[1:] - positions[0], velocities[1:] - velocities[0]


def turned(theirs: Floats, ours: Floats) -> Floats:
    """Return `theirs` after the rotation or mirroring that brings its rows nearest to `ours`.

    Transits cannot tell a system from its mirror image: the paper's inclination of 89.7 degrees may be 90.3.
    """
    left, _, right = np.linalg.svd(theirs.T @ ours)
    return theirs @ left @ right


@pytest.mark.parametrize("name", ["trappist-1", "kepler-90"])
def test_a_transiting_system_starts_as_rebound_starts_it(name: str) -> None:
    truth = read_truth(name).start
    ids = list(truth.ids)
    start = make_initial_conditions(load_system(name), ids)
    assert start.masses == pytest.approx(truth.masses[[truth.ids.index(one) for one in start.ids]], rel=1e-9)
    (our_x, our_v), (their_x, their_v) = relative_states(start, ids), relative_states(truth, ids)
    size, speed = (np.linalg.norm(rows, axis=1, keepdims=True) for rows in (their_x, their_v))
    ours = np.vstack([our_x / size, our_v / speed])
    theirs = np.vstack([their_x / size, their_v / speed])
    assert np.abs(turned(theirs, ours) - ours).max() < CLOSE
    assert (np.cross(our_x, our_v)[:, 2] > 0).all(), "planets go around the pole of the reference plane"


def test_the_planets_start_where_jpl_has_them() -> None:
    truth = read_truth("planets").start
    ids = [one for one in truth.ids if one != "emb"]
    ours = relative_states(make_initial_conditions(load_system("solar-system"), [*ids, "earth", "moon"]), ids)
    for mine, theirs in zip(ours, relative_states(truth, ids), strict=True):
        assert (np.linalg.norm(mine - theirs, axis=1) / np.linalg.norm(theirs, axis=1)).max() < CLOSE


def test_earth_and_moon_start_about_their_barycentre() -> None:
    truth = read_truth("earth-moon").start
    ids = list(truth.ids)
    ours = relative_states(make_initial_conditions(load_system("solar-system"), ids), ids)
    for mine, theirs in zip(ours, relative_states(truth, ids), strict=True):
        assert (np.linalg.norm(mine - theirs, axis=1) / np.linalg.norm(theirs, axis=1)).max() < CLOSE


def test_planets_chosen_without_moons_stand_for_them() -> None:
    truth = read_truth("planets").start
    start = make_initial_conditions(
        load_system("solar-system"), ["earth" if one == "emb" else one for one in truth.ids]
    )
    assert start.masses == pytest.approx(truth.masses, rel=2e-5)
    for ours, theirs in ((start.positions, truth.positions), (start.velocities, truth.velocities)):
        apart = np.linalg.norm((ours - ours[0] - theirs + theirs[0])[1:], axis=1)
        assert (apart / np.linalg.norm(theirs[1:], axis=1)).max() < CLOSE
    assert any(note.startswith("Earth, Jupiter, Saturn, Uranus and Neptune stand for") for note in start.notes)


def test_a_planet_of_which_a_moon_is_chosen_stands_for_itself() -> None:
    stars = load_system("solar-system")["stars"]
    start = make_initial_conditions(load_system("solar-system"), ["sun", "earth", "moon", "jupiter", "io"])
    assert start.masses.tolist() == [stars[one]["mass"] for one in start.ids]
    assert not any("stand for" in note or "stands for" in note for note in start.notes)


@pytest.mark.parametrize("name", ["trappist-1", "kepler-90", "solar-system", "alpha-centauri"])
def test_the_barycentre_of_every_shipped_system_is_at_rest_at_the_origin(name: str) -> None:
    start = make_initial_conditions(load_system(name))
    for vectors in (start.positions, start.velocities):
        assert np.abs(start.masses @ vectors).max() < 1e-15 * (start.masses @ np.abs(vectors)).max()
