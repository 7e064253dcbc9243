"""Write the page about the API, which is generated from the OpenAPI document of a server; `make docs` runs it."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final
from urllib.request import Request, urlopen

ROOT: Final = Path(__file__).resolve().parents[1]
PAGE: Final = ROOT / "docs" / "reference" / "api.md"
_TWINS: Final = ROOT / "console" / "src" / "frame" / "json_twins.ts"
_HEAD: Final = """\
# API

After reading this page you know every operation of the API of `uraniborg serve`.
[Run the server](../guides/run-the-server.md) shows how to start the server and how to sign in. `/api/openapi.json` is
this page for programs. This page is generated: `make docs` writes it.

Requests and replies are JSON. A request that changes something needs the header `X-Uraniborg: 1`. Every operation can
answer with an error: [Errors](errors.md) describes its body. A client that sends too many requests gets 429 with
`Retry-After`.
"""


def main() -> None:
    PAGE.write_text(build_page(read_document_of_a_server()), encoding="utf-8")


def read_document_of_a_server() -> dict[str, Any]:
    """Start a server with data of its own, and return its OpenAPI document."""
    with tempfile.TemporaryDirectory() as home:
        ports = ("CONSOLE__SEARCH_PORT", "LIBRARY__PORT", "UNIVERSE__PORT")
        settings = {"URANIBORG_HOME": home} | {f"URANIBORG_{name}": "0" for name in ports}
        command = [sys.executable, "-m", "uraniborg", "serve", "--port", "0", "--json"]
        with subprocess.Popen(command, env={**os.environ, **settings}, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            started = json.loads(server.stdout.readline())
            headers = {"Authorization": f"Bearer {started['token']}"}
            with urlopen(Request(f"{started['url']}/api/openapi.json", headers=headers)) as answer:  # noqa: S310 - ours
                document = json.load(answer)
            server.send_signal(signal.SIGINT)
    return document


def build_page(document: dict[str, Any]) -> str:
    """Return the page for an OpenAPI document."""
    groups: dict[str, list[str]] = {}
    for path, methods in sorted(document["paths"].items()):
        for method, operation in methods.items():
            tag = operation.get("tags", ["other"])[0]
            groups.setdefault(tag, []).append(_describe_operation(document, method, path, operation))
    sections = [f"## {tag[0].upper()}{tag[1:]}\n\n" + "\n".join(groups[tag]) for tag in sorted(groups)]
    return _HEAD + "\n" + _describe_pages() + "\n" + "\n".join(sections)


def _describe_pages() -> str:
    """Return which operation returns the data of each page of the console."""
    twins = re.findall(r'^  "(/[^"]*)": "(/api/[^"]+)",$', _TWINS.read_text(encoding="utf-8"), re.MULTILINE)
    lines = [f"| `{page}` | `GET {operation}` |" for page, operation in twins]
    lead = "One operation returns the main data of each page. *This page as JSON* in the navigation opens its reply."
    return "\n".join(["## Pages of the console", "", lead, "", "| page | operation |", "|---|---|", *lines, ""])


def _describe_operation(document: dict[str, Any], method: str, path: str, operation: dict[str, Any]) -> str:
    lines = [f"### `{method.upper()} {path}`", "", f"{operation.get('summary', '')}."]
    if text := operation.get("description"):
        lines[-1] += " " + " ".join(text.split())
    fields = [
        _describe_field(one["name"], one["in"], one["schema"], one.get("description"), one.get("required", False))
        for one in operation.get("parameters", [])
    ]
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    body = _resolve(document, body)
    required = body.get("required", [])
    for name, schema in body.get("properties", {}).items():
        fields.append(_describe_field(name, "body", schema, schema.get("description"), name in required))
    if fields:
        lines += ["", "| name | in | type | |", "|---|---|---|---|", *fields]
    lines += ["", f"Reply: {_describe_reply(document, operation)}.", ""]
    return "\n".join(lines)


def _describe_field(name: str, place: str, schema: dict[str, Any], description: str | None, required: bool) -> str:
    facts = [description.rstrip(".") + "."] if description else []
    if schema.get("default") is not None:
        facts.append(f"Default: `{json.dumps(schema['default'])}`.")
    elif required:
        facts.append("Required.")
    return f"| `{name}` | {place} | {_describe_type(schema)} | {' '.join(facts)} |".replace("|  |", "| |")


def _describe_type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return f"`{schema['$ref'].rpartition('/')[2]}`"
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if options := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(dict.fromkeys(_describe_type(one) for one in options if one.get("type") != "null"))
    if schema.get("type") == "array":
        return f"list of {_describe_type(schema.get('items', {}))}"
    low, high = schema.get("minimum"), schema.get("maximum")
    limits = f", {low if low is not None else ''} to {high}" if high is not None else ""
    return f"{schema.get('type', 'any')}{limits}"


def _describe_reply(document: dict[str, Any], operation: dict[str, Any]) -> str:
    status, reply = next((code, one) for code, one in operation["responses"].items() if code.startswith("2"))
    contents = reply.get("content", {})
    if not contents:
        return f"{status}, without a body"
    kind, content = next(iter(contents.items()))
    fields = _resolve(document, content.get("schema", {})).get("properties", {})
    names = ", ".join(f"`{name}`" for name in fields)
    return f"{status}, `{kind}`" + (f" with {names}" if names else "")


def _resolve(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


if __name__ == "__main__":
    main()
