"""Commands made to be expensive: refusing them costs no more than sending them."""

import math
import sys
import tracemalloc
from collections.abc import Callable
from time import process_time
from typing import Any, Final

import orjson
import pytest

from tests.universe.domain.samples import a_body, a_snapshot, add_star, command, example, parse
from universe.domain.command_parser import parse_command
from universe.domain.json_copies import check_and_copy_json
from universe.domain.state import parse_state
from universe.errors import MalformedCommand, MalformedState, UnknownCommand
from uraniborg.kernel.errors import UraniborgError


def refusal_of(given: Any) -> MalformedCommand:
    with pytest.raises(MalformedCommand) as caught:
        parse_command(given)
    return caught.value


def size_of(error: UraniborgError) -> int:
    return len(orjson.dumps(error.body()))


def seconds(act: Callable[[], Any]) -> float:
    """Return the shortest processor time of three runs, in seconds."""
    took: list[float] = []
    for _ in range(3):
        started = process_time()
        act()
        took.append(process_time() - started)
    return min(took)


def test_a_command_of_ten_megabytes_is_taken_or_refused_without_repeating_it() -> None:
    text = "x" * 10_000_000
    assert parse(add_star("a", None, name=text))["payload"]["name"] == text
    assert len(str(refusal_of(command("removeStar", id=text)).body())) < 1_000
    assert len(str(refusal_of(command("moveToGroup", childId="a", childType=text, targetGroupId=None)).body())) < 1_000


def test_a_hundred_thousand_bodies_in_a_snapshot_with_one_mistake_name_that_one() -> None:
    stars = {f"s{number}": a_body(f"s{number}") for number in range(100_000)}
    stars["s77777"]["mass"] = math.inf
    error = refusal_of(command("replaceSnapshot", snapshot=a_snapshot(stars=stars)))
    assert error.ids["path"] == "snapshot.stars.s77777.mass"


def test_a_reference_of_ten_megabytes_is_refused_without_repeating_it() -> None:
    given = command("moveToGroup", childId="a", childType="group", targetGroupId="g" * 10_000_000)
    error = refusal_of(given)
    assert (error.ids["path"], error.ids["allowed"]) == ("targetGroupId", "at most 256 characters")
    assert size_of(error) < 700


@pytest.mark.parametrize(
    "given",
    [
        command("setNebulae", nebulae={"k" * 100_000: {}}),
        command("setNebulae", nebulae={"k" * 256: {}}),
        {"type": "tick", "k" * 10_000_000: 1},
        add_star("x", None, **{"k" * 10_000_000: math.nan}),
        add_star("x", None, note={"k" * 1_000_000: {"j" * 1_000_000: [math.nan]}}),
        add_star("x", None, note={("k" * 1_000_000,): 1}),
        command("replaceSnapshot", snapshot=a_snapshot(stars={"🪐" * 256: {}})),
    ],
    ids=["key too long", "longest key", "field", "unknown key", "nested keys", "no string", "four bytes each"],
)
def test_an_error_stays_short_however_long_a_key_is(given: Any) -> None:
    assert size_of(refusal_of(given)) < 4_500


def test_an_unknown_command_of_ten_megabytes_is_not_repeated() -> None:
    with pytest.raises(UnknownCommand) as caught:
        parse_command({"type": "x" * 10_000_000})
    assert size_of(caught.value) < 1_000


def test_the_error_of_a_state_stays_short_however_long_a_key_is() -> None:
    for given in ({"k" * 10_000_000: 1}, {"stars": {"k" * 10_000_000: 1}}, {"stars": {"🪐" * 256: 1}}):
        with pytest.raises(MalformedState) as caught:
            parse_state(given)
        assert size_of(caught.value) < 2_500


MANY: Final = 200_000


@pytest.fixture(scope="module")
def zeros() -> list[int]:
    return [0] * MANY


@pytest.fixture(scope="module")
def numbered() -> dict[str, int]:
    return {f"k{number}": 0 for number in range(MANY)}


def assert_cheaply_refused(parse: Callable[[Any], Any], given: Any, path: str, mistakes: Any) -> None:
    """Refused with a few of the mistakes, in little more time than a copy takes, and in the memory of a few copies."""
    started = process_time()
    check_and_copy_json(given)
    copied = process_time()
    with pytest.raises((MalformedCommand, MalformedState)) as caught:
        parse(given)
    refused = process_time()
    assert caught.value.ids["path"] == path
    assert caught.value.ids.keys() <= {"path", "allowed", "command", "problems", "example"}
    assert len(caught.value.ids.get("problems", ())) <= 20
    assert size_of(caught.value) < 5_000
    assert refused - copied < 6 * (copied - started)
    tracemalloc.start()
    try:
        with pytest.raises((MalformedCommand, MalformedState)):
            parse(given)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 3 * sys.getsizeof(mistakes)


def test_a_list_of_many_mistakes_is_refused_at_the_first(zeros: list[int]) -> None:
    for given, path in [
        (command("updateGroup", id="g", payload={"children": zeros}), "payload.children.0"),
        (command("updateStar", id="a", payload={"sources": zeros}), "payload.sources.0"),
        (command("replaceSnapshot", snapshot=a_snapshot(rootIds=zeros)), "snapshot.rootIds.0"),
    ]:
        assert_cheaply_refused(parse_command, given, path, zeros)
    assert_cheaply_refused(parse_state, {"stars": {"a": a_body("a", children=zeros)}}, "stars.a.children.0", zeros)


def test_a_map_of_many_mistakes_is_refused_with_a_few(numbered: dict[str, int]) -> None:
    assert_cheaply_refused(parse_command, command("setNebulae", nebulae=numbered), "nebulae.k0", numbered)
    assert_cheaply_refused(parse_state, {"stars": numbered}, "stars.k0", numbered)


def test_many_unknown_fields_are_refused_with_a_few(numbered: dict[str, int]) -> None:
    assert_cheaply_refused(parse_command, {"type": "tick", **numbered}, "k0", numbered)
    assert_cheaply_refused(parse_state, numbered, "k0", numbered)


def test_many_unknown_keys_are_preserved_where_unknown_keys_are(numbered: dict[str, int]) -> None:
    assert parse(command("updateStar", id="a", payload=numbered))["payload"] == numbered


@pytest.mark.parametrize("kind", ["addStar", "updateStar", "replaceSnapshot"])
def test_a_missing_field_is_refused_as_cheaply_as_a_wrong_one(kind: str) -> None:
    lacking, wrong = ({**example(kind)} for _ in range(2))
    field = next(name for name in ("payload", "snapshot") if name in lacking)
    del lacking[field]
    wrong[field] = 5
    assert seconds(lambda: refusal_of(lacking)) < 20 * seconds(lambda: refusal_of(wrong))


def test_a_long_key_is_not_read_again_for_each_value_below_it() -> None:
    def cost(key: str) -> float:
        given = add_star("x", None, **{key: [1] * 10_000})
        return seconds(lambda: parse_command(given))

    assert cost("k" * 1_000_000) < 10 * cost("k")
