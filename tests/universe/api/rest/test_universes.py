"""Creating, listing, reading, replacing and deleting universes over HTTP."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.requirements import requirement
from tests.universe.api.rest.rest_server import (
    SEEN_AS,
    create_universe,
    get_error,
    read_state,
    read_version,
    run_server,
    send_command,
)
from tests.universe.domain.samples import EMPTY_STATE, a_body, add_star

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z")
STATE: dict[str, Any] = {"stars": {"x": a_body("x")}, "rootIds": ["x"], "time": 3.5}
TICK = {"type": "tick"}
ACTORS = ("createdBy", "renamedBy")


@requirement("UN-24")
def test_health_reports_that_all_is_well_and_since_when(rest: httpx.Client) -> None:
    answer = rest.get("/health")
    assert answer.status_code == 200
    printed = answer.json()
    assert printed["ok"] is True
    assert isinstance(printed["uptime"], int)
    assert printed["uptime"] >= 0


class TestMaking:
    def test_a_new_universe_is_empty_and_has_an_address_an_id_a_tag_and_times(self, rest: httpx.Client) -> None:
        answer = rest.post("/universes", json={"name": "  Hven "})
        assert answer.status_code == 201
        printed = answer.json()
        assert printed.keys() == {"id", "name", "state", "version", "createdAt", "updatedAt", *ACTORS}
        assert (printed["name"], printed["version"], printed["state"]) == ("Hven", 0, EMPTY_STATE)
        assert printed["createdAt"] == printed["updatedAt"]
        assert TIME.fullmatch(printed["createdAt"])
        assert answer.headers["ETag"] == rest.get(answer.headers["Location"]).headers["ETag"]
        assert answer.headers["Content-Type"] == "application/json"
        assert rest.get(answer.headers["Location"]).json() == printed

    def test_a_universe_made_with_a_state_has_it_and_begins_at_version_one(self, rest: httpx.Client) -> None:
        printed = rest.post("/universes", json={"name": "x", "state": STATE}).json()
        assert (printed["version"], printed["state"]) == (1, {**EMPTY_STATE, **STATE})

    @pytest.mark.parametrize("state", [{}, {"groups": {}}, {"stars": {}}])
    def test_a_state_may_leave_out_the_bodies(self, rest: httpx.Client, state: dict[str, Any]) -> None:
        answer = rest.post("/universes", json={"name": "x", "state": state})
        assert (answer.status_code, answer.json()["state"]) == (201, EMPTY_STATE)

    def test_an_id_may_be_chosen_once(self, rest: httpx.Client) -> None:
        assert create_universe(rest, id="chosen") == "chosen"
        reply = get_error(rest.post("/universes", json={"name": "x", "id": "chosen"}), 409, "conflict")
        assert reply["universeId"] == "chosen"

    def test_a_universe_begins_as_a_real_system_or_grows_from_a_seed(self, rest: httpx.Client) -> None:
        system = rest.post("/universes", json={"name": "x", "from": "trappist-1"}).json()
        assert len(system["state"]["stars"]) == 8
        shouted = rest.post("/universes", json={"name": "x", "from": "TRAPPIST-1"}).json()
        assert shouted["state"] == system["state"]
        grown = [rest.post("/universes", json={"name": "x", "from": "seed:compact:7"}).json() for _ in range(2)]
        assert grown[0]["state"] == grown[1]["state"]
        assert grown[0]["id"] != grown[1]["id"]

    @pytest.mark.parametrize(
        ("body", "argument"),
        [
            ({}, "name"),
            ({"name": ""}, "name"),
            ({"name": "  "}, "name"),
            ({"name": 5}, "name"),
            ({"name": None}, "name"),
            ({"name": "n" * 201}, "name"),
            ({"name": "x", "id": ""}, "id"),
            ({"name": "x", "id": "a/b"}, "id"),
            ({"name": "x", "id": "x" * 10_000}, "id"),
            ({"name": "x", "id": 5}, "id"),
            ({"name": "x", "id": "a\nb"}, "id"),
            ({"name": "x", "colour": "red"}, "colour"),
            ({"name": "x", "from": "solar-system", "state": {}}, "from"),
            ({"name": "x", "from": 7}, "from"),
            ({"name": "x", "from": "seed:classic"}, "from"),
        ],
    )
    def test_an_invalid_creation_is_refused_with_the_wrong_field(
        self, rest: httpx.Client, body: dict[str, Any], argument: str
    ) -> None:
        reply = get_error(rest.post("/universes", json=body), 400, "malformed_request")
        assert reply["argument"] == argument
        assert "x" * 300 not in reply["message"]

    @pytest.mark.parametrize("state", [[], "x", 5, {"planets": {}}, {"time": "now"}, {"stars": {"a": {"id": "a"}}}])
    def test_an_invalid_state_is_refused(self, rest: httpx.Client, universe: str, state: Any) -> None:
        get_error(rest.post("/universes", json={"name": "x", "state": state}), 400, "malformed_state")
        get_error(rest.put(f"/universes/{universe}", json={"state": state}), 400, "malformed_state")
        assert read_version(rest, universe) == 0

    def test_a_state_in_which_a_body_is_its_own_ancestor_is_refused(self, rest: httpx.Client) -> None:
        stars = {"a": a_body("a", "b"), "b": a_body("b", "a")}
        get_error(rest.post("/universes", json={"name": "x", "state": {"stars": stars}}), 400, "malformed_state")

    @pytest.mark.parametrize("body", [[], "x", None, 5, [{"name": "x"}]])
    def test_a_body_that_is_not_an_object_is_refused(self, rest: httpx.Client, universe: str, body: Any) -> None:
        get_error(rest.post("/universes", json=body), 400, "malformed_request")
        get_error(rest.put(f"/universes/{universe}", json=body), 400, "malformed_request")

    def test_a_null_is_not_a_state(self, rest: httpx.Client) -> None:
        get_error(rest.post("/universes", json={"name": "x", "state": None}), 400)

    def test_a_system_there_is_not_is_refused_by_the_name_of_the_field(self, rest: httpx.Client) -> None:
        reply = get_error(rest.post("/universes", json={"name": "x", "from": "vulcan"}), 404)
        assert "trappist-1" in reply["hint"]
        assert reply["argument"] == "from"


ODD = ["__proto__", "constructor", "é", "🪐", "a b", "a?b", "a#b", "50%", "a%2Fb", "+", "x" * 200, "~", "'\"<>"]


class TestOddIds:
    @pytest.mark.parametrize("odd", ODD)
    def test_an_odd_id_is_made_found_at_its_location_changed_and_deleted(self, rest: httpx.Client, odd: str) -> None:
        answer = rest.post("/universes", json={"name": "x", "id": odd})
        assert answer.status_code == 201, answer.text
        address = f"/universes/{quote(odd, safe='')}"
        assert rest.get(address).json()["id"] == odd
        location = answer.headers["Location"]
        assert re.fullmatch(r"[!-~]+", location)
        assert rest.get(location).json()["id"] == odd
        assert rest.post(f"{address}/commands", json=add_star(odd)).json()["events"] == [
            {"type": "starAdded", "id": odd}
        ]
        assert list(rest.get(address).json()["state"]["stars"]) == [odd]
        branch = rest.post(f"{address}/branch", json={})
        assert branch.status_code == 201
        assert rest.delete(address).status_code == 204
        assert get_error(rest.get(address), 404, "universe_not_found")["universeId"] == odd[:100]

    @pytest.mark.parametrize("odd", [".", ".."])
    def test_an_id_that_no_address_can_hold_is_refused(self, rest: httpx.Client, odd: str) -> None:
        assert get_error(rest.post("/universes", json={"name": "x", "id": odd}), 400)["argument"] == "id"

    @pytest.mark.parametrize("odd", ["unknown", "🪐🪐", "__proto__x", "' OR 1=1 --", "%00", "a\\b"])
    def test_an_unknown_universe_is_named(self, rest: httpx.Client, odd: str) -> None:
        address = f"/universes/{quote(odd, safe='')}"
        for answer in (
            rest.get(address),
            rest.get(address, params={"version": 1}),
            rest.put(address, json={"name": "x"}),
            rest.put(address, json={"state": {}}),
            rest.delete(address),
            rest.post(f"{address}/commands", json=TICK),
            rest.post(f"{address}/undo"),
            rest.post(f"{address}/restore", json={"version": 0}),
            rest.post(f"{address}/branch", json={}),
            rest.get(f"{address}/history"),
            rest.get(f"{address}/positions"),
            rest.get(f"{address}/events"),
        ):
            reply = get_error(answer, 404, "universe_not_found")
            assert reply["universeId"] == odd
            assert odd in reply["message"]

    def test_an_id_of_ten_kilobytes_is_refused_without_being_repeated(self, rest: httpx.Client) -> None:
        reply = get_error(rest.get(f"/universes/{'x' * 10_000}"), 400, "malformed_request")
        assert len(str(reply)) < 1_000

    @pytest.mark.parametrize("path", ["/universes/a%2Fb", "/universes/a/b", "/universes/a/b/commands"])
    def test_a_slash_in_an_id_is_not_an_address(self, rest: httpx.Client, path: str) -> None:
        get_error(rest.get(path), 404, "no_such_address")

    def test_an_id_may_be_neither_utf_8_nor_anything_and_is_not_found(self, rest: httpx.Client) -> None:
        assert get_error(rest.get("/universes/%ff%fe"), 404)["code"] == "universe_not_found"


class TestReading:
    def test_a_record_is_read_now_or_at_a_version(self, rest: httpx.Client, universe: str) -> None:
        states = [read_state(rest, universe)]
        tags: set[str] = set()
        for number in range(3):
            send_command(rest, universe, add_star(f"s{number}"))
            states.append(read_state(rest, universe))
        for version, state in enumerate(states):
            answer = rest.get(f"/universes/{universe}", params={"version": version})
            assert (answer.json()["version"], answer.json()["state"]) == (version, state)
            tags.add(answer.headers["ETag"])
        assert len(tags) == 4

    def test_a_version_there_is_not_is_not_found_and_reports_which_there_are(
        self, rest: httpx.Client, universe: str
    ) -> None:
        send_command(rest, universe, TICK)
        reply = get_error(rest.get(f"/universes/{universe}", params={"version": 2}), 404, "version_not_found")
        assert reply["universeId"] == universe
        assert "1" in reply["hint"]

    @pytest.mark.parametrize("version", ["-1", "x", "1.5", "1e3", str(2**53 + 1), "9" * 400, ""])
    def test_a_version_that_is_invalid_is_refused(self, rest: httpx.Client, universe: str, version: str) -> None:
        for path in ("", "/positions"):
            answer = rest.get(f"/universes/{universe}{path}", params={"version": version})
            assert get_error(answer, 400)["argument"] == "version"

    def test_an_unchanged_universe_is_not_sent_again(self, rest: httpx.Client, universe: str) -> None:
        send_command(rest, universe, TICK)
        tag = rest.get(f"/universes/{universe}").headers["ETag"]
        for header in (tag, f"W/{tag}", f'"x", {tag}'):
            again = rest.get(f"/universes/{universe}", headers={"If-None-Match": header})
            assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag)
        send_command(rest, universe, TICK)
        fresh = rest.get(f"/universes/{universe}", headers={"If-None-Match": tag})
        assert (fresh.status_code, fresh.json()["version"]) == (200, 2)

    @pytest.mark.parametrize("header", ['"11"', "1", '"01"', "", '"x"'])
    def test_a_different_etag_gets_the_whole_response(self, rest: httpx.Client, universe: str, header: str) -> None:
        send_command(rest, universe, TICK)
        assert rest.get(f"/universes/{universe}", headers={"If-None-Match": header}).status_code == 200

    def test_any_tag_will_do_for_a_star(self, rest: httpx.Client, universe: str) -> None:
        assert rest.get(f"/universes/{universe}", headers={"If-None-Match": "*"}).status_code == 304

    def test_a_rename_changes_the_etag(self, rest: httpx.Client, universe: str) -> None:
        tag = rest.get(f"/universes/{universe}").headers["ETag"]
        rest.put(f"/universes/{universe}", json={"name": "Stjerneborg"})
        answer = rest.get(f"/universes/{universe}", headers={"If-None-Match": tag})
        assert (answer.status_code, answer.json().get("name")) == (200, "Stjerneborg")


class TestReplacing:
    def test_a_state_put_in_place_replaces_all_of_it_and_its_time(self, rest: httpx.Client, universe: str) -> None:
        send_command(rest, universe, [add_star("old"), {"type": "tick", "dt": 9}])
        answer = rest.put(f"/universes/{universe}", json={"state": STATE, "name": "New"})
        assert answer.status_code == 200
        printed = answer.json()
        assert (printed["name"], printed["version"], printed["state"]) == ("New", 3, {**EMPTY_STATE, **STATE})
        present = rest.get(f"/universes/{universe}")
        assert (present.json(), present.headers["ETag"]) == (printed, answer.headers["ETag"])
        assert rest.get(f"/universes/{universe}", params={"version": 2}).json()["state"]["time"] == 9

    def test_a_name_alone_leaves_state_and_version(self, rest: httpx.Client, universe: str) -> None:
        send_command(rest, universe, add_star("sun"))
        before = rest.get(f"/universes/{universe}").json()
        after = rest.put(f"/universes/{universe}", json={"name": "New"}).json()
        assert after == {**before, "name": "New", "updatedAt": after["updatedAt"], "renamedBy": before["createdBy"]}

    def test_nothing_to_replace_changes_nothing(self, rest: httpx.Client, universe: str) -> None:
        send_command(rest, universe, add_star("sun"))
        before = rest.get(f"/universes/{universe}").json()
        after = rest.put(f"/universes/{universe}", json={}).json()
        assert {**after, "updatedAt": ""} == {**before, "updatedAt": ""}

    def test_a_refused_put_changes_nothing(self, rest: httpx.Client, universe: str) -> None:
        send_command(rest, universe, add_star("sun"))
        before = rest.get(f"/universes/{universe}").json()
        assert get_error(rest.put(f"/universes/{universe}", json={"state": {}, "name": ""}), 400)["argument"] == "name"
        assert rest.get(f"/universes/{universe}").json() == before

    def test_a_put_that_is_refused_for_its_state_renames_nothing(self, rest: httpx.Client, universe: str) -> None:
        get_error(rest.put(f"/universes/{universe}", json={"state": [], "name": "New"}), 400)
        assert rest.get(f"/universes/{universe}").json()["name"] == "Hven"

    def test_a_null_does_not_empty_a_universe(self, rest: httpx.Client, universe: str) -> None:
        send_command(rest, universe, add_star("sun"))
        get_error(rest.put(f"/universes/{universe}", json={"state": None}), 400)
        assert "sun" in read_state(rest, universe)["stars"]

    def test_a_state_is_put_only_over_the_version_that_was_seen(self, rest: httpx.Client, universe: str) -> None:
        send_command(rest, universe, TICK)
        for how in SEEN_AS:
            reply = get_error(rest.put(f"/universes/{universe}", json={"state": {}}, **how), 409, "version_conflict")
            assert (reply["universeId"], reply["version"], reply["expectedVersion"]) == (universe, 1, 0)
        for version, tag in enumerate(('"1"', 'W/"2"', "*", "4"), 1):
            answer = rest.put(f"/universes/{universe}", json={"state": STATE}, headers={"If-Match": tag})
            assert answer.status_code == 200, answer.text
            assert answer.json()["version"] == version + 1

    def test_the_tag_of_a_record_or_of_an_answer_will_do_for_the_version_that_was_seen(
        self, rest: httpx.Client, universe: str
    ) -> None:
        address = f"/universes/{universe}"
        old = rest.get(address).headers["ETag"]
        for method, path in (("GET", ""), ("POST", "/commands"), ("GET", "/positions"), ("POST", "/undo")):
            tag = rest.request(method, address + path, json=TICK).headers["ETag"]
            answer = rest.put(address, json={"name": "New"}, headers={"If-Match": tag})
            assert answer.status_code == 200, answer.text
        get_error(rest.put(address, json={"state": {}}, headers={"If-Match": old}), 409, "version_conflict")

    def test_a_name_too_is_put_only_over_the_version_that_was_seen(self, rest: httpx.Client, universe: str) -> None:
        get_error(rest.put(f"/universes/{universe}", json={"name": "New"}, headers={"If-Match": '"7"'}), 409)
        assert rest.get(f"/universes/{universe}").json()["name"] == "Hven"

    @pytest.mark.parametrize("tag", ['"x"', '"-1"', '"1.0"', '"' + "9" * 17 + '"', "½", ""])
    def test_a_tag_that_is_invalid_is_refused(self, rest: httpx.Client, universe: str, tag: str) -> None:
        headers = httpx.Headers([(b"If-Match", tag.encode())])
        answer = rest.put(f"/universes/{universe}", json={"state": {}}, headers=headers)
        assert get_error(answer, 400)["argument"] == "If-Match"
        assert read_version(rest, universe) == 0


def test_a_deleted_universe_is_gone_and_not_listed(rest: httpx.Client, universe: str) -> None:
    answer = rest.delete(f"/universes/{universe}")
    assert (answer.status_code, answer.content) == (204, b"")
    assert get_error(rest.delete(f"/universes/{universe}"), 404)["universeId"] == universe
    assert universe not in [one["id"] for one in rest.get("/universes").json()["universes"]]


class TestListing:
    def test_the_list_is_light_and_the_newest_come_first(self, tmp_path: Path) -> None:
        with run_server(tmp_path) as client:
            assert client.get("/universes").json() == {"universes": [], "next": None}
            ids = [create_universe(client, state=STATE) for _ in range(5)]
            printed = client.get("/universes").json()
            assert [one["id"] for one in printed["universes"]] == ids[::-1]
            assert printed["next"] is None
            for one in printed["universes"]:
                assert one.keys() == {"id", "name", "version", "createdAt", "updatedAt", *ACTORS}

    def test_pages_miss_none_and_repeat_none_while_universes_come_and_go(self, tmp_path: Path) -> None:
        with run_server(tmp_path) as client:
            ids = [create_universe(client, id=f"old~{n:02}") for n in range(11)]
            seen: list[str] = []
            cursor: dict[str, str] = {}
            while True:
                page = client.get("/universes", params={"limit": 3, **cursor}).json()
                assert len(page["universes"]) <= 3
                seen += [one["id"] for one in page["universes"]]
                create_universe(client)
                client.delete(f"/universes/{seen[0]}")
                if page["next"] is None:
                    break
                cursor = {"cursor": page["next"]}
            assert seen == ids[::-1]

    @pytest.mark.parametrize("limit", ["0", "1001", "-1", "x", ""])
    def test_a_page_of_an_impossible_length_is_refused(self, rest: httpx.Client, limit: str) -> None:
        assert get_error(rest.get("/universes", params={"limit": limit}), 400)["argument"] == "limit"

    @pytest.mark.parametrize("cursor", ["x", "", "x" * 501])
    def test_an_invalid_cursor_is_refused(self, rest: httpx.Client, cursor: str) -> None:
        assert get_error(rest.get("/universes", params={"cursor": cursor}), 400)["argument"] == "cursor"

    @pytest.mark.parametrize("cursor", ["~", "a~b", "~~~", "\x00~\x00", "zz~'; DROP TABLE universes"])
    def test_a_made_up_cursor_does_no_harm(self, rest: httpx.Client, cursor: str) -> None:
        assert rest.get("/universes", params={"cursor": cursor}).status_code == 200

    def test_all_universes_made_at_once_are_listed(self, tmp_path: Path) -> None:
        with run_server(tmp_path) as client:
            ids = {create_universe(client) for _ in range(30)}
            found: list[str] = []
            cursor: dict[str, str] = {}
            while True:
                page = client.get("/universes", params={"limit": 7, **cursor}).json()
                found += [one["id"] for one in page["universes"]]
                if page["next"] is None:
                    break
                cursor = {"cursor": page["next"]}
            assert len(found) == len(ids)
            assert set(found) == ids
