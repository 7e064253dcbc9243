"""Batch, retry and timeout of a node, and errors in them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pflow.domain.diagnostics import CheckerDiagnostic
from pflow.domain.ir.declarations import parse_batch, parse_retry, parse_timeout
from pflow.domain.ir.model import BatchSettings, Retry
from tests.pflow.domain.ir.workflows import find_only, list_codes

ANY = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.lists(st.integers(), max_size=2)
)


def parse_batch_with_diagnostics(plain: Any) -> tuple[BatchSettings | None, list[CheckerDiagnostic]]:
    found: list[CheckerDiagnostic] = []
    return parse_batch(plain, "nodes[0].batch", found), found


def parse_retry_with_diagnostics(plain: Any) -> tuple[Retry | None, list[CheckerDiagnostic]]:
    found: list[CheckerDiagnostic] = []
    return parse_retry(plain, "nodes[0].retry", found), found


def parse_timeout_with_diagnostics(plain: Any) -> tuple[float | None, list[CheckerDiagnostic]]:
    found: list[CheckerDiagnostic] = []
    return parse_timeout(plain, "nodes[0].timeout", found), found


def test_a_batch_has_all_declared_settings() -> None:
    plain = {
        "items": "${list.result}",
        "as": "paper",
        "error_handling": "continue",
        "parallel": True,
        "max_concurrent": 100,
        "max_retries": 10,
        "retry_wait": 0.5,
    }
    assert parse_batch_with_diagnostics(plain) == (
        BatchSettings("${list.result}", "paper", "continue", True, 100, Retry(10, 0.5)),
        [],
    )


def test_a_batch_needs_no_more_than_its_items() -> None:
    assert parse_batch_with_diagnostics({"items": [1, 2]}) == (
        BatchSettings([1, 2], "item", "fail_fast", False, 10, Retry(1, 0.0)),
        [],
    )


def test_all_settings_of_a_node_are_optional() -> None:
    assert (
        parse_batch_with_diagnostics(None),
        parse_retry_with_diagnostics(None),
        parse_timeout_with_diagnostics(None),
    ) == ((None, []), (None, []), (None, []))


@pytest.mark.parametrize("plain", [[], [1, 2], "${xs}", 5, True, {}, {"item": [1]}])
def test_a_batch_of_the_wrong_type_is_reported_with_an_example(plain: Any) -> None:
    batch, found = parse_batch_with_diagnostics(plain)
    assert batch is None
    assert list_codes(found) == ["bad_batch"]
    assert found[0].path == "nodes[0].batch"
    assert "${" in found[0].example["items"]


@pytest.mark.parametrize("items", [None, 5, {}, "text", "", True])
def test_items_that_are_neither_a_list_nor_a_template_are_refused(items: Any) -> None:
    diagnostic = find_only(parse_batch_with_diagnostics({"items": items})[1], "bad_batch")
    assert diagnostic.path == "nodes[0].batch.items"
    assert diagnostic.example.startswith("${")


@pytest.mark.parametrize(
    ("key", "value", "code"),
    [
        ("as", "a b", "bad_batch"),
        ("as", 5, "bad_batch"),
        ("error_handling", "ignore", "bad_batch"),
        ("error_handling", None, "bad_batch"),
        ("parallel", "yes", "bad_batch"),
        ("parallel", 1, "bad_batch"),
        ("max_concurrent", 0, "bad_number"),
        ("max_concurrent", 101, "bad_number"),
        ("max_concurrent", "5", "bad_number"),
        ("max_concurrent", True, "bad_number"),
        ("max_concurrent", 1.5, "bad_number"),
        ("max_retries", 0, "bad_number"),
        ("max_retries", 11, "bad_number"),
        ("retry_wait", -1, "bad_number"),
        ("retry_wait", float("nan"), "bad_number"),
        ("retry_wait", "1s", "bad_number"),
    ],
)
def test_invalid_settings_of_a_batch_are_reported_at_their_paths(key: str, value: Any, code: str) -> None:
    found = parse_batch_with_diagnostics({"items": [1], key: value})[1]
    assert [(one.severity, one.code, one.path) for one in found] == [("error", code, f"nodes[0].batch.{key}")]
    assert found[0].example is not None or found[0].available


@pytest.mark.parametrize(
    ("key", "meant"), [("paralel", "parallel"), ("max_concurrency", "max_concurrent"), ("zzz", None)]
)
def test_an_unknown_key_of_a_batch_is_reported_with_the_known_ones(key: str, meant: str | None) -> None:
    diagnostic = find_only(parse_batch_with_diagnostics({"items": [1], key: 1})[1], "unknown_key")
    assert (diagnostic.path, diagnostic.nearest) == (f"nodes[0].batch.{key}", meant)
    assert {"items", "as", "parallel"} <= set(diagnostic.available)
    assert diagnostic.example["items"]


def test_a_retry_has_all_declared_settings() -> None:
    assert parse_retry_with_diagnostics({"attempts": 5, "wait": 2, "backoff": "exponential"}) == (
        Retry(5, 2.0, "exponential"),
        [],
    )
    assert parse_retry_with_diagnostics({"max": 4}) == (Retry(4), [])
    assert parse_retry_with_diagnostics({}) == (Retry(3), [])


@pytest.mark.parametrize("plain", [3, "3", True, [3]])
def test_a_retry_of_the_wrong_type_is_reported_with_an_example(plain: Any) -> None:
    retry, found = parse_retry_with_diagnostics(plain)
    assert retry is None
    assert find_only(found, "bad_retry").example["attempts"] == 3


@pytest.mark.parametrize(
    ("plain", "path"),
    [
        ({"attempts": 0}, "attempts"),
        ({"attempts": 11}, "attempts"),
        ({"max": "x"}, "max"),
        ({"wait": -1}, "wait"),
        ({"backoff": "linear"}, "backoff"),
        ({"atempts": 3}, "atempts"),
    ],
)
def test_invalid_settings_of_a_retry_are_reported_at_their_paths(plain: Any, path: str) -> None:
    found = parse_retry_with_diagnostics(plain)[1]
    assert [(one.severity, one.path) for one in found] == [("error", f"nodes[0].retry.{path}")]


def test_waits_between_attempts_are_the_same_or_double_up_to_a_minute() -> None:
    assert [Retry(5, 2.0).get_wait_before(attempt) for attempt in range(1, 5)] == [0.0, 2.0, 2.0, 2.0]
    exponential = Retry(9, 10.0, "exponential")
    assert [exponential.get_wait_before(attempt) for attempt in range(1, 7)] == [0.0, 10.0, 20.0, 40.0, 60.0, 60.0]


@pytest.mark.parametrize("seconds", [0.001, 1, 30.5, 604800])
def test_a_timeout_is_a_number_of_seconds(seconds: float) -> None:
    assert parse_timeout_with_diagnostics(seconds) == (float(seconds), [])


@pytest.mark.parametrize(
    "plain", [0, -1, 604801, "30s", "30", True, [], {}, float("inf"), float("nan"), pytest.param(10**400, id="huge")]
)
def test_an_invalid_timeout_is_refused(plain: Any) -> None:
    seconds, found = parse_timeout_with_diagnostics(plain)
    assert seconds is None
    assert (find_only(found, "bad_number").path, find_only(found, "bad_number").example) == ("nodes[0].timeout", 30)


@given(
    st.dictionaries(
        st.sampled_from(["items", "as", "error_handling", "parallel", "max_concurrent", "max_retries", "retry_wait"]),
        ANY,
    )
)
def test_any_batch_that_is_read_can_be_run(plain: dict[str, Any]) -> None:
    batch, found = parse_batch_with_diagnostics(plain)
    if batch is not None:
        assert 1 <= batch.max_concurrent <= 100
        assert 1 <= batch.retry.attempts <= 10
        assert 0 <= batch.retry.wait <= 604800
        assert batch.error_handling in ("fail_fast", "continue")
    assert batch is not None or found
