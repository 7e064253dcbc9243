"""Positions of a million Kepler orbits with numpy alone, against numba on one thread, both to 1e-12 of the axis."""

import math
from collections.abc import Callable
from importlib import import_module
from time import perf_counter
from typing import Any

import numpy as np
from ratios import record_ratio

from universe.domain.orbits.kepler import Elements
from universe.domain.orbits.kepler_equation import Floats

ORBITS = 1_000_000
ROUNDS = 9
TARGET = 1.5
TIME = 12_345.678
CUBE_ROOT_BIAS = 0x2A9F_7625_3119_D328


def make_orbits(count: int) -> Elements:
    chance = np.random.default_rng(1)
    axis = chance.uniform(0.3, 40, count)
    return Elements(
        axis,
        chance.uniform(0, 0.99, count),
        period=365.25 * axis**1.5,
        inclination=chance.uniform(0, 180, count),
        longitude_of_ascending_node=chance.uniform(0, 360, count),
        argument_of_periapsis=chance.uniform(0, 360, count),
        mean_anomaly=chance.uniform(0, 360, count),
    )


def solve_with_halley(
    rate: Floats, phase: Floats, e: Floats, first: Floats, second: Floats, t: float, out: Floats
) -> None:
    for i in range(e.size):
        turns = rate[i] * t + phase[i]
        mean = (turns - np.rint(turns)) * 2 * math.pi
        anomaly = mean + math.copysign(0.85 * e[i], mean)
        step = 1.0
        # Each step cubes the error: after one below 1e-5 nothing is left to correct.
        while abs(step) > 1e-5:
            sin, slope = e[i] * math.sin(anomaly), 1 - e[i] * math.cos(anomaly)
            missing = mean - anomaly + sin
            step = missing / (slope + 0.5 * sin * missing / slope)
            anomaly += step
        along, across = math.cos(anomaly) - e[i], math.sin(anomaly)
        for axis in range(3):
            out[i, axis] = first[axis, i] * along + second[axis, i] * across


def solve_with_cubic_start(
    rate: Floats, phase: Floats, e: Floats, first: Floats, second: Floats, t: float, out: Floats
) -> None:
    for i in range(e.size):
        turns = rate[i] * t + phase[i]
        mean = (turns - np.rint(turns)) * 2 * math.pi
        square, circular = mean * mean, 1 - e[i]
        alpha = (3 * math.pi**2 + 1.6 * math.pi * (math.pi - abs(mean)) / (1 + e[i])) / (math.pi**2 - 6)
        d = 3 * circular + alpha * e[i]
        q = 2 * alpha * d * circular - square
        r = (3 * alpha * d * (d - circular) + square) * mean
        cube = abs(r) + math.sqrt(q * q * q + r * r)
        root = np.int64(np.float64(cube).view(np.int64) // 3 + CUBE_ROOT_BIAS).view(np.float64)
        w = root * (root * root * root + 2 * cube) / (2 * root * root * root + cube)
        w *= w
        start = (2 * r * w / (w * w + w * q + q * q) + mean) / d
        sin, cos = math.sin(start), math.cos(start)
        slope, missing = 1 - e[i] * cos, mean - start + e[i] * sin
        step = missing / (slope + 0.5 * e[i] * sin * missing / slope)
        step = missing / (slope + step * (0.5 * e[i] * sin + step * e[i] * cos / 6))
        sin_step, cos_step_less_1 = step * (1 - step * step / 6), step * step * (step * step / 24 - 0.5)
        along = cos + (cos * cos_step_less_1 - sin * sin_step) - e[i]
        across = sin + (sin * cos_step_less_1 + cos * sin_step)
        for axis in range(3):
            out[i, axis] = first[axis, i] * along + second[axis, i] * across


def compute_error(found: Floats, orbits: Elements, sample: int = 20_000) -> float:
    """Return the largest distance from positions of higher precision, relative to the semi-major axis."""
    long = np.longdouble
    e = orbits.eccentricity[:sample].astype(long)
    turns = orbits.turns_per_time[:sample] * TIME + orbits.turns_at_epoch[:sample]
    mean = ((turns - np.rint(turns)) * 2 * math.pi).astype(long)
    anomaly = mean + e * np.sign(mean)
    for _ in range(200):
        anomaly -= (anomaly - e * np.sin(anomaly) - mean) / (1 - e * np.cos(anomaly))
    first, second = orbits.to_periapsis[:, :sample].astype(long), orbits.to_side[:, :sample].astype(long)
    exact = first * (np.cos(anomaly) - e) + second * np.sin(anomaly)
    apart = np.sqrt(((found[:sample].T - exact) ** 2).sum(axis=0))
    return float((apart / np.sqrt((first**2).sum(axis=0))).max())


def measure_best_times(contenders: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Return the best time of each, measured in turns so that load affects all of them."""
    best = dict.fromkeys(contenders, math.inf)
    for _ in range(ROUNDS):
        for name, work in contenders.items():
            started = perf_counter()
            work()
            best[name] = min(best[name], perf_counter() - started)
    return best


def report(numba: Any) -> None:
    orbits = make_orbits(ORBITS)
    outs = {"numpy alone": np.empty((ORBITS, 3))}
    contenders: dict[str, Callable[[], object]] = {
        "numpy alone": lambda: orbits.compute_positions(TIME, out=outs["numpy alone"])
    }
    data = (orbits.turns_per_time, orbits.turns_at_epoch, orbits.eccentricity, orbits.to_periapsis, orbits.to_side)
    for name, function in {
        "numba, Halley until it converges": solve_with_halley,
        "numba, the same algorithm": solve_with_cubic_start,
    }.items():
        compiled = numba.njit(function)
        outs[name] = np.empty((ORBITS, 3))
        contenders[name] = lambda compiled=compiled, out=outs[name]: compiled(*data, TIME, out)
        contenders[name]()
    best = measure_best_times(contenders)
    for name, seconds in best.items():
        print(f"{seconds * 1e3:6.0f} ms  {name} (error {compute_error(outs[name], orbits):.1e} of the axis)")
    ours = best.pop("numpy alone")
    record_ratio("numpy alone to numba on one thread", ours / min(best.values()))
    print(
        f"positions of {ORBITS:,} Kepler orbits: numpy alone takes {ours / min(best.values()):.2f}x the time of the"
        f" faster numba on one thread  (target <= {TARGET}x; best of {ROUNDS} rounds, compile time left out)"
    )


def main() -> None:
    try:
        numba = import_module("numba")
    except ImportError:
        print("skipped: numba, the peer of this comparison, is not installed")
        return
    report(numba)


if __name__ == "__main__":
    main()
