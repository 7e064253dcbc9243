"""Constant parameters with which a node would fail."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from pflow.domain.ir.checker import CheckResult, check_workflow
from pflow.domain.ir.python_code import NO_RESULT
from pflow.store.node_registry import Registry
from tests.pflow.domain.ir.workflows import Plain, find_only, list_codes


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry(tmp_path)


def check_constant(registry: Registry, kind: str, params: Plain) -> CheckResult:
    return check_workflow({"nodes": [{"id": "a", "type": kind, "params": params}]}, registry)


@pytest.mark.parametrize("kind", ["python", "code"])
@pytest.mark.parametrize(
    ("code", "line", "expected"),
    [
        ("x = 1\nif x\n  result = 2", 2, "expected ':'"),
        ("result = (1", 1, "was never closed"),
        ("return 5", 1, "'return' outside function"),
        ("a = 1\n  b = 2", 2, "unexpected indent"),
        ("print 'x'", 1, "Missing parentheses"),
    ],
)
def test_code_with_a_syntax_error_is_reported_with_its_line(
    registry: Registry, kind: str, code: str, line: int, expected: str
) -> None:
    diagnostic = find_only(check_constant(registry, kind, {"code": code}), "bad_code")
    assert (diagnostic.severity, diagnostic.path, diagnostic.node) == ("error", "nodes[0].params.code", "a")
    assert f"(line {line})" in diagnostic.message
    assert expected in diagnostic.message


@pytest.mark.parametrize(
    "code",
    [
        "result = 1",
        "result = '$${x}'",
        "assert (1, 'x')\nresult = 1 is 1\ns = '\\d'",
        "-" * 10_000 + "1",
        "a" + ".a" * 9_000,
        "result = '\ud800'",
    ],
)
def test_code_that_compiles_or_is_left_to_the_run_is_fine_and_prints_nothing(
    registry: Registry, code: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert check_constant(registry, "python", {"code": code}).diagnostics == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("kind", ["python", "code"])
def test_code_that_never_assigns_a_result_is_a_warning(registry: Registry, kind: str) -> None:
    found = find_only(check_constant(registry, kind, {"code": "print('$${x}')"}), "no_result")
    assert (found.severity, found.path, found.node) == ("warning", "nodes[0].params.code", "a")
    assert found.message == f"'a': {NO_RESULT}"


def test_code_that_only_chooses_an_edge_needs_no_result(registry: Registry) -> None:
    assert check_constant(registry, "python", {"code": "action = 'big'"}).diagnostics == []


def test_a_nul_in_code_is_reported(registry: Registry) -> None:
    assert "null bytes" in find_only(check_constant(registry, "python", {"code": "x = '\0'"}), "bad_code").message


@pytest.mark.parametrize("code", ["if ${x}", "if ${x:.2f}", "($${x} ${x}"])
def test_code_with_templates_is_reported_only_for_the_templates(registry: Registry, code: str) -> None:
    assert not {"bad_code"} & set(list_codes(check_constant(registry, "python", {"code": code})))


def test_much_code_is_checked_in_time(registry: Registry) -> None:
    nodes: list[Plain] = [
        {"id": f"n{number}", "type": "python", "params": {"code": "class a:pass\n" * 1_500}} for number in range(400)
    ]
    nodes.append({"id": "long", "type": "python", "params": {"code": "x = (\n" * 1_000_000}})
    edges = [{"from": "n0", "to": node["id"]} for node in nodes[1:]]
    began = time.process_time()
    assert set(list_codes(check_workflow({"nodes": nodes, "edges": edges}, registry))) == {"no_result"}
    assert time.process_time() - began < 20


def test_code_is_checked_by_many_threads_at_once(registry: Registry) -> None:
    found: list[list[str]] = []

    def look() -> None:
        found.append(list_codes(check_constant(registry, "python", {"code": "x = '\\d'\nif"})))

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == [["bad_code"]] * 8


@pytest.mark.parametrize("given", [{}, {"confirm_delete": False}, {"confirm_delete": "no"}, {"confirm_delete": None}])
def test_a_deletion_that_is_not_confirmed_is_an_error(registry: Registry, given: Plain) -> None:
    diagnostic = find_only(check_constant(registry, "delete-file", {"file_path": "x", **given}), "unconfirmed_delete")
    assert (diagnostic.severity, diagnostic.path) == ("error", "nodes[0].params.confirm_delete")
    assert diagnostic.example == {"file_path": "x", "confirm_delete": True}


@pytest.mark.parametrize("confirmed", [True, "yes", "${sure}"])
def test_a_deletion_that_is_or_may_be_confirmed_is_fine(registry: Registry, confirmed: Any) -> None:
    assert check_constant(registry, "delete-file", {"file_path": "x", "confirm_delete": confirmed}).errors == []


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("ftp://user:geheim@host/x", "begins with ftp://"),
        ("file:///etc/passwd", "begins with file://"),
        ("example.org/data", "and a host."),
        ("localhost:8080/${path}", "and a host."),
        ("ftp://${host}", "begins with ftp://"),
        ("http://", "and a host."),
        ("https:///path", "and a host."),
        ("", "and a host."),
    ],
)
def test_an_address_that_no_request_can_have_is_an_error(registry: Registry, url: str, expected: str) -> None:
    diagnostic = find_only(check_constant(registry, "http", {"url": url}), "bad_url")
    assert (diagnostic.severity, diagnostic.path, diagnostic.node) == ("error", "nodes[0].params.url", "a")
    assert expected in diagnostic.message
    assert "geheim" not in str(diagnostic.to_dict())


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org",
        " HTTPS://example.org/x",
        "${url}",
        "${scheme}://host/",
        "http${s}://host",
        "http://${host}/",
        "https://u:p@h",
    ],
)
def test_an_address_that_may_be_one_is_fine(registry: Registry, url: str) -> None:
    assert check_constant(registry, "http", {"url": url}).errors == []
