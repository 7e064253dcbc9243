"""Addresses of resources: a fixed URI, or an RFC 6570 template with path segments and query parameters."""

import re
from typing import Final
from urllib.parse import parse_qsl, unquote

from pydantic import AnyUrl

from uraniborg.kernel.errors import InvalidInput

_QUERY: Final = re.compile(r"\{\?(\w+(?:,\w+)*)\}$")
_SEGMENT: Final = re.compile(r"\{(\w+)\}")
_MOST_PARAMETERS: Final = 20


class UriTemplate:
    """The template `paper://{paper_id}/source{?offset}` matches `paper://a1/source` and `paper://a1/source?offset=9`.

    Each `{name}` stands for one path segment; `{?one,two}` at the end names query parameters, which are optional.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        query = _QUERY.search(text)
        path = text[: query.start()] if query else text
        parts = _SEGMENT.split(path)
        self._parameters = query[1].split(",") if query else []
        self.names = {*parts[1::2], *self._parameters}
        if len(parts) == 1:
            path = path if query else str(AnyUrl(path))
            self._path = re.compile(re.escape(path))
        else:
            patterns = (f"(?P<{part}>[^/]+)" if odd % 2 else re.escape(part) for odd, part in enumerate(parts))
            self._path = re.compile("".join(patterns))

    def match(self, uri: str) -> dict[str, str] | None:
        """Return the decoded values in `uri`, or None if its path is another one.

        Raises InvalidInput for query parameters that the template does not have.
        """
        path, _, query = uri.partition("?") if self._parameters else (uri, "", "")
        found = self._path.fullmatch(path)
        if found is None:
            return None
        return {name: unquote(value) for name, value in found.groupdict().items()} | self._query_values(query)

    def _query_values(self, query: str) -> dict[str, str]:
        try:
            pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=_MOST_PARAMETERS)
        except ValueError:
            raise self._refused("too many query parameters") from None
        values = dict(pairs)
        if unknown := sorted(values.keys() - set(self._parameters)):
            raise self._refused(f"the unknown query parameter {unknown[0][:80]!r}", argument=unknown[0][:80])
        if len(values) < len(pairs):
            raise self._refused("a query parameter twice")
        return values

    def _refused(self, problem: str, **ids: str) -> InvalidInput:
        return InvalidInput(
            f"The address has {problem}.", hint=f"Use {self.text}.", allowed=list(self._parameters), **ids
        )
