"""One `updateStar`: against the same change on a deep copy of the state, and at three sizes of universe."""

import copy
from collections.abc import Callable, Sequence
from statistics import median
from time import process_time
from typing import Any, Final

from ratios import record_ratio

from universe.domain.command_parser import parse_command
from universe.domain.reducer import apply, reduce
from universe.domain.state import State, parse_state

SIZES: Final = (100, 10_000, 100_000)
PEER_SIZE: Final = 10_000
BATCH: Final = 2_000
"""Commands in one measurement of ours, each on the state that the one before left."""
ROUNDS: Final = 7
RING: Final = {
    "innerRadiusMultiplier": 1.5,
    "outerRadiusMultiplier": 3.0,
    "thickness": 0.1,
    "opacity": 0.6,
    "albedo": 0.8,
    "color": "#aabbcc",
    "density": 0.6,
}

Json = dict[str, Any]


def bodies(count: int) -> Json:
    """Return a state with a star for every hundred bodies, and planets with rings."""
    stars: Json = {}
    for number in range(count):
        sun = number - number % 100
        stars[f"body-{number}"] = {
            "id": f"body-{number}",
            "name": f"Body {number}",
            "mass": 1.5 * number,
            "radius": 2.0,
            "color": "#ffcc00",
            "children": [f"body-{sun + index}" for index in range(1, 100)] if number == sun else [],
            "parentId": None if number == sun else f"body-{sun}",
            "orbitalDistance": 10.0 + number % 100,
            "orbitalSpeed": 3.25,
            "orbitalPhase": float(number % 360),
            "ring": dict(RING),
        }
    return stars


def command(number: int, size: int) -> Json:
    """Return a command about a body, a different one for each number."""
    key = f"body-{number * 7919 % size}"
    return {"type": "updateStar", "id": key, "payload": {"mass": float(number), "color": "#123456"}}


def change_deep_copy(state: Json, given: Json) -> tuple[Json, list[Json]]:
    after = copy.deepcopy(state)
    if given["id"] not in after["stars"]:
        return state, [{"type": "starNotFound", "id": given["id"]}]
    after["stars"][given["id"]].update(given["payload"])
    return after, [{"type": "starUpdated", "id": given["id"]}]


def seconds_each(change: Callable[[State, Any], Any], state: State, commands: Sequence[Any]) -> float:
    started = process_time()
    for given in commands:
        state = change(state, given)[0]
    return (process_time() - started) / len(commands)


def main() -> None:
    plain: Json = {"stars": bodies(PEER_SIZE), "rootIds": [f"body-{n}" for n in range(0, PEER_SIZE, 100)], "time": 0}
    states = {size: parse_state({"stars": bodies(size)}) for size in SIZES}
    raw = {size: [command(number, size) for number in range(BATCH)] for size in SIZES}
    parsed = {size: [parse_command(given) for given in raw[size]] for size in SIZES}
    assert (
        apply(states[PEER_SIZE], raw[PEER_SIZE][1])[0].to_plain()["stars"]
        == (change_deep_copy(plain, raw[PEER_SIZE][1])[0]["stars"])
    )
    peer: list[float] = []
    whole: dict[int, list[float]] = {size: [] for size in SIZES}
    checked: dict[int, list[float]] = {size: [] for size in SIZES}
    for number in range(ROUNDS):
        started = process_time()
        change_deep_copy(plain, raw[PEER_SIZE][number])
        peer.append(process_time() - started)
        for size in SIZES:
            whole[size].append(seconds_each(apply, states[size], raw[size]))
            checked[size].append(seconds_each(reduce, states[size], parsed[size]))
    copied, ours, bare = median(peer), median(whole[PEER_SIZE]), median(checked[PEER_SIZE])
    print(f"one updateStar among {PEER_SIZE:,} bodies (CPU, median of {ROUNDS}, alternating)")
    print(f"  on a deep copy of the state {copied * 1e6:12,.1f} µs")
    print(f"  apply, checks included      {ours * 1e6:12,.1f} µs  {copied / ours:9,.0f}x faster  (target: 1,000x)")
    print(f"  reduce, already checked     {bare * 1e6:12,.1f} µs  {copied / bare:9,.0f}x faster")
    record_ratio("a deep copy to apply", copied / ours)
    record_ratio("a deep copy to reduce", copied / bare)
    print(f"the same at every size ({BATCH:,} commands in a row; target: flat)")
    for size in SIZES:
        first, then = median(whole[size]), median(checked[size])
        print(f"  {size:>7,} bodies: apply {first * 1e6:6.2f} µs, reduce {then * 1e6:5.2f} µs")
    smallest, largest = SIZES[0], SIZES[-1]
    print(
        f"  from {smallest:,} to {largest:,}: apply {median(whole[largest]) / median(whole[smallest]):.2f}x, "
        f"reduce {median(checked[largest]) / median(checked[smallest]):.2f}x"
    )


if __name__ == "__main__":
    main()
