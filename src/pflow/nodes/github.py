"""The GitHub nodes: issues and pull requests."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, TypedDict, cast

from pflow.domain.node import NodeContext
from pflow.domain.redaction import cut_masked_start
from pflow.nodes.github_api import open_repository
from uraniborg.kernel.errors import InvalidInput

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import JsonObject

ISSUE_STATES: Final = ("open", "closed", "all")
PR_STATES: Final = ("open", "closed", "merged", "all")
_PAGE: Final = 100


class IssueOrPullRequest(TypedDict):
    """The fields that GitHub has for issues and pull requests."""

    number: int
    title: str
    body: str
    state: str
    url: str
    author: str | None
    labels: list[str]
    created_at: str
    updated_at: str
    closed_at: str | None


class Issue(IssueOrPullRequest):
    assignees: list[str]
    milestone: str | None
    comments: int


class PullRequest(IssueOrPullRequest):
    head: str
    base: str
    draft: bool
    merged_at: str | None


class IssueOutputs(TypedDict):
    issue_data: Issue


class IssueListOutputs(TypedDict):
    issues: list[Issue]


class PullRequestOutputs(TypedDict):
    pr_data: PullRequest


class PullRequestListOutputs(TypedDict):
    prs: list[PullRequest]


Outputs = IssueOutputs | IssueListOutputs | PullRequestOutputs | PullRequestListOutputs


async def run_operation(params: "JsonObject", context: NodeContext) -> Outputs:
    """Run the operation that `operation` names."""
    operation = str(params.get("operation"))
    if operation not in _OPERATIONS:
        raise _make_not_allowed_error("operation", operation, _OPERATIONS, context)
    work, needed = _OPERATIONS[operation]
    for name in needed:
        if params.get(name) in (None, ""):
            raise InvalidInput(f"The operation {operation} needs {name}.", hint=f"Set {name} in params.", argument=name)
    return await work(params, context)


async def get_issue(params: "JsonObject", context: NodeContext) -> IssueOutputs:
    """Return the issue of this number."""
    number = int(cast("int", params["issue_number"]))
    async with open_repository(params, context) as repo:
        return {
            "issue_data": _convert_issue(
                await repo.request_item("GET", f"/issues/{number}", item_name=f"issue {number}")
            )
        }


async def list_issues(params: "JsonObject", context: NodeContext) -> IssueListOutputs:
    """Return issues, the newest first, without the pull requests that the API lists among them."""
    limit = _get_limit(params)
    query = {"state": _get_state(params, ISSUE_STATES, context), "per_page": str(_PAGE)}
    if since := params.get("since"):
        query["since"] = _normalize_moment_to_utc(str(since), context)
    async with open_repository(params, context) as repo:
        found = await repo.list_items("/issues", query, limit, lambda item: "pull_request" not in item)
    return {"issues": [_convert_issue(item) for item in found]}


async def list_prs(params: "JsonObject", context: NodeContext) -> PullRequestListOutputs:
    """Return pull requests, the newest first. The API lists merged ones as closed."""
    limit, state = _get_limit(params), _get_state(params, PR_STATES, context)
    only_merged = state == "merged"
    query = {
        "state": "closed" if only_merged else state,
        "per_page": str(_PAGE if only_merged else min(limit, _PAGE)),
    }
    async with open_repository(params, context) as repo:
        found = await repo.list_items(
            "/pulls", query, limit, lambda item: bool(item.get("merged_at")) or not only_merged
        )
    return {"prs": [_convert_pull_request(item) for item in found]}


async def create_pr(params: "JsonObject", context: NodeContext) -> PullRequestOutputs:
    """Open a pull request."""
    body = {
        "title": params["title"],
        "body": params.get("body") or "",
        "head": params["head"],
        "base": params.get("base") or "main",
    }
    async with open_repository(params, context) as repo:
        made = await repo.request_item("POST", "/pulls", item_name="place for pull requests", body=body)
        return {"pr_data": _convert_pull_request(made)}


_OPERATIONS: Final[Mapping[str, tuple[Callable[..., Awaitable[Outputs]], tuple[str, ...]]]] = {
    "get-issue": (get_issue, ("issue_number",)),
    "list-issues": (list_issues, ()),
    "list-prs": (list_prs, ()),
    "create-pr": (create_pr, ("title", "head")),
}


def _convert_issue(found: "JsonObject") -> Issue:
    item: Any = found
    return {
        **_convert_common_fields(item),
        "assignees": [_get_field(one, "login") for one in item.get("assignees") or ()],
        "milestone": _get_field(item.get("milestone"), "title"),
        "comments": item.get("comments", 0),
    }


def _convert_pull_request(found: "JsonObject") -> PullRequest:
    item: Any = found
    return {
        **_convert_common_fields(item),
        "head": _get_field(item.get("head"), "ref"),
        "base": _get_field(item.get("base"), "ref"),
        "draft": bool(item.get("draft")),
        "merged_at": item.get("merged_at"),
    }


def _convert_common_fields(item: Any) -> IssueOrPullRequest:
    return {
        "number": item.get("number"),
        "title": item.get("title"),
        "body": item.get("body") or "",
        "state": item.get("state"),
        "url": item.get("html_url"),
        "author": _get_field(item.get("user"), "login"),
        "labels": [one if isinstance(one, str) else _get_field(one, "name") for one in item.get("labels") or ()],
        "created_at": item.get("created_at"),
        "updated_at": item.get("updated_at"),
        "closed_at": item.get("closed_at"),
    }


def _get_field(part: Any, key: str) -> Any:
    """Return a field of a part of an item, or None if the part is missing, as for deleted accounts."""
    return part.get(key) if part else None


def _get_limit(params: "JsonObject") -> int:
    limit = cast("int", params.get("limit", 30))
    if limit < 1:
        raise InvalidInput("limit must be at least 1.", hint="Ask for 1 or more.", argument="limit", allowed=">= 1")
    return limit


def _get_state(params: "JsonObject", allowed: Iterable[str], context: NodeContext) -> str:
    state = str(params.get("state") or "open")
    if state not in allowed:
        raise _make_not_allowed_error("state", state, allowed, context)
    return state


def _normalize_moment_to_utc(text: str, context: NodeContext) -> str:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(
            f"'{cut_masked_start(text, 40, context)}' is not a time.",
            hint="Write it as 2026-11-15 or 2026-11-15T12:00:00Z.",
            argument="since",
        ) from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _make_not_allowed_error(argument: str, value: str, allowed: Iterable[str], context: NodeContext) -> InvalidInput:
    names = list(allowed)
    return InvalidInput(
        f"{argument} cannot be '{cut_masked_start(value, 80, context)}'.",
        hint=f"Use one of: {', '.join(names)}.",
        argument=argument,
        allowed=names,
    )
