"""The OpenAPI document of the API is accurate: every reply to valid and invalid requests is one that it declares."""

from typing import Any, Final

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error  # pyright: ignore[reportUnknownVariableType]
from schemathesis.specs.openapi import checks

from tests.uraniborg.console.processes import ServerProcess
from uraniborg.recordings import QUERY

_CHECKS: Final[list[Any]] = [
    not_a_server_error,
    checks.status_code_conformance,  # pyright: ignore[reportUnknownMemberType]
    checks.content_type_conformance,  # pyright: ignore[reportUnknownMemberType]
    checks.response_schema_conformance,  # pyright: ignore[reportUnknownMemberType]
]
_OTHER_DOCUMENTS: Final = ("/api/universes", "/api/jobs", "/api/origins", "/api/commands")
"""The document of the universe server describes these operations, and its own test checks them."""
_ENDLESS: Final = {("/api/events", "get")}
_STARTING: Final = {
    ("/api/runs", "post"),
    ("/api/runs/{run_id}/resume", "post"),
    ("/api/searches", "post"),
    ("/api/searches/{session_id}/shelf", "post"),
    ("/api/story/restart", "post"),
    ("/api/story/steps/{step_id}", "post"),
    ("/api/doctor", "get"),
}
"""Each starts a process: only invalid requests are tried."""
_SIGNING: Final = {("/api/sign-in", "post"), ("/api/sign-in/renew", "post")}
"""Arbitrary tokens are refused: they have no other reply to look at."""
_WORKFLOW: Final = {"nodes": [{"id": "say", "type": "shell", "params": {"command": "echo hello"}}]}


@pytest.fixture(scope="module")
def known(server: ServerProcess) -> dict[str, str]:
    """Store a search, a workflow and a draft, and return the path parameters that name them."""
    with server.make_client() as client:
        session = client.post("/api/searches", json={"query": QUERY}).json()
        client.put("/api/drafts/hello", json={"document": _WORKFLOW})
        saved = client.post("/api/drafts/hello/save", json={"final_name": "hello", "description": "Say hello"})
        assert saved.status_code == 200, saved.text
        client.put("/api/drafts/hello", json={"document": _WORKFLOW})
        entry = client.get("/api/inbox").json()["entries"][0]
    return {
        "session_id": session["session_id"],
        "name": "hello",
        "entry_id": entry["id"],
        "shelf": "sample-shelf",
        "step_id": "search",
    }


@pytest.fixture(scope="module")
def document(server: ServerProcess) -> dict[str, Any]:
    with server.make_client() as client:
        return client.get("/api/openapi.json").json()


def list_operations(document: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the operations that are tried."""
    return [
        (path, method)
        for path, methods in document["paths"].items()
        for method in methods
        if not path.startswith(_OTHER_DOCUMENTS) and (path, method) not in _ENDLESS | _SIGNING
    ]


def test_every_operation_has_a_name_a_summary_and_a_typed_reply(document: dict[str, Any]) -> None:
    names: list[str] = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            names.append(operation["operationId"])
            assert operation["summary"], (path, method)
            reply = next(reply for status, reply in operation["responses"].items() if status.startswith("2"))
            if path.startswith(_OTHER_DOCUMENTS):
                continue
            assert all(media.get("schema") for media in reply.get("content", {}).values()), (path, method)
    assert len(names) == len(set(names))


def test_no_two_types_of_replies_have_the_same_name(document: dict[str, Any]) -> None:
    # FastAPI adds the modules, joined by `__`, to the names of different classes with the same name.
    assert not [name for name in document["components"]["schemas"] if "__" in name]


@pytest.mark.parametrize("mode", list(GenerationMode))
def test_every_reply_is_one_of_those_documented(
    server: ServerProcess, document: dict[str, Any], known: dict[str, str], mode: GenerationMode
) -> None:
    problems: list[str] = []
    api: Any = schemathesis.openapi.from_dict(document)
    api.config.update(base_url=server.url)
    headers = {"Authorization": f"Bearer {server.token}", "X-Uraniborg": "1"}
    for path, method in list_operations(document):
        operation = document["paths"][path][method]
        can_be_invalid = "parameters" in operation or "requestBody" in operation
        if not can_be_invalid if mode is GenerationMode.NEGATIVE else (path, method) in _STARTING:
            continue
        try:
            _try_operation(api[path][method], mode, known, headers)
        except Exception as error:
            problems.append(f"{method.upper()} {path}: {error}")
    assert not problems, "\n\n".join(problems)
    assert httpx.get(f"{server.url}/api/health").status_code == 200


def _try_operation(operation: Any, mode: GenerationMode, known: dict[str, str], headers: dict[str, str]) -> None:
    """Send requests made from the document, and check each reply. Raise the first failure."""

    @settings(
        max_examples=3,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
        deadline=None,
        derandomize=True,
        database=None,
    )
    @given(case=operation.as_strategy(generation_mode=mode), is_known=st.booleans())
    def check(case: Any, is_known: bool) -> None:
        if is_known and case.method != "DELETE":
            case.path_parameters.update({name: known[name] for name in case.path_parameters if name in known})
        case.call_and_validate(checks=_CHECKS, headers=headers, timeout=60)

    check()
