"""Request bodies that are not JSON, too large, too deep or of another type."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.universe.api.rest.rest_server import get_error, read_version
from tests.universe.domain.samples import a_body, add_star

LIMIT = 10_000_000
TICK = b'{"type":"tick"}'
JSON = {"Content-Type": "application/json"}


def post(rest: httpx.Client, universe: str, content: Any, **headers: str) -> httpx.Response:
    return rest.post(f"/universes/{universe}/commands", content=content, headers={**JSON, **headers})


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"tick",
        b'{"type":"tick",}',
        b"{'type':'tick'}",
        b'{"type":"tick","dt":01}',
        b'{"type":"ti\xff"}',
        b'{"type":"\\ud800"}',
        b'\xef\xbb\xbf{"type":"tick"}',
        '{"type":"tick"}'.encode("utf-16"),
        b'{"type":"tick"}{"type":"tick"}',
        b'{"type":"tick"}\x00',
        b"[" * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    ],
    ids=lambda content: repr(content[:20]),
)
def test_invalid_json_is_400_with_its_position(rest: httpx.Client, universe: str, content: bytes) -> None:
    reply = get_error(post(rest, universe, content), 400, "malformed_request")
    assert (reply["line"], reply["column"]) >= (1, 1)
    get_error(rest.post("/universes", content=content, headers=JSON), 400, "malformed_request")
    get_error(rest.put(f"/universes/{universe}", content=content, headers=JSON), 400, "malformed_request")
    assert read_version(rest, universe) == 0


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("NaN", "NaN is not a number that JSON has"),
        ("Infinity", "Infinity is not a number that JSON has"),
        ("-Infinity", "-Infinity is not a number that JSON has"),
        ("1e999", "1e999 is too large for a number"),
        ("-1e999", "-1e999 is too large for a number"),
        ("1" + "0" * 400, "1000000000… is too large for a number"),
        ("1" + "0" * 5_000, "1000000000… is too large for a number"),
    ],
    ids=lambda text: text[:20],
)
def test_a_number_that_json_cannot_express_is_a_bad_number(
    rest: httpx.Client, universe: str, written: str, problem: str
) -> None:
    for content in (f'{{"type":"tick","dt":{written}}}', f'[{{"type":"tick"}},\n{{"type":"tick","dt":{written}}}]'):
        reply = get_error(post(rest, universe, content), 400, "bad_number")
        assert problem in reply["message"]
    reply = get_error(rest.post("/universes", content=f'{{"name":{written}}}', headers=JSON), 400, "bad_number")
    assert "JSON" not in reply["message"].replace("that JSON has", "")
    assert read_version(rest, universe) == 0


def test_a_bad_number_in_invalid_json_is_reported_as_invalid_json(rest: httpx.Client, universe: str) -> None:
    get_error(post(rest, universe, b'{"type":"tick","dt":NaN'), 400, "malformed_request")
    get_error(post(rest, universe, b"[" * 100_000 + b"NaN" + b"]" * 100_000), 400, "malformed_request")


def test_the_name_of_a_bad_number_in_a_text_is_a_text(rest: httpx.Client, universe: str) -> None:
    assert post(rest, universe, json.dumps(add_star("a", note="NaN 1e999"))).status_code == 200


@pytest.mark.parametrize("depth", [100, 300, 1_000])
def test_too_deeply_nested_json_is_400_and_a_little_less_is_stored(
    rest: httpx.Client, universe: str, depth: int
) -> None:
    def written(given: Any, levels: int) -> str:
        return json.dumps(given).replace('"DEEP"', "[" * levels + "]" * levels)

    get_error(post(rest, universe, written(add_star("a", note="DEEP"), depth)), 400)
    state = {"state": {"stars": {"a": a_body("a", note="DEEP")}}}
    get_error(rest.put(f"/universes/{universe}", content=written(state, depth), headers=JSON), 400)
    assert read_version(rest, universe) == 0
    assert post(rest, universe, written(add_star("a", note="DEEP"), 50)).status_code == 200


def test_ten_million_bytes_are_read_and_one_more_is_413(rest: httpx.Client, universe: str) -> None:
    assert post(rest, universe, TICK + b" " * (LIMIT - len(TICK))).status_code == 200
    reply = get_error(post(rest, universe, TICK + b" " * (LIMIT - len(TICK) + 1)), 413, "body_too_large")
    assert reply["limit"] == LIMIT
    assert f"{LIMIT:,}" in reply["hint"]
    assert read_version(rest, universe) == 1
    for answer in (
        rest.post("/universes", content=b" " * (LIMIT + 1), headers=JSON),
        rest.put(f"/universes/{universe}", content=b" " * (LIMIT + 1), headers=JSON),
    ):
        get_error(answer, 413, "body_too_large")


def test_a_body_that_does_not_declare_its_length_is_cut_off_at_the_limit(rest: httpx.Client, universe: str) -> None:
    def chunks(count: int) -> Iterator[bytes]:
        yield TICK
        for _ in range(count):
            yield b" " * 1_000_000

    assert post(rest, universe, chunks(9)).status_code == 200
    get_error(post(rest, universe, chunks(11)), 413, "body_too_large")
    assert read_version(rest, universe) == 1


def test_a_command_of_nearly_the_limit_is_accepted_and_sent_in_full(rest: httpx.Client, universe: str) -> None:
    name = "n" * (LIMIT - 1_000)
    answer = rest.post(f"/universes/{universe}/commands", params={"return": "events"}, json=add_star("big", note=name))
    assert answer.status_code in (200, 400), answer.text[:300]
    assert read_version(rest, universe) == (answer.status_code == 200)
    assert rest.get("/health").status_code == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/octet-stream", "application/x-www-form-urlencoded", ""])
def test_a_body_that_is_not_declared_as_json_is_415_and_changes_nothing(
    rest: httpx.Client, universe: str, kind: str
) -> None:
    headers = {"Content-Type": kind}
    for method, address in (
        ("POST", f"/universes/{universe}/commands"),
        ("POST", f"/universes/{universe}/undo"),
        ("POST", f"/universes/{universe}/restore"),
        ("POST", f"/universes/{universe}/branch"),
        ("PUT", f"/universes/{universe}"),
        ("DELETE", f"/universes/{universe}"),
        ("POST", "/universes"),
        ("POST", "/mcp"),
    ):
        reply = get_error(rest.request(method, address, content=TICK, headers=headers), 415, "unsupported_media_type")
        assert reply["hint"] == "Send Content-Type: application/json."
    assert read_version(rest, universe) == 0


@pytest.mark.parametrize("kind", ["application/json", "application/json; charset=utf-8", "Application/JSON"])
def test_json_by_any_spelling_of_its_name_is_read(rest: httpx.Client, universe: str, kind: str) -> None:
    assert post(rest, universe, TICK, **{"Content-Type": kind}).status_code == 200


def test_a_change_without_a_body_needs_no_type(rest: httpx.Client, universe: str) -> None:
    assert post(rest, universe, TICK).status_code == 200
    assert rest.post(f"/universes/{universe}/undo").status_code == 200
    assert rest.post(f"/universes/{universe}/branch").status_code == 201


def test_forms_files_and_compressed_bodies_are_415(rest: httpx.Client, universe: str) -> None:
    address = f"/universes/{universe}/commands"
    get_error(rest.post(address, data={"type": "tick"}), 415, "unsupported_media_type")
    get_error(rest.post(address, files={"command": TICK}), 415, "unsupported_media_type")
    get_error(post(rest, universe, b"\x1f\x8b\x08\x00", **{"Content-Encoding": "gzip"}), 415, "unsupported_media_type")


def test_twenty_thousand_nested_groups_are_taken_and_walked_to_the_end(rest: httpx.Client, universe: str) -> None:
    groups: dict[str, Any] = {
        str(n): {"id": str(n), "name": "g", "children": [], "parentGroupId": str(n - 1) if n else None}
        for n in range(20_000)
    }
    snapshot = {"stars": {}, "rootIds": [], "groups": groups, "rootGroupIds": ["0"]}
    address = f"/universes/{universe}/commands?return=events"
    assert rest.post(address, json={"type": "replaceSnapshot", "snapshot": snapshot}).status_code == 200
    for child, target in (("0", "19999"), ("19999", "19998")):
        move = {"type": "moveToGroup", "childId": child, "childType": "group", "targetGroupId": target}
        reply = get_error(rest.post(address, json=move), 422, "hierarchy_refused")
        assert reply["event"]["type"] == "moveToGroupFailed"
    out = {"type": "moveToGroup", "childId": "500", "childType": "group", "targetGroupId": None}
    assert rest.post(address, json=out).json()["events"] == [
        {"type": "movedToGroup", "childId": "500", "targetGroupId": None}
    ]
    assert rest.post(address, json={"type": "removeGroup", "id": "10000"}).status_code == 200
    assert len(rest.get(f"/universes/{universe}").json()["state"]["groups"]) == 19_999


@pytest.mark.parametrize("dt", [1e308, 2**63])
def test_time_stays_within_the_numbers_of_json(rest: httpx.Client, universe: str, dt: float) -> None:
    for _ in range(3):
        answer = rest.post(f"/universes/{universe}/commands", json={"type": "tick", "dt": dt})
        assert answer.status_code in (200, 400, 422), answer.text
    assert isinstance(rest.get(f"/universes/{universe}").json()["state"]["time"], (int, float))
