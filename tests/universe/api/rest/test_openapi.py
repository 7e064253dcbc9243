"""The OpenAPI document is valid, complete and accurate."""

import json
import re
from collections import Counter
from collections.abc import Generator
from typing import Any

import httpx
import jsonschema
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error  # pyright: ignore[reportUnknownVariableType]
from schemathesis.specs.openapi import checks

from tests.universe.api.rest.rest_server import SOON, create_universe, run_server, send_command
from tests.universe.domain.samples import EXAMPLES, add_star, example
from tests.universe.domain.strategies import FLAT

ROUTES = {
    ("/health", "get"),
    ("/universes", "get"),
    ("/universes", "post"),
    ("/universes/{universe_id}", "get"),
    ("/universes/{universe_id}", "put"),
    ("/universes/{universe_id}", "delete"),
    ("/universes/{universe_id}/commands", "post"),
    ("/universes/{universe_id}/events", "get"),
    ("/universes/{universe_id}/positions", "get"),
    ("/universes/{universe_id}/elements", "get"),
    ("/universes/{universe_id}/history", "get"),
    ("/universes/{universe_id}/undo", "post"),
    ("/universes/{universe_id}/restore", "post"),
    ("/universes/{universe_id}/branch", "post"),
    ("/universes/import", "post"),
    ("/universes/{universe_id}/export", "get"),
    ("/universes/{universe_id}/plot", "get"),
    ("/universes/{universe_id}/cite", "get"),
    ("/universes/{universe_id}/physics", "get"),
    ("/universes/{universe_id}/differences", "get"),
    ("/jobs", "get"),
    ("/origins", "get"),
    ("/commands", "get"),
    ("/universes/{universe_id}/jobs", "get"),
    ("/universes/{universe_id}/jobs", "post"),
    ("/universes/{universe_id}/jobs/{job_id}", "get"),
    ("/universes/{universe_id}/jobs/{job_id}", "delete"),
    ("/universes/{universe_id}/jobs/{job_id}/cancel", "post"),
    ("/universes/{universe_id}/jobs/{job_id}/events", "get"),
    ("/universes/{universe_id}/jobs/{job_id}/result", "get"),
    ("/universes/{universe_id}/jobs/{job_id}/plot", "get"),
    ("/universes/{universe_id}/jobs/{job_id}/series", "get"),
    ("/universes/{universe_id}/jobs/{job_id}/trajectory", "get"),
    ("/universes/{universe_id}/jobs/{job_id}/comparison", "get"),
}


ENDLESS = {("/universes/{universe_id}/events", "get")}
STARTING = {("/universes/{universe_id}/jobs", "post")}
"""A process for each job: only universes that do not exist are tried."""


@pytest.fixture(scope="module")
def document(rest: httpx.Client) -> dict[str, Any]:
    answer = rest.get("/openapi.json")
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/json")
    return answer.json()


