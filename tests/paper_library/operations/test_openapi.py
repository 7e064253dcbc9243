"""The OpenAPI document is valid, complete and correct."""

import json
import re
from collections import Counter
from typing import Any

import httpx
import jsonschema

ROUTES = {
    "/",
    "/search",
    "/facets/{kind}",
    "/stats",
    "/lookup",
    "/papers/{paper_id}",
    "/papers/{paper_id}/summary",
    "/papers/{paper_id}/summary/{template}",
    "/papers/{paper_id}/source",
    "/papers/{paper_id}/translation/{lang}",
    "/papers/{paper_id}/bibtex",
    "/papers/{paper_id}/citation/{format}",
    "/papers/{paper_id}/similar",
}


def test_the_openapi_document_names_every_address_with_its_limits(rest: httpx.Client) -> None:
    document = rest.get("openapi.json").json()
    assert document["openapi"].startswith("3.1")
    assert document["paths"].keys() == ROUTES
    operations = [one for path in document["paths"].values() for one in path.values()]
    assert max(Counter(one["operationId"] for one in operations).values()) == 1
    assert all(one["summary"] and one["description"] and "200" in one["responses"] for one in operations)
    assert document["servers"] == [{"url": "/api/v1"}]
    searched = {one["name"]: one["schema"] for one in document["paths"]["/search"]["get"]["parameters"]}
    assert searched["q"]["maxLength"] == 500
    assert searched["offset"]["maximum"] == 10_000
    for name in ("limit", "page_size"):
        bounds = {key: value for part in searched[name]["anyOf"] for key, value in part.items()}
        assert (bounds["minimum"], bounds["maximum"]) == (1, 100)


def test_the_openapi_document_is_valid(rest: httpx.Client) -> None:
    document = rest.get("openapi.json").json()
    for path, operations in document["paths"].items():
        for operation in operations.values():
            parameters = operation.get("parameters", [])
            named = {one["name"] for one in parameters if one["in"] == "path"}
            assert named == set(re.findall(r"\{(\w+)\}", path))
            for parameter in parameters:
                jsonschema.Draft202012Validator.check_schema(parameter["schema"])
    for reference in re.findall(r'"\$ref":\s*"([^"]+)"', json.dumps(document)):
        found: Any = document
        for part in reference.removeprefix("#/").split("/"):
            found = found[part]
    for schema in document.get("components", {}).get("schemas", {}).values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_the_openapi_document_shows_errors_as_they_are_sent(rest: httpx.Client) -> None:
    document = rest.get("openapi.json").json()
    sent = rest.get("search", params={"limit": 0}).json()
    shown = document["paths"]["/search"]["get"]["responses"]["422"]["content"]["application/json"]["schema"]
    validator = jsonschema.Draft202012Validator({**shown, "components": document["components"]})
    assert "error" in json.dumps(document["components"])
    assert validator.is_valid(sent)  # pyright: ignore[reportUnknownMemberType]
