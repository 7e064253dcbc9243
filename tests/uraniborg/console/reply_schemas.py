"""A check of every reply against the OpenAPI document of the server."""

import re
from functools import cached_property
from typing import Any

import httpx
import jsonschema


class ReplySchemas:
    """The types of the replies of one server. `check_reply` is a hook of clients."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url
        self._token = token

    @cached_property
    def document(self) -> dict[str, Any]:
        """The OpenAPI document."""
        headers = {"Authorization": f"Bearer {self._token}"}
        return httpx.get(f"{self._url}/api/openapi.json", headers=headers, timeout=60).json()

    def check_reply(self, response: httpx.Response) -> None:
        """Raise ValidationError unless the reply has the type that the document declares."""
        if response.status_code == 204 or response.headers.get("content-type") != "application/json":
            return
        operation = self._find_operation(response.request.method, response.request.url.path)
        if operation is None:
            return
        declared = operation["responses"][str(response.status_code)]["content"]["application/json"]["schema"]
        response.read()
        schema = {"allOf": [declared], "components": self.document["components"]}
        validator: Any = jsonschema.Draft202012Validator(schema)
        validator.validate(response.json())

    async def check_reply_of_stream(self, response: httpx.Response) -> None:
        """Check a reply of an asynchronous client."""
        if response.headers.get("content-type") == "application/json":
            await response.aread()
            self.check_reply(response)

    def _find_operation(self, method: str, path: str) -> dict[str, Any] | None:
        """Return the operation of a request; of several, the one with the fewest parameters in its path."""
        found = [
            (template.count("{"), operations[method.lower()])
            for template, operations in self.document["paths"].items()
            if method.lower() in operations and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path)
        ]
        return min(found, key=lambda one: one[0])[1] if found else None
