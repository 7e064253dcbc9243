"""Call the REST API of GitHub for one repository: follow pages, and explain refusals."""

import os
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlsplit

from pflow.domain.node import NodeContext
from pflow.domain.redaction import cut_masked_start
from pflow.errors import NodeFailed
from pflow.nodes.git_program import get_remote_url
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.logging import register_secret

if TYPE_CHECKING:
    import httpx

    from uraniborg.kernel.json_values import Json, JsonObject

API: Final = "https://api.github.com"

_REPO: Final = re.compile(r"[A-Za-z0-9][\w-]*/(?!\.{1,2}$)[\w.-]+", re.ASCII)
_REMOTE: Final = re.compile(r"(?:\w+://)?(?:[^@/]*@)?(?:ssh\.)?(?P<host>[^:/]+)(?::\d+)?[:/]+(?P<repo>[^/]+/[^/]+?)/?")
_TIMEOUT_S: Final = 30.0
_SAID: Final = 300

IsWanted = Callable[["JsonObject"], bool]


class Repository:
    """A repository at GitHub. Every failure is raised as NodeFailed."""

    def __init__(self, client: "httpx.AsyncClient", repo: str, has_token: bool, context: NodeContext) -> None:
        self._client = client
        self._context = context
        self._has_token = has_token
        self._repo = repo

    async def request_item(
        self, method: str, path: str, *, item_name: str, body: "Mapping[str, Json] | None" = None
    ) -> "JsonObject":
        """Return the item at `path`, or create it there. Messages call it `item_name`."""
        response = await self._send_request(method, f"repos/{self._repo}{path}", item_name, json=body)
        item = self._parse_json(response)
        if not isinstance(item, dict):
            raise self._make_unexpected_reply_error()
        return item

    async def list_items(
        self,
        path: str,
        query: Mapping[str, str],
        limit: int,
        is_wanted: "Callable[[JsonObject], bool]" = lambda _: True,
    ) -> "list[JsonObject]":
        """Return the first `limit` wanted items, from as many pages as needed."""
        found: list[JsonObject] = []
        response = await self._send_request("GET", f"repos/{self._repo}{path}", "list of these", params=query)
        seen = {str(response.url)}
        while True:
            found += [item for item in self._parse_items(response) if is_wanted(item)]
            following = self._get_next_page_url(response)
            if len(found) >= limit or following is None or following in seen:
                return found[:limit]
            seen.add(following)
            response = await self._send_request("GET", following, "further page")

    async def _send_request(self, method: str, address: str, item_name: str, **rest: Any) -> "httpx.Response":
        import httpx

        try:
            response = await self._client.request(method, address, follow_redirects=method == "GET", **rest)
        except httpx.HTTPError as exc:
            unsure = " It is unknown whether the request took effect." if method != "GET" else ""
            raise NodeFailed(
                f"GitHub did not answer ({type(exc).__name__}).{unsure}",
                hint="Check the network and GITHUB_API_URL, then try again.",
                repo=self._repo,
            ) from exc
        if not response.is_success:
            raise self._make_refusal_error(response, item_name)
        return response

    def _get_next_page_url(self, response: "httpx.Response") -> str | None:
        """Return the address of the next page if it is on the same server, as requests carry the token."""
        address = response.links.get("next", {}).get("url")
        if address is None:
            return None
        url, base = response.url.join(address), self._client.base_url
        return str(url) if (url.scheme, url.host, url.port) == (base.scheme, base.host, base.port) else None

    def _parse_items(self, response: "httpx.Response") -> "list[JsonObject]":
        items = self._parse_json(response)
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise self._make_unexpected_reply_error()
        return cast("list[JsonObject]", items)

    def _parse_json(self, response: "httpx.Response") -> "Json":
        try:
            return response.json()
        except ValueError:
            raise self._make_unexpected_reply_error() from None

    def _make_unexpected_reply_error(self) -> NodeFailed:
        return NodeFailed("GitHub sent an unexpected reply.", hint="Check GITHUB_API_URL.", repo=self._repo)

    def _make_refusal_error(self, response: "httpx.Response", item_name: str) -> NodeFailed:
        status, reason = response.status_code, cut_masked_start(_extract_error_message(response), _SAID, self._context)
        message, hint = f"GitHub refused: {reason or f'HTTP status {status}'}", "Check the parameters."
        with_token = "Use a token" if self._has_token else "Set GITHUB_TOKEN to a token"
        if status == 401:
            message = "GitHub refused the token." if self._has_token else "GitHub requires a token."
            hint = f"{with_token} that is valid."
        elif _is_rate_limited(response, reason):
            message = f"GitHub's rate limit is used up{_format_reset_time(response)}."
            hint = "Wait until then." if self._has_token else "Wait until then, or set GITHUB_TOKEN, which allows more."
        elif status == 403:
            hint = f"{with_token} with the required permissions."
        elif status in (404, 410):
            message = f"GitHub does not have {item_name} in {self._repo}, or does not show it."
            hint = f"Check repo and number. {with_token} that may read it, if it is private."
        elif status == 422:
            hint = "Check that both branches exist and differ, and that the pull request does not exist yet."
        elif response.is_redirect:
            message, hint = f"The repository {self._repo} has moved.", "Give its new name as repo."
        elif status >= 500:
            message, hint = f"GitHub failed with HTTP status {status}.", "Try again later."
        return NodeFailed(message, hint=hint, status_code=status, repo=self._repo)


