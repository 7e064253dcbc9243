"""Universes of an older version: read at every version, verified, changed, undone and branched."""

import json

from tests.uraniborg.old_data.folder import OldData

VERSIONS = {"trappist": 49, "branch": 2, "classic": 3, "empty": 0, "solar": 2}


def test_every_universe_is_listed_and_whole(old: OldData) -> None:
    listed = {one["id"]: one for one in old.run("universe", "list")["universes"]}
    assert {name: listed[id_]["version"] for name, id_ in old.ids["universes"].items()} == VERSIONS
    assert listed["trappist"]["name"] == "TRAPPIST-1"
    verdicts = {one["universeId"]: one for one in old.run("universe", "verify")["universes"]}
    assert all(one["ok"] for one in verdicts.values())
    assert verdicts["trappist"]["entries"] == 49
    assert verdicts["trappist"]["snapshots"] == 2


def test_a_universe_is_read_at_any_version(old: OldData) -> None:
    first, last = (old.run("universe", "export", "trappist", "--version", version) for version in ("1", "49"))
    assert len(first["state"]["stars"]) == len(last["state"]["stars"]) == 8, "what was removed was restored"
    assert "Planet e" not in json.dumps(first)
    assert last["state"]["stars"]["trappist-1-e"]["name"] == "Planet e"
    assert last["state"]["time"] == sum(day / 10 for day in range(1, 46))
    before_undo = old.run("universe", "export", "trappist", "--version", "48")
    assert "trappist-1-h" not in before_undo["state"]["stars"]


def test_numbers_keep_their_sources(old: OldData) -> None:
    cited = old.run("universe", "cite", "trappist")
    assert [source["doi"] for source in cited["sources"]][:1] == ["10.3847/PSJ/abd022"]
    assert "@article{agol2021" in cited["bibtex"]


def test_undo_continues_where_the_older_version_stopped(old: OldData) -> None:
    old.run("universe", "undo", "trappist")
    state = old.run("universe", "export", "trappist")
    assert state["version"] == 50
    assert state["state"]["stars"]["trappist-1-e"]["name"] == "TRAPPIST-1 e"
    assert old.run("universe", "verify", "trappist")["universes"][0]["ok"]


def test_a_universe_can_be_changed_branched_and_restored(old: OldData) -> None:
    sent = old.run("universe", "send", "classic", '{"type": "tick", "dt": 1}')
    assert sent["version"] == 4
    branch = old.run("universe", "branch", "trappist", "--version", "20")
    assert branch["bodies"] == 8
    restored = old.run("universe", "restore", "solar", "--version", "1")
    assert restored["version"] == 3
    assert len(old.run("universe", "export", "solar")["state"]["stars"]) > 8
    assert all(one["ok"] for one in old.run("universe", "verify")["universes"])


def test_a_key_that_was_used_is_not_used_twice(old: OldData) -> None:
    body = {"type": "updateStar", "id": "trappist-1-e", "payload": {"name": "Planet e", "mass": 0.002}}
    sent = old.run("universe", "send", "trappist", json.dumps(body), "--key", "rename-e")
    assert sent["version"] == 47
    assert {one["id"]: one["version"] for one in old.run("universe", "list")["universes"]}["trappist"] == 49
