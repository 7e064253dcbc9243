"""The documented limits of replies."""

import json
from pathlib import Path
from typing import Any, cast

import pytest

from pflow.errors import InvalidWorkflow
from pflow.service.engine.results import RunResult, build_error_body, build_reply_and_write_large_outputs
from tests.pflow.service.engine.counting_home import Home, chain, node


class FakeResult:
    """As much of the result of a run as a reply is made of."""

    run_id = "run_1"

    def __init__(self, outputs: dict[str, Any] | None = None, **reply: Any) -> None:
        self.outputs = outputs or {}
        self._reply: dict[str, Any] = {"error": None, "warnings": [], "checkpoint": None, **reply}

    def reply(self) -> dict[str, Any]:
        return dict(self._reply)


def build_limited_reply(home: Path, outputs: dict[str, Any] | None = None, **reply: Any) -> Any:
    return build_reply_and_write_large_outputs(cast("RunResult", FakeResult(outputs, **reply)), home)


def test_outputs_of_a_hundred_thousand_bytes_are_reported_and_one_more_is_cut_and_written_to_a_file(
    tmp_path: Path,
) -> None:
    fits = {"a": "x" * 49_998, "b": "x" * 49_998}
    assert build_limited_reply(tmp_path, fits) == {**FakeResult().reply(), "outputs": fits}
    cut = build_limited_reply(tmp_path, {"a": "x" * 49_998, "b": "y" * 49_999})
    assert cut["outputs"] == {
        "a": "x" * 49_998,
        "b": {"truncated": True, "bytes": 49_999, "preview": "y" * 2_000, "file": "spool/run_1/b.txt"},
    }
    assert (tmp_path / "spool" / "run_1" / "b.txt").read_text() == "y" * 49_999
    assert (tmp_path / "spool" / "run_1" / "b.txt").stat().st_mode & 0o777 == 0o600
    (warning,) = cut["warnings"]
    assert "49,999 bytes" in warning


def test_more_than_a_hundred_outputs_that_are_too_large_are_reported_of_together(tmp_path: Path) -> None:
    hundred = {f"o{number}": "x" * 1_100 for number in range(100)}
    assert "o0" in build_limited_reply(tmp_path, hundred)["outputs"]
    more = {**hundred, "o100": "x"}
    assert build_limited_reply(tmp_path, more)["outputs"].keys() == {"all"}
    assert json.loads((tmp_path / "spool" / "run_1" / "all.json").read_bytes()) == more


def test_fifty_warnings_of_four_thousand_characters_are_reported_and_the_rest_counted(tmp_path: Path) -> None:
    warnings = [f"{number}: {'w' * 5_000}" for number in range(53)]
    shown = build_limited_reply(tmp_path, warnings=[*warnings, warnings[0]])["warnings"]
    assert len(shown) == 51
    assert shown[-1] == "And 3 more."
    assert max(map(len, shown[:50])) <= 4_100
    assert all(text.startswith(f"{number}: {'w' * 3_900}") for number, text in enumerate(shown[:50]))


def test_hashes_of_two_hundred_nodes_are_reported_and_not_more(tmp_path: Path) -> None:
    for count in (200, 201):
        hashes = {f"n{number}": "h" for number in range(count)}
        reply = build_limited_reply(tmp_path, checkpoint={"run_id": "run_1", "node_hashes": hashes})
        assert ("node_hashes" in reply["checkpoint"]) is (count == 200)


def test_fifty_findings_of_the_checker_are_reported_and_the_rest_counted() -> None:
    found: Any = [{"code": "x", "path": f"nodes[{number}]"} for number in range(53)]
    body: Any = build_error_body(InvalidWorkflow("It is not valid.", hint="", diagnostics=found))
    assert (body["diagnostics"], body["more_diagnostics"]) == (found[:50], 3)
    assert "more_diagnostics" not in build_error_body(
        InvalidWorkflow("It is not valid.", hint="", diagnostics=found[:50])
    )


def test_browsing_returns_at_most_sixty_thousand_bytes_and_nearly_as_many(tmp_path: Path) -> None:
    home = Home(tmp_path)
    kinds = [
        {"type": f"kind-{number}", "description": "d" * 400, "run": "counting.py:count", "effect": "pure"}
        for number in range(300)
    ]
    home.record_nodes("many", kinds, "")
    browsed = home.service.browse_components("", include_workflows=False)
    size = len(json.dumps(browsed["nodes"], separators=(",", ":")).encode())
    assert 59_000 < size <= 60_000
    assert browsed["truncated"] is True


def test_a_description_has_fifty_findings_and_a_graph_of_twenty_thousand_characters_and_two_hundred_nodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Home(tmp_path)
    home.draft("short", chain(node("n")))
    home.draft("wrong", {"nodes": [{"id": f"n{number}", "type": "nothing"} for number in range(60)], "edges": []})
    assert len(home.service.describe_workflow("wrong")["diagnostics"]) == 50
    for count, is_drawn in ((200, True), (201, False)):
        home.draft("long", chain(*(node(f"n{number}") for number in range(count))))
        assert bool(home.service.describe_workflow("long")["graph"]) is is_drawn
    for size, is_included in ((20_000, True), (20_001, False)):

        def drawn(_workflow: object, size: int = size) -> str:
            return "g" * size

        monkeypatch.setattr("pflow.service.catalog.draw_mermaid", drawn)
        assert bool(home.service.describe_workflow("short")["graph"]) is is_included
