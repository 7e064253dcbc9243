"""The ledger itself holds, and its checks can fail."""

from pathlib import Path

import pytest

from tests.requirements.ledger import PAGE, Deviation, Requirement, deviations, gaps, proofs, requirements, table

KNOWN = [Requirement("XX-1", "search", True, "a | b"), Requirement("XX-2", "search", False, "later")]


@pytest.fixture(scope="module")
def listed() -> dict[str, list[str]]:
    return proofs()


def test_every_built_requirement_is_proved_and_no_test_names_an_unknown_one(listed: dict[str, list[str]]) -> None:
    assert gaps(requirements(), listed, deviations()) == []


def test_the_page_lists_every_requirement_as_it_stands(listed: dict[str, list[str]]) -> None:
    page = table(requirements(), listed, deviations())
    assert PAGE.read_text(encoding="utf-8") == page, "run `make docs`"


def test_the_ledger_has_exactly_the_ids_of_the_specifications(shared_data: Path) -> None:
    listing = shared_data.parent / "specs" / "requirements.tsv"
    ids = [line.split("\t")[0] for line in listing.read_text(encoding="utf-8").splitlines()[1:] if line]
    assert [requirement.id for requirement in requirements()] == ids


@pytest.mark.parametrize(
    ("proved", "complaint"),
    [
        ({}, "XX-1 is built, but no test carries it"),
        ({"XX-1": ["t.py::a"], "XX-9": ["t.py::b"]}, "t.py::b carries the unknown id XX-9"),
        ({"XX-1": ["t.py::a"], "XX-2": ["t.py::b"]}, "XX-2 is proved by t.py::b, but listed as not built"),
    ],
)
def test_a_gap_in_either_direction_is_named(proved: dict[str, list[str]], complaint: str) -> None:
    assert gaps(KNOWN, proved) == [complaint]


def test_marks_are_read_from_plain_and_async_tests_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_x.py").write_text(
        '@requirement("XX-1", "XX-2")\ndef test_a(): ...\n\n\n'
        '@requirement("XX-1")\nasync def test_b(): ...\n\n\n'
        '@requirement("XX-3")\ndef helper(): ...\n'
    )
    assert proofs(tmp_path / "tests") == {
        "XX-1": ["tests/test_x.py::test_a", "tests/test_x.py::test_b"],
        "XX-2": ["tests/test_x.py::test_a"],
    }


def test_a_pipe_in_a_statement_does_not_break_the_table() -> None:
    assert "| XX-1 | search | a \\| b | 1 in `t.py` |" in table(KNOWN, {"XX-1": ["t.py::a"]})


def test_the_additional_argument_of_decide_and_the_reply_limit_are_stated_with_reasons() -> None:
    stated = {(deviation.id, deviation.reason != "") for deviation in deviations()}
    assert {("PS-REQ-8", True), ("PS-REQ-9", True), ("PS-C3", True)} <= stated
    assert any("checkpoint_id" in deviation.deviation for deviation in deviations() if deviation.id == "PS-REQ-9")
    assert any("reply_within_s" in deviation.deviation for deviation in deviations() if deviation.id == "PS-REQ-8")


@pytest.mark.parametrize(
    ("deviation", "complaint"),
    [
        (Deviation("XX-9", "it differs", "because"), "a deviation names the unknown id XX-9"),
        (Deviation("XX-1", "it differs", " "), "a deviation from XX-1 gives no reason"),
    ],
)
def test_a_deviation_needs_a_known_id_and_a_reason(deviation: Deviation, complaint: str) -> None:
    assert gaps(KNOWN, {"XX-1": ["t.py::a"]}, [deviation]) == [complaint]
