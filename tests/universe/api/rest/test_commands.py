"""Commands over HTTP: replies and statuses."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.requirements import requirement
from tests.universe.api.rest.rest_server import (
    SEEN_AS,
    create_universe,
    get_error,
    read_state,
    read_version,
    send_command,
)
from tests.universe.domain.samples import EMPTY_STATE, EXAMPLES, add_group, add_star, example, make_member
from tests.universe.domain.strategies import FLAT

TICK = {"type": "tick"}
LOST = {"type": "removeStar", "id": "lost"}


def post(rest: httpx.Client, universe: str, body: Any, **more: Any) -> httpx.Response:
    return rest.post(f"/universes/{universe}/commands", json=body, **more)


@requirement("UN-24")
def test_a_command_answers_with_the_state_the_events_the_version_and_its_tag(rest: httpx.Client, universe: str) -> None:
    answer = post(rest, universe, add_star("sun"))
    assert answer.status_code == 200
    printed = answer.json()
    assert printed.keys() == {"nextState", "events", "version"}
    assert (printed["events"], printed["version"]) == ([{"type": "starAdded", "id": "sun"}], 1)
    assert printed["nextState"] == read_state(rest, universe)
    assert answer.headers["ETag"] == '"1"'


def test_a_bare_tick_is_one_second(rest: httpx.Client, universe: str) -> None:
    printed = send_command(rest, universe, TICK)
    assert (printed["nextState"]["time"], printed["events"]) == (1, [])


def test_every_command_is_accepted_and_stored_unchanged_in_the_history(rest: httpx.Client, universe: str) -> None:
    send_command(rest, universe, [add_star("sun"), add_star("earth", "sun"), add_group("g"), example("setNebulae")])
    before = read_version(rest, universe)
    for kind in EXAMPLES:
        send_command(rest, universe, [add_star("sun"), add_star("earth", "sun"), example("updateRing"), add_group("g")])
        send_command(
            rest, universe, [example("setNebulae"), example("setSmallBodyFields"), example("setProtoplanetaryDisks")]
        )
        if kind == "removeFromGroup":
            send_command(rest, universe, {"type": "addToGroup", "groupId": "g", "child": make_member("sun", "system")})
        given = example(kind)
        printed = send_command(rest, universe, given)
        page = rest.get(f"/universes/{universe}/history", params={"after": printed["version"] - 1}).json()
        (entry,) = page["entries"]
        assert (entry["kind"], entry["command"], entry["events"]) == ("command", given, printed["events"])
        assert page["next"] is None
    assert read_version(rest, universe) > before


def test_the_light_forms_answer_without_the_state(rest: httpx.Client, universe: str) -> None:
    light = send_command(rest, universe, add_star("sun"), params={"return": "events"})
    assert light == {"events": [{"type": "starAdded", "id": "sun"}], "version": 1}
    changes = send_command(rest, universe, add_star("earth", "sun"), params={"return": "changes"})
    assert changes["version"] == 2
    stars = read_state(rest, universe)["stars"]
    assert changes["changed"] == {"stars": stars}
    assert changes["removed"] == {}
    assert changes["stateBytes"] > 100
    gone = send_command(rest, universe, {"type": "removeStar", "id": "sun"}, params={"return": "changes"})
    assert gone["changed"] == {}
    assert sorted(gone["removed"]["stars"]) == ["earth", "sun"]
    full = send_command(rest, universe, TICK, params={"return": "state"})
    assert full["nextState"] == read_state(rest, universe)


def test_the_changes_lead_from_one_state_to_the_next(rest: httpx.Client, universe: str) -> None:
    """Apply the reported changes to the previous state and compare with the next state, without the lists of roots."""
    following = read_state(rest, universe)
    moves: list[dict[str, Any]] = [
        FLAT,
        {"type": "tick", "dt": 2.5},
        {"type": "attachStar", "childId": "🪐", "parentId": "42"},
        {"type": "removeStar", "id": "42"},
        {"type": "removeGroup", "id": "🪐"},
        {"type": "setNebulae", "nebulae": {}},
    ]
    for given in [*moves, *([[one] for one in moves[:3]])]:
        printed = send_command(rest, universe, given, params={"return": "changes"})
        for kind, entities in printed["changed"].items():
            following[kind].update(entities)
        for kind, keys in printed["removed"].items():
            for key in keys:
                following[kind].pop(key, None)
        following["time"] = printed["time"]
        present = read_state(rest, universe)
        assert {**following, "rootIds": [], "rootGroupIds": []} == {**present, "rootIds": [], "rootGroupIds": []}


def test_an_answer_of_unknown_size_is_refused(rest: httpx.Client, universe: str) -> None:
    reply = get_error(post(rest, universe, TICK, params={"return": "all"}), 400, "malformed_request")
    assert reply["argument"] == "return"
    assert read_version(rest, universe) == 0


def test_a_refusal_is_422_with_the_event_of_the_reducer_and_changes_nothing(rest: httpx.Client, universe: str) -> None:
    reply = get_error(post(rest, universe, LOST), 422, "star_not_found")
    assert reply["event"] == {"type": "starNotFound", "id": "lost"}
    assert (reply["universeId"], reply["command"]) == (universe, "removeStar")
    assert "lost" in reply["message"]
    assert (read_version(rest, universe), read_state(rest, universe)) == (0, EMPTY_STATE)


REFUSALS: list[tuple[dict[str, Any], str]] = [
    ({"type": "updateStar", "id": "x", "payload": {}}, "star_not_found"),
    ({"type": "attachStar", "childId": "sun", "parentId": "x"}, "star_not_found"),
    ({"type": "attachStar", "childId": "sun", "parentId": "sun"}, "hierarchy_refused"),
    ({"type": "attachStar", "childId": "sun", "parentId": "earth"}, "hierarchy_refused"),
    ({"type": "detachStar", "childId": "sun"}, "not_attached"),
    (add_star("sun", "sun"), "hierarchy_refused"),
    ({"type": "updateStar", "id": "sun", "payload": {"parentId": "earth"}}, "hierarchy_refused"),
    ({"type": "updateGroup", "id": "x", "payload": {}}, "group_not_found"),
    ({"type": "removeGroup", "id": "x"}, "group_not_found"),
    ({"type": "addToGroup", "groupId": "g", "child": make_member("sun", "system")}, "child_already_in_group"),
    ({"type": "addToGroup", "groupId": "g", "child": make_member("g")}, "hierarchy_refused"),
    ({"type": "removeFromGroup", "groupId": "g", "childId": "x"}, "child_not_in_group"),
    ({"type": "moveToGroup", "childId": "g", "childType": "group", "targetGroupId": "g"}, "hierarchy_refused"),
    ({"type": "updateSmallBodyField", "id": "x", "patch": {}}, "small_body_field_not_found"),
    ({"type": "updateProtoplanetaryDisk", "id": "x", "patch": {}}, "protoplanetary_disk_not_found"),
    ({"type": "updateNebula", "id": "x", "patch": {}}, "nebula_not_found"),
    ({"type": "updateRing", "planetId": "x", "patch": {}}, "star_not_found"),
    ({"type": "removeRing", "planetId": "sun"}, "ring_not_found"),
]


@pytest.mark.parametrize(("command", "code"), REFUSALS)
def test_each_kind_of_refusal_has_its_code(
    rest: httpx.Client, universe: str, command: dict[str, Any], code: str
) -> None:
    group = add_group("g", None, make_member("sun", "system"))
    send_command(rest, universe, [add_star("sun"), add_star("earth", "sun"), group])
    reply = get_error(post(rest, universe, command), 422, code)
    assert reply["event"]["type"].endswith(("NotFound", "Failed", "AlreadyInGroup", "NotInGroup"))
    assert read_version(rest, universe) == 3


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "type"),
        ({"type": None}, "type"),
        ({"type": 5}, "type"),
        ({"type": ""}, "type"),
        ({"type": "explode"}, "type"),
        ({"type": "tick", "dt": "5"}, "dt"),
        ({"type": "tick", "dt": None}, "dt"),
        ({"type": "tick", "dt": True}, "dt"),
        ({"type": "tick", "speed": 1}, "speed"),
        ({"type": "addStar"}, "id"),
        ({"type": "addStar", "id": ""}, "id"),
        ({"type": "addStar", "id": "x" * 10_240, "payload": {}}, "id"),
        ({"type": "addStar", "id": "a", "payload": {"name": "x"}}, "payload.mass"),
        ({"type": "addStar", "star": {"name": "x"}}, "id"),
        ({"type": "removeStar", "starId": "a"}, "id"),
        ({"type": "moveToGroup", "childId": "a", "childType": "group"}, "targetGroupId"),
        ({"type": "moveToGroup", "childId": "a", "childType": "star", "targetGroupId": None}, "childType"),
        ({"type": "setNebulae"}, "nebulae"),
        ({"type": "replaceSnapshot"}, "snapshot"),
        ({"type": "addProtoplanetaryDisk", "disk": {}}, "disk.id"),
    ],
)
def test_a_malformed_command_is_400_with_the_path_of_the_wrong_field(
    rest: httpx.Client, universe: str, body: Any, path: str
) -> None:
    reply = get_error(post(rest, universe, body), 400)
    assert reply["code"] in ("malformed_command", "unknown_command")
    assert reply["path"] == path or path in json.dumps(reply)
    assert reply["universeId"] == universe
    assert len(json.dumps(reply)) < 4_000
    assert read_version(rest, universe) == 0


@pytest.mark.parametrize("body", [5, "tick", [], [[]], [None], [TICK, "tick"], True, [[TICK]]])
def test_a_body_that_is_neither_a_command_nor_a_list_is_400(rest: httpx.Client, universe: str, body: Any) -> None:
    get_error(post(rest, universe, body), 400, "malformed_command")
    assert read_version(rest, universe) == 0


def test_malformed_is_reported_before_not_found(rest: httpx.Client) -> None:
    get_error(post(rest, "u-missing", {"type": "explode"}), 400, "unknown_command")


def test_a_list_is_done_whole_and_answers_once(rest: httpx.Client, universe: str) -> None:
    printed = send_command(rest, universe, [add_star("sun"), TICK, add_star("earth", "sun")])
    assert (printed["version"], len(printed["events"])) == (3, 2)
    reply = get_error(post(rest, universe, [TICK, add_star("moon"), LOST, TICK]), 422, "star_not_found")
    assert reply["index"] == 2
    reply = get_error(post(rest, universe, [TICK, {"type": "tick", "dt": "x"}]), 400, "malformed_command")
    assert reply["index"] == 1
    assert read_version(rest, universe) == 3


def test_a_version_expected_in_vain_is_409_with_the_present_one(rest: httpx.Client, universe: str) -> None:
    send_command(rest, universe, TICK, params={"expectedVersion": 0})
    send_command(rest, universe, TICK, headers={"If-Match": '"1"'})
    for how in ({"params": {"expectedVersion": 1}}, {"headers": {"If-Match": '"1"'}}):
        reply = get_error(post(rest, universe, TICK, **how), 409, "version_conflict")
        assert (reply["universeId"], reply["version"], reply["expectedVersion"]) == (universe, 2, 1)
    assert read_version(rest, universe) == 2


@pytest.mark.parametrize("expected", ["-1", "x", "1.5", str(2**53 + 1), ""])
def test_an_expected_version_that_is_invalid_is_refused(rest: httpx.Client, universe: str, expected: str) -> None:
    answer = post(rest, universe, TICK, params={"expectedVersion": expected})
    assert get_error(answer, 400)["argument"] == "expectedVersion"


def test_of_many_writers_with_the_same_version_one_succeeds_and_the_others_conflict(
    rest: httpx.Client, universe: str
) -> None:
    with ThreadPoolExecutor(8) as threads:
        requests = [
            threads.submit(post, rest, universe, add_star(f"s{n}"), headers={"If-Match": '"0"'}) for n in range(8)
        ]
        statuses = sorted(one.result().status_code for one in requests)
    assert statuses == [200] + [409] * 7
    assert read_version(rest, universe) == 1


def test_a_repeated_request_is_done_once_and_answered_alike(rest: httpx.Client, universe: str) -> None:
    key = {"Idempotency-Key": "6f1c"}
    first = post(rest, universe, add_star("sun"), headers=key)
    send_command(rest, universe, TICK)
    again = post(rest, universe, add_star("sun"), headers=key)
    assert (again.status_code, again.json(), again.headers["ETag"]) == (200, first.json(), '"1"')
    reply = get_error(post(rest, universe, add_star("moon"), headers=key), 422, "idempotency_key_reused")
    assert (reply["key"], reply["universeId"]) == ("6f1c", universe)
    assert read_version(rest, universe) == 2


def test_clients_that_retry_at_once_with_their_keys_are_each_served_once(rest: httpx.Client, universe: str) -> None:
    with ThreadPoolExecutor(16) as threads:
        requests = [
            threads.submit(
                send_command, rest, universe, add_star(f"s{n % 10}"), headers={"Idempotency-Key": f"k{n % 10}"}
            )
            for n in range(40)
        ]
        versions = sorted({one.result()["version"] for one in requests})
    assert versions == list(range(1, 11))
    assert read_version(rest, universe) == 10


def test_many_clients_at_once_lose_nothing(rest: httpx.Client) -> None:
    universes = [create_universe(rest), create_universe(rest)]
    with ThreadPoolExecutor(16) as threads:
        requests = [threads.submit(send_command, rest, universes[n % 2], add_star(f"s{n}")) for n in range(200)]
        for one in requests:
            one.result()
    for place, universe in enumerate(universes):
        record = rest.get(f"/universes/{universe}").json()
        assert record["version"] == 100
        assert record["state"]["stars"].keys() == {f"s{n}" for n in range(200) if n % 2 == place}


class TestHistory:
    def test_history_is_paged_and_light(self, rest: httpx.Client, universe: str) -> None:
        send_command(rest, universe, [add_star(f"s{n}") for n in range(5)])
        rest.put(f"/universes/{universe}", json={"state": {"time": 4}})
        entries: list[dict[str, Any]] = []
        after: int | None = 0
        while after is not None:
            page = rest.get(f"/universes/{universe}/history", params={"after": after, "limit": 2}).json()
            entries += page["entries"]
            after = page["next"]
        assert [one["version"] for one in entries] == [1, 2, 3, 4, 5, 6]
        assert [one["kind"] for one in entries] == ["command"] * 5 + ["restore"]
        assert entries[0]["command"] == add_star("s0")
        assert entries[5].keys() == {"version", "kind", "at", "author", "actor", "events"}
        assert entries[5]["events"] == [{"type": "stateRestored", "reason": "put"}]

    def test_history_names_the_author_that_the_request_names(self, rest: httpx.Client, universe: str) -> None:
        url = f"/universes/{universe}"
        named = {b"Uraniborg-Author": "Tycho Bråhe".encode()}
        assert rest.post(f"{url}/commands", json=add_star("s0"), headers=named).status_code == 200
        send_command(rest, universe, add_star("s1"))
        assert rest.post(f"{url}/undo", headers={"Uraniborg-Author": "Sophie"}).status_code == 200
        entries = rest.get(f"{url}/history").json()["entries"]
        assert [one["author"] for one in entries] == [
            "Tycho Bråhe (software)",
            "(unnamed software)",
            "Sophie (software)",
        ]
        posing = {"Uraniborg-Author": "tycho (command line)"}
        assert rest.post(f"{url}/undo", headers=posing).status_code == 200
        (last,) = rest.get(f"{url}/history", params={"after": 3}).json()["entries"]
        assert last["author"] == "tycho (command line) (software)", "a client cannot pass for one of another kind"
        blank = rest.post(f"{url}/commands", json=add_star("s2"), headers={b"Uraniborg-Author": "\x85".encode()})
        assert get_error(blank, 400)["argument"] == "author"

    @pytest.mark.parametrize("wanted", ["state", "changes", "events"])
    def test_a_changed_value_that_was_cited_is_named_in_warnings(self, rest: httpx.Client, wanted: str) -> None:
        requests = {"name": "T", "from": "trappist-1"}
        made_ = rest.post("/universes", json=requests).json()["id"]
        heavier = {"type": "updateStar", "id": "trappist-1-e", "payload": {"mass": 3e-6}}
        answer = rest.post(f"/universes/{made_}/commands", json=heavier, params={"return": wanted}).json()
        assert answer["warnings"][0].startswith("'trappist-1-e': mass no longer cites 'agol2021'")
        again = rest.post(f"/universes/{made_}/commands", json=heavier, params={"return": wanted}).json()
        assert "warnings" not in again

    @pytest.mark.parametrize(("name", "value"), [("after", "-1"), ("after", "x"), ("limit", "0"), ("limit", "1001")])
    def test_an_impossible_page_is_refused(self, rest: httpx.Client, universe: str, name: str, value: str) -> None:
        assert get_error(rest.get(f"/universes/{universe}/history", params={name: value}), 400)["argument"] == name

    def test_undo_restore_and_branch_lead_to_the_stated_version(self, rest: httpx.Client, universe: str) -> None:
        for name in ("a", "b"):
            send_command(rest, universe, add_star(name))
        answer = rest.post(f"/universes/{universe}/undo")
        assert (answer.status_code, answer.headers["ETag"]) == (200, '"3"')
        undone = answer.json()
        assert list(undone["nextState"]["stars"]) == ["a"]
        assert undone["events"] == [{"type": "stateRestored", "reason": "undo", "toVersion": 1}]
        forward = rest.post(f"/universes/{universe}/restore", json={"version": 2}, params={"return": "changes"}).json()
        assert (forward["version"], forward["changed"]["stars"].keys()) == (4, {"b"})
        branch = rest.post(f"/universes/{universe}/branch", json={"version": 1, "name": "Side"})
        assert branch.status_code == 201
        assert rest.get(branch.headers["Location"]).json() == branch.json()
        assert (branch.json()["name"], list(branch.json()["state"]["stars"])) == ("Side", ["a"])
        assert read_version(rest, universe) == 4

    def test_nothing_to_undo_is_409(self, rest: httpx.Client, universe: str) -> None:
        assert get_error(rest.post(f"/universes/{universe}/undo"), 409, "nothing_to_undo")["universeId"] == universe

    def test_going_back_over_a_version_not_seen_is_409(self, rest: httpx.Client, universe: str) -> None:
        send_command(rest, universe, TICK)
        for how in SEEN_AS:
            get_error(rest.post(f"/universes/{universe}/undo", **how), 409, "version_conflict")
            get_error(rest.post(f"/universes/{universe}/restore", json={"version": 0}, **how), 409, "version_conflict")

    @pytest.mark.parametrize(
        "body", [{}, {"version": "1"}, {"version": -1}, {"version": 1.5}, {"version": True}, [], 1]
    )
    def test_a_restore_to_no_version_is_refused(self, rest: httpx.Client, universe: str, body: Any) -> None:
        get_error(rest.post(f"/universes/{universe}/restore", json=body), 400, "malformed_request")

    @pytest.mark.parametrize("action", ["restore", "branch"])
    def test_a_version_there_is_not_is_404(self, rest: httpx.Client, universe: str, action: str) -> None:
        answer = rest.post(f"/universes/{universe}/{action}", json={"version": 9})
        assert get_error(answer, 404, "version_not_found")["universeId"] == universe