@asynccontextmanager
async def open_repository(params: "JsonObject", context: NodeContext) -> AsyncGenerator[Repository]:
    """Yield the repository of `repo`, or that of the run's folder. Raise InvalidInput."""
    import httpx

    base = os.environ.get("GITHUB_API_URL") or API
    if not re.match(r"https?://[\w\[]", base):
        raise InvalidInput("GITHUB_API_URL is not a valid address.", hint=f"Leave it unset, or write it like {API}.")
    token = str(params.get("token") or os.environ.get("GITHUB_TOKEN") or os.environ.get("GH_TOKEN") or "")
    headers = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
    if token:
        register_secret(token)
        headers["Authorization"] = f"Bearer {token}"
    repo = str(params.get("repo") or await _find_repo_of_folder(context, base))
    if not _REPO.fullmatch(repo):
        raise InvalidInput(
            f"'{cut_masked_start(repo, 80, context)}' is not a repository.",
            hint="Write it as owner/name.",
            argument="repo",
            allowed="owner/name",
        )
    async with httpx.AsyncClient(base_url=base, headers=headers, timeout=_TIMEOUT_S) as client:
        yield Repository(client, repo, bool(token), context)


async def _find_repo_of_folder(context: NodeContext, base: str) -> str:
    found = _REMOTE.fullmatch(await get_remote_url(context) or "")
    host = urlsplit(base).hostname or ""
    if found is None or found["host"] not in (host, host.removeprefix("api.")):
        raise InvalidInput(
            "No repository is given, and the folder of the run does not have a remote `origin` at GitHub.",
            hint="Give repo as owner/name.",
            argument="repo",
        )
    return found["repo"].removesuffix(".git")


def _extract_error_message(response: "httpx.Response") -> str:
    try:
        reply: Any = response.json()
        details: list[Any] = [error["message"] for error in reply.get("errors", []) if "message" in error]
        parts: list[Any] = [reply.get("message"), *details]
    except (ValueError, AttributeError, TypeError):
        return ""
    return ": ".join(str(part) for part in parts if part)


def _is_rate_limited(response: "httpx.Response", message: str) -> bool:
    used_up = response.headers.get("x-ratelimit-remaining") == "0" or "retry-after" in response.headers
    return response.status_code in (403, 429) and (used_up or "rate limit" in message.lower())


def _format_reset_time(response: "httpx.Response") -> str:
    try:
        return f" until {datetime.fromtimestamp(int(response.headers['x-ratelimit-reset']), UTC):%H:%M} UTC"
    except (KeyError, ValueError, OverflowError, OSError):
        wait = response.headers.get("retry-after", "")
        return f" for {wait} seconds" if wait.isdigit() else ""