def operations(document: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {(path, verb): one for path, verbs in document["paths"].items() for verb, one in verbs.items()}


def test_every_address_is_in_the_document(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1")
    assert operations(document).keys() == ROUTES


def test_every_address_is_described_and_named_once(document: dict[str, Any]) -> None:
    found = operations(document).values()
    assert max(Counter(one["operationId"] for one in found).values()) == 1
    for one in found:
        assert one["summary"]
        assert one["description"]
        assert {"200", "201", "202", "204"} & one["responses"].keys()


def test_the_document_is_sound(document: dict[str, Any]) -> None:
    for (path, _), operation in operations(document).items():
        parameters = operation.get("parameters", [])
        assert {one["name"] for one in parameters if one["in"] == "path"} == set(re.findall(r"\{(\w+)\}", path))
        schemas = [one["schema"] for one in parameters]
        for part in (operation.get("requestBody", {}), *operation["responses"].values()):
            schemas += [one["schema"] for one in part.get("content", {}).values() if "schema" in one]
        for schema in schemas:
            jsonschema.Draft202012Validator.check_schema(schema)
        for response in operation["responses"].values():
            assert response["description"]
    for reference in re.findall(r'"\$ref":\s*"([^"]+)"', json.dumps(document)):
        found: Any = document
        for part in reference.removeprefix("#/").split("/"):
            found = found[part]
    for schema in document["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_every_status_that_an_address_gives_is_in_the_document(document: dict[str, Any]) -> None:
    found = operations(document)
    for place, statuses in {
        ("/universes", "post"): {"201", "400", "409", "413", "503"},
        ("/universes/{universe_id}", "get"): {"200", "304", "400", "404", "503"},
        ("/universes/{universe_id}", "put"): {"200", "400", "404", "409", "413", "503"},
        ("/universes/{universe_id}", "delete"): {"204", "404", "503"},
        ("/universes/{universe_id}/commands", "post"): {"200", "400", "404", "409", "413", "422", "503"},
        ("/universes/{universe_id}/undo", "post"): {"200", "404", "409", "503"},
    }.items():
        assert statuses <= found[place]["responses"].keys()


def validator(document: dict[str, Any], name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(
        {"$ref": f"#/components/schemas/{name}", "components": document["components"]}
    )


@pytest.mark.parametrize("kind", EXAMPLES)
def test_the_schema_of_commands_takes_each_and_refuses_it_without_its_fields(
    document: dict[str, Any], kind: str
) -> None:
    checker = validator(document, "Command")
    checker.validate(example(kind))  # pyright: ignore[reportUnknownMemberType]
    assert not checker.is_valid({**example(kind), "surplus": 1})  # pyright: ignore[reportUnknownMemberType]
    for field in example(kind):
        if (kind, field) != ("tick", "dt"):
            cut = {name: value for name, value in example(kind).items() if name != field}
            assert not checker.is_valid(cut)  # pyright: ignore[reportUnknownMemberType]


def test_the_openapi_document_describes_records_results_states_and_errors_as_sent(
    rest: httpx.Client, document: dict[str, Any]
) -> None:
    universe = create_universe(rest)
    result = send_command(rest, universe, FLAT)
    record = rest.get(f"/universes/{universe}").json()
    refusal = rest.post(f"/universes/{universe}/commands", json={"type": "removeStar", "id": "x"}).json()
    listed = rest.get("/universes").json()
    shown = {"Result": result, "Universe": record, "State": record["state"], "ErrorBody": refusal, "FactsList": listed}
    for name, value in shown.items():
        validator(document, name).validate(value)  # pyright: ignore[reportUnknownMemberType]


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Generator[Any]:
    """Provide the OpenAPI document of a server with one universe that has a body."""
    with run_server(tmp_path_factory.mktemp("api")) as client:
        create_universe(client, id="known")
        send_command(client, "known", [FLAT, add_star("sun"), *([{"type": "tick"}] * 5)])
        schema = schemathesis.openapi.from_url(f"{client.base_url}/openapi.json")
        yield schema


_TRUE_OF_ALL: list[Any] = [
    not_a_server_error,
    checks.status_code_conformance,  # pyright: ignore[reportUnknownMemberType]
    checks.content_type_conformance,  # pyright: ignore[reportUnknownMemberType]
    checks.response_headers_conformance,  # pyright: ignore[reportUnknownMemberType]
    checks.response_schema_conformance,  # pyright: ignore[reportUnknownMemberType]
]


WITHOUT_PARAMETERS = {("/health", "get"), ("/commands", "get"), ("/origins", "get")}
"""Routes to which no request is wrong."""
REQUESTS = [
    (*route, mode)
    for route in sorted(ROUTES - ENDLESS)
    for mode in GenerationMode
    if mode is GenerationMode.POSITIVE or route not in WITHOUT_PARAMETERS
]


@pytest.mark.parametrize(("path", "method", "mode"), REQUESTS)
def test_every_response_is_one_of_those_documented(api: Any, path: str, method: str, mode: GenerationMode) -> None:
    @settings(
        max_examples=8,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
        deadline=None,
        derandomize=True,
        database=None,
    )
    @given(case=api[path][method].as_strategy(generation_mode=mode), is_known=st.integers(0, 3))
    def check(case: Any, is_known: int) -> None:
        if is_known and method != "delete" and (path, method) not in STARTING and "universe_id" in case.path_parameters:
            case.path_parameters["universe_id"] = "known"
        case.call_and_validate(checks=_TRUE_OF_ALL, timeout=SOON)

    check()
