"""The GitHub nodes, against a local server that answers like the public API."""

import inspect
import json
import os
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from pflow.domain.node import NodeContext
from pflow.domain.node_interface import parse_interface
from pflow.errors import NodeFailed
from pflow.nodes import github as github_nodes
from tests.pflow.nodes.long_secrets import PIECE, add_secrets
from tests.pflow.nodes.long_secrets import TOKEN as LONG
from uraniborg.kernel.errors import InvalidInput, UraniborgError
from uraniborg.kernel.logging import redact

github: Any = github_nodes
"""Its functions are called with parameters of any shape."""

INTERFACES = json.loads((Path(github.__file__).with_suffix(".json")).read_text())["nodes"]
TOKEN = "ghp_tycho0123456789"
REPO = "tycho/sky"


@dataclass
class Answer:
    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])


@dataclass
class Hub:
    """The answers of the server by method and path, and the requests it received."""

    url: str = ""
    answers: dict[str, Answer] = field(default_factory=dict[str, Answer])
    asked: list[tuple[str, dict[str, str], dict[str, str], Any]] = field(default_factory=list[Any])

    def says(self, what: str, body: Any = None, *, status: int = 200, **headers: str) -> None:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        self.answers[what] = Answer(body, status, names)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    report = Hub()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            asked = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            query = {name: values[0] for name, values in parse_qs(asked.query).items()}
            key = f"{self.command} {asked.path}"
            report.asked.append((key, query, dict(self.headers.items()), json.loads(body) if body else None))
            answer = report.answers.get(f"{key}?page={query['page']}" if "page" in query else key)
            answer = answer or Answer({"message": "Not Found"}, 404)
            sent = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
            self.send_response(answer.status)
            for name, value in {"content-type": "application/json", **answer.headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        do_GET = do_POST = answer  # noqa: N815

        def log_message(self, format: str, *args: Any) -> None: ...  # noqa: A002

    for name in ("GITHUB_TOKEN", "GH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        report.url = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setenv("GITHUB_API_URL", report.url)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield report
        finally:
            server.shutdown()
            thread.join(10)


def make_issue(number: int, **more: Any) -> dict[str, Any]:
    return {
        "number": number,
        "title": f"Star {number}",
        "body": None,
        "state": "open",
        "html_url": f"https://github.example/{REPO}/issues/{number}",
        "user": {"login": "sophie"},
        "labels": [{"name": "nova"}],
        "assignees": [{"login": "tycho"}],
        "milestone": {"title": "1572"},
        "comments": 3,
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-02T00:00:00Z",
        "closed_at": None,
        **more,
    }


def make_pull_request(number: int, **more: Any) -> dict[str, Any]:
    return make_issue(number, head={"ref": "nova"}, base={"ref": "main"}, draft=False, merged_at=None, **more)


@pytest.mark.parametrize("plain", INTERFACES, ids=lambda plain: plain["type"])
def test_every_interface_is_valid_and_names_a_function_and_known_parameters(plain: dict[str, Any]) -> None:
    report = parse_interface(plain, source="builtin")
    module, _, name = report.run.partition(":")
    assert inspect.iscoroutinefunction(getattr(import_module(module), name))
    assert report.example.keys() <= report.params.keys()
    assert {param.key for param in report.params.values() if param.required} <= report.example.keys()


def test_the_type_that_is_called_github_comes_first_and_has_the_effect_of_its_operation() -> None:
    report = parse_interface(INTERFACES[0], source="builtin")
    assert report.type == "github"
    assert report.description.startswith("GitHub operations")
    effects = {
        operation: report.get_effect({"operation": operation}) for operation in ("get-issue", "create-pr", "other")
    }
    assert effects == {"get-issue": "pure", "create-pr": "effectful", "other": "effectful"}


@pytest.mark.parametrize("params", [{"issue_number": 7}, {"operation": "get-issue", "issue_number": 7}])
async def test_an_issue_comes_in_the_shape_that_its_interface_documents(
    hub: Hub, context: NodeContext, params: dict[str, Any]
) -> None:
    hub.says(f"GET /repos/{REPO}/issues/7", make_issue(7, body="It is *bright*."))
    work = github.run_operation if "operation" in params else github.get_issue
    found = (await work({"repo": REPO, **params}, context))["issue_data"]
    assert found == {
        "number": 7,
        "title": "Star 7",
        "body": "It is *bright*.",
        "state": "open",
        "url": f"https://github.example/{REPO}/issues/7",
        "author": "sophie",
        "labels": ["nova"],
        "assignees": ["tycho"],
        "milestone": "1572",
        "comments": 3,
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-02T00:00:00Z",
        "closed_at": None,
    }
    declared = parse_interface(INTERFACES[1], source="builtin").outputs["issue_data"].structure
    assert declared is not None
    assert found.keys() == declared.keys()


async def test_missing_fields_of_an_issue_are_null(hub: Hub, context: NodeContext) -> None:
    hub.says(f"GET /repos/{REPO}/issues/7", {"number": 7, "title": "Lost", "user": None, "labels": ["old"]})
    found = (await github.get_issue({"repo": REPO, "issue_number": 7}, context))["issue_data"]
    assert (found["author"], found["milestone"], found["labels"], found["body"]) == (None, None, ["old"], "")


async def test_issues_are_gathered_from_all_pages_up_to_the_limit_and_without_pull_requests(
    hub: Hub, context: NodeContext
) -> None:
    path = f"/repos/{REPO}/issues"
    following = f'<{hub.url}{path}?page=2>; rel="next", <{hub.url}{path}?page=9>; rel="last"'
    hub.says(f"GET {path}", [make_issue(9), make_issue(8, pull_request={"url": "x"})], Link=following)
    hub.says(f"GET {path}?page=2", [make_issue(7), make_issue(6)], Link=f'<{hub.url}{path}?page=3>; rel="next"')
    hub.says(f"GET {path}?page=3", [make_issue(5)])
    params = {"repo": REPO, "state": "all", "limit": 2, "since": "2026-01-31"}
    assert [issue["number"] for issue in (await github.list_issues(params, context))["issues"]] == [9, 7]
    assert len(hub.asked) == 2
    assert hub.asked[0][1] == {"state": "all", "per_page": "100", "since": "2026-01-31T00:00:00Z"}
    everything = await github.list_issues({"repo": REPO, "limit": 30}, context)
    assert [issue["number"] for issue in everything["issues"]] == [9, 7, 6, 5]


@pytest.mark.parametrize("following", ["http://elsewhere.invalid/x?page=2", "{url}/repos/tycho/sky/issues?page=2"])
async def test_pages_on_other_hosts_or_in_a_cycle_are_not_followed(
    hub: Hub, context: NodeContext, following: str
) -> None:
    link = f'<{following.format(url=hub.url)}>; rel="next"'
    hub.says(f"GET /repos/{REPO}/issues", [make_issue(1)], Link=link)
    hub.says(f"GET /repos/{REPO}/issues?page=2", [make_issue(2)], Link=link)
    found = (await github.list_issues({"repo": REPO}, context))["issues"]
    assert len(found) == len(hub.asked) == (1 if "invalid" in following else 2)


async def test_merged_pull_requests_are_those_of_the_closed_that_were_merged(hub: Hub, context: NodeContext) -> None:
    merged = make_pull_request(3, state="closed") | {"merged_at": "2026-02-01T00:00:00Z"}
    hub.says(f"GET /repos/{REPO}/pulls", [make_pull_request(4, state="closed"), merged])
    found = (await github.list_prs({"repo": REPO, "state": "merged"}, context))["prs"]
    assert [(pr["number"], pr["head"], pr["base"]) for pr in found] == [(3, "nova", "main")]
    assert hub.asked[0][1]["state"] == "closed"
    both = (
        await github.run_operation({"operation": "list-prs", "repo": REPO, "state": "closed", "limit": 5}, context)
    )["prs"]
    assert [pr["number"] for pr in both] == [4, 3]
    assert hub.asked[1][1] == {"state": "closed", "per_page": "5"}


async def test_a_pull_request_is_opened_with_the_token_and_returned(
    hub: Hub, context: NodeContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GH_TOKEN", TOKEN)
    hub.says(f"POST /repos/{REPO}/pulls", make_pull_request(12), status=201)
    params = {"operation": "create-pr", "title": "A new star", "head": "nova", "base": "main", "repo": REPO}
    made = (await github.run_operation(params, context))["pr_data"]
    assert (made["number"], made["state"], made["author"]) == (12, "open", "sophie")
    _, _, headers, body = hub.asked[0]
    assert body == {"title": "A new star", "body": "", "head": "nova", "base": "main"}
    assert headers["Authorization"] == f"Bearer {TOKEN}"
    assert TOKEN not in redact(f"it was {TOKEN}")


async def test_the_token_of_the_params_goes_before_that_of_the_environment(
    hub: Hub, context: NodeContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    hub.says(f"GET /repos/{REPO}/issues/1", make_issue(1))
    await github.get_issue({"repo": REPO, "issue_number": 1, "token": "ghp_own0123456789"}, context)
    assert hub.asked[0][2]["Authorization"] == "Bearer ghp_own0123456789"


@pytest.mark.parametrize(
    ("answer", "token", "message", "hint"),
    [
        (Answer({"message": "Not Found"}, 404), "", "GitHub does not have issue 1 in tycho/sky", "Set GITHUB_TOKEN"),
        (Answer({"message": "Gone"}, 410), TOKEN, "GitHub does not have issue 1", "Use a token"),
        (Answer({"message": "Bad credentials"}, 401), TOKEN, "refused the token", "valid"),
        (Answer({"message": "Requires authentication"}, 401), "", "requires a token", "Set GITHUB_TOKEN"),
        (
            Answer({}, 403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1700000000"}),
            "",
            "rate limit is used up until 22:13 UTC",
            "set GITHUB_TOKEN, which allows more",
        ),
        (Answer({}, 429, {"Retry-After": "60"}), TOKEN, "used up for 60 seconds", "Wait until then."),
        (
            Answer({"message": "You have exceeded a secondary rate limit"}, 403, {"X-RateLimit-Reset": "soon"}),
            TOKEN,
            "rate limit is used up.",
            "Wait until then.",
        ),
        (Answer({"message": "Resource not accessible"}, 403), TOKEN, "Resource not accessible", "permissions"),
        (
            Answer({"message": "Validation Failed", "errors": [{"message": "No commits"}, {"code": "x"}]}, 422),
            TOKEN,
            "Validation Failed: No commits",
            "branches exist",
        ),
        (Answer({"message": f"{TOKEN} is bad"}, 400), TOKEN, r"refused: \*\*\* is bad", "parameters"),
        (Answer(b"<html>", 502), "", "failed with HTTP status 502", "later"),
        (Answer(b"<html>", 200), "", "unexpected reply", "GITHUB_API_URL"),
        (Answer([], 200), "", "unexpected reply", "GITHUB_API_URL"),
    ],
)
async def test_each_refusal_is_reported_with_its_reason_and_a_hint(
    hub: Hub, context: NodeContext, answer: Answer, token: str, message: str, hint: str
) -> None:
    hub.answers[f"GET /repos/{REPO}/issues/1"] = answer
    with pytest.raises(NodeFailed, match=message) as refused:
        await github.get_issue({"repo": REPO, "issue_number": 1, "token": token}, context)
    assert hint in refused.value.hint
    assert TOKEN not in str(refused.value.body())


@pytest.mark.parametrize("body", [{}, [1, 2]])
async def test_a_list_of_other_items_is_not_a_list_of_issues(hub: Hub, context: NodeContext, body: Any) -> None:
    hub.says(f"GET /repos/{REPO}/issues", body)
    with pytest.raises(NodeFailed, match="unexpected reply"):
        await github.list_issues({"repo": REPO}, context)


async def test_a_moved_repository_is_read_at_its_new_address_and_not_written_to(hub: Hub, context: NodeContext) -> None:
    hub.says(f"GET /repos/{REPO}/issues/1", status=301, Location=f"{hub.url}/repositories/5/issues/1")
    hub.says("GET /repositories/5/issues/1", make_issue(1))
    assert (await github.get_issue({"repo": REPO, "issue_number": 1}, context))["issue_data"]["number"] == 1
    hub.says(f"POST /repos/{REPO}/pulls", status=301, Location=f"{hub.url}/repositories/5/pulls")
    with pytest.raises(NodeFailed, match="has moved"):
        await github.create_pr({"repo": REPO, "title": "t", "head": "h"}, context)


async def test_a_server_that_cannot_be_reached_leaves_a_change_unsure_and_a_look_not(
    hub: Hub, context: NodeContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_API_URL", "http://127.0.0.1:1")
    with pytest.raises(NodeFailed, match="did not answer") as refused:
        await github.list_prs({"repo": REPO}, context)
    assert "not known" not in refused.value.message
    with pytest.raises(NodeFailed, match="It is unknown whether the request took effect"):
        await github.create_pr({"repo": REPO, "title": "t", "head": "h"}, context)
    assert hub.asked == []


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"operation": "delete-repo"}, "operation cannot be 'delete-repo'"),
        ({"operation": None}, "operation cannot be"),
        ({"operation": "get-issue"}, "needs issue_number"),
        ({"operation": "create-pr", "title": "t", "head": ""}, "needs head"),
        ({"operation": "list-issues", "state": "merged"}, "state cannot be 'merged'"),
        ({"operation": "list-prs", "state": "ajar"}, "state cannot be 'ajar'"),
        ({"operation": "list-prs", "limit": 0}, "limit must be at least 1"),
        ({"operation": "list-issues", "since": "yesterday"}, "'yesterday' is not a time"),
        ({"operation": "list-prs", "repo": "sky"}, "'sky' is not a repository"),
        ({"operation": "list-prs", "repo": "tycho/.."}, "is not a repository"),
        ({"operation": "list-prs", "repo": "a/b/../../../user"}, "is not a repository"),
    ],
)
async def test_invalid_params_are_refused_before_any_request(
    hub: Hub, context: NodeContext, params: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message) as refused:
        await github.run_operation({"repo": REPO, **params}, context)
    assert refused.value.hint
    assert hub.asked == []


async def test_an_invalid_api_address_is_refused(context: NodeContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_API_URL", "api.github.com")
    with pytest.raises(InvalidInput, match="GITHUB_API_URL is not a valid address"):
        await github.list_prs({"repo": REPO}, context)


@pytest.mark.parametrize(
    ("remote", "found"),
    [
        ("git@127.0.0.1:tycho/sky.git", True),
        ("ssh://git@127.0.0.1:22/tycho/sky", True),
        ("http://tycho:secret@127.0.0.1:99/tycho/sky.git", True),
        ("https://127.0.0.1/tycho/sky/", True),
        ("git@elsewhere.example:tycho/sky.git", False),
        ("/srv/git/sky.git", False),
        (None, False),
    ],
)
async def test_the_repository_is_that_of_the_folder_of_the_run_unless_named(
    hub: Hub, context: NodeContext, monkeypatch: pytest.MonkeyPatch, remote: str | None, found: bool
) -> None:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    _make_repository(context.folder, remote)
    hub.says(f"GET /repos/{REPO}/pulls", [])
    if found:
        assert await github.list_prs({}, context) == {"prs": []}
    else:
        with pytest.raises(UraniborgError, match="No repository is given"):
            await github.list_prs({}, context)


def _make_repository(folder: Path, remote: str | None) -> None:
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    if remote:
        subprocess.run(["git", "remote", "add", "origin", remote], cwd=folder, check=True)


async def test_no_part_of_a_secret_is_in_an_error(hub: Hub, context: NodeContext) -> None:
    hub.says(f"GET /repos/{REPO}/issues/7", {"message": f"bad {LONG}"}, status=400)
    with pytest.raises(NodeFailed, match=r"bad \*\*\*") as refused:
        await github.get_issue({"repo": REPO, "issue_number": 7}, add_secrets(context))
    assert PIECE not in str(refused.value.body())
    for params in ({"repo": LONG}, {"repo": REPO, "state": LONG}, {"repo": REPO, "since": LONG}):
        with pytest.raises(InvalidInput, match=r"\*\*\*") as wrong:
            await github.list_issues(params, add_secrets(context))
        assert PIECE not in str(wrong.value.body())
