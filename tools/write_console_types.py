"""Write the TypeScript types of the API to console/src/data/api_types.ts; `make docs` runs it.

python tools/write_console_types.py [--check]

With --check nothing is written, and the exit code is 1 if the file is not current.
"""

import asyncio
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
FILE: Final = ROOT / "console" / "src" / "data" / "api_types.ts"
_HEADER: Final = """\
// Written by tools/write_console_types.py from the OpenAPI document of the API. Do not edit: run `make docs`.
"""
_PLAIN_TYPES: Final = {"integer": "number", **{name: name for name in ("string", "number", "boolean", "null")}}
_METHODS: Final = ("get", "post", "put", "patch", "delete")


def main() -> None:
    text = write_types(asyncio.run(read_openapi()))
    current = FILE.read_text(encoding="utf-8") if FILE.exists() else ""
    if "--check" in sys.argv:
        if text != current:
            sys.exit(f"{FILE.relative_to(ROOT)} is not current. Run `make docs`.")
    elif text != current:
        FILE.write_text(text, encoding="utf-8")


async def read_openapi() -> dict[str, Any]:
    """Return the OpenAPI document of the API, made without a server and with an empty data folder."""
    with tempfile.TemporaryDirectory() as home:
        # Defaults that JSON does not have are not in the document, and the worker would warn of each.
        os.environ |= {"URANIBORG_HOME": home, "URANIBORG_CONSOLE__SEARCH_PORT": "0", "PYTHONWARNINGS": "ignore"}
        import httpx

        from uraniborg.console.app import make_app
        from uraniborg.console.services import open_console_services

        async with open_console_services() as services:
            await services.searches.wait_until_ready()
            transport = httpx.ASGITransport(make_app(services, port=80))
            headers = {"Authorization": f"Bearer {services.sign_ins.token}"}
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers) as client:
                return (await client.get("/api/openapi.json")).raise_for_status().json()


def write_types(document: dict[str, Any]) -> str:
    """Return the types of all schemas and operations as TypeScript."""
    schemas: dict[str, Any] = document.get("components", {}).get("schemas", {})
    declared = [
        "".join((*_comment(schemas[name], ""), _declare(_identifier(name), schemas[name]))) for name in sorted(schemas)
    ]
    lines = ["/** Every operation, by method and path. */\n", "export interface Operations {\n"]
    for path in sorted(document["paths"]):
        for method in _METHODS:
            if operation := document["paths"][path].get(method):
                lines += _write_operation(f"{method.upper()} {path}", operation)
    return "\n".join((_HEADER, *declared, "".join((*lines, "}\n"))))


def _declare(name: str, schema: dict[str, Any]) -> str:
    if schema.get("type") == "object" and "properties" in schema:
        return f"export interface {name} {_write_object(schema, '')}\n"
    return f"export type {name} = {write_type(schema, '')};\n"


def write_type(schema: dict[str, Any] | bool, indent: str) -> str:  # noqa: PLR0911 - one for each kind of schema
    """Return a JSON schema as a TypeScript type."""
    if not isinstance(schema, dict) or not schema.keys() - {"title", "description", "default"}:
        return "unknown"
    if "$ref" in schema:
        return _identifier(schema["$ref"].rpartition("/")[2])
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " | ".join(dict.fromkeys(write_type(one, indent) for one in schema[key]))
    if "allOf" in schema:
        return " & ".join(write_type(one, indent) for one in schema["allOf"])
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(write_type({**schema, "type": one}, indent) for one in kind)
    if kind == "array":
        if "prefixItems" in schema:
            return f"[{', '.join(write_type(one, indent) for one in schema['prefixItems'])}]"
        items = write_type(schema.get("items", {}), indent)
        return f"({items})[]" if " | " in items or " & " in items else f"{items}[]"
    if kind == "object" or "properties" in schema:
        return _write_object(schema, indent)
    return _PLAIN_TYPES.get(str(kind), "unknown")


def _write_object(schema: dict[str, Any], indent: str) -> str:
    properties: dict[str, Any] = schema.get("properties", {})
    if not properties:
        values = schema.get("additionalProperties", True)
        return f"Record<string, {write_type(values, indent)}>"
    required = set(schema.get("required", ()))
    return _write_fields(properties, required, indent)


def _write_fields(properties: dict[str, Any], required: set[str], indent: str) -> str:
    inner = f"{indent}  "
    lines = ["{\n"]
    for name, schema in properties.items():
        lines += _comment(schema, inner)
        key = name if re.fullmatch(r"[A-Za-z_$][\w$]*", name) else json.dumps(name)
        lines.append(f"{inner}{key}{'' if name in required else '?'}: {write_type(schema, inner)};\n")
    return "".join((*lines, f"{indent}}}"))


def _write_operation(name: str, operation: dict[str, Any]) -> Iterator[str]:
    yield f"  /** {_clean(operation.get('summary', ''))}. */\n"
    yield f"  {json.dumps(name)}: {{\n"
    yield f"    id: {json.dumps(operation['operationId'])};\n"
    for place in ("path", "query"):
        found = [one for one in operation.get("parameters", ()) if one["in"] == place]
        fields = {one["name"]: {**one.get("schema", {}), "description": one.get("description", "")} for one in found}
        required = {one["name"] for one in found if one.get("required")}
        # A type that has no member accepts every object: one that allows no key does not.
        text = _write_fields(fields, required, "    ") if fields else "Record<never, never>"
        yield f"    {place}: {text};\n"
    yield f"    body: {_write_body(operation)};\n"
    yield f"    reply: {_write_reply(operation)};\n"
    yield "  };\n"


def _write_body(operation: dict[str, Any]) -> str:
    body = operation.get("requestBody")
    if body is None:
        return "undefined"
    text = write_type(body["content"]["application/json"].get("schema", {}), "    ")
    return text if body.get("required") else f"{text} | undefined"


def _write_reply(operation: dict[str, Any]) -> str:
    """Return the type of the body of a successful reply; undefined if it has none, unknown if it is not JSON."""
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            content = response.get("content", {})
            if "application/json" in content:
                return write_type(content["application/json"].get("schema", {}), "    ")
            return "undefined" if status == "204" else "unknown"
    return "unknown"


def _comment(schema: Any, indent: str) -> list[str]:
    text = _clean(schema.get("description", "")) if isinstance(schema, dict) else ""
    return [f"{indent}/** {text} */\n"] if text else []


def _clean(text: str) -> str:
    return " ".join(text.split()).replace("*/", "* /")


def _identifier(name: str) -> str:
    return re.sub(r"\W", "_", name)


if __name__ == "__main__":
    main()
