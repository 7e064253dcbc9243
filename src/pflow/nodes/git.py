"""The git nodes: status, log, commit, checkout, push and the latest tag."""

from typing import TYPE_CHECKING, Final, TypedDict, cast

from pflow.domain.node import NodeContext
from pflow.domain.redaction import cut_masked_start
from pflow.errors import NodeFailed
from pflow.nodes.git_program import get_git_context, require_success_output, run_git, try_git
from uraniborg.kernel.errors import InvalidInput

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import JsonObject

DETACHED: Final = "HEAD"
"""Stands for the branch if none is checked out."""

_COMMIT: Final = "tformat:%H%x00%h%x00%an%x00%ae%x00%aI%x00%at%x00%s%x00%B%x00%b"
_COMMIT_FIELDS: Final = 9
_TAG: Final = (
    "%(refname:strip=2)%00%(objecttype)%00%(objectname)%00%(*objectname)%00"
    "%(creatordate:iso-strict)%00%(contents:subject)%00%(contents:body)"
)


class Status(TypedDict):
    modified: list[str]
    untracked: list[str]
    staged: list[str]
    conflicted: list[str]
    branch: str
    upstream: str | None
    ahead: int
    behind: int
    clean: bool


class StatusOutputs(TypedDict):
    git_status: Status


class Commit(TypedDict):
    sha: str
    short_sha: str
    author_name: str
    author_email: str
    date: str
    timestamp: int
    subject: str
    message: str
    body: str


class LogOutputs(TypedDict):
    commits: list[Commit]


class CommitOutputs(TypedDict):
    commit_sha: str
    commit_message: str


class CheckoutOutputs(TypedDict):
    current_branch: str
    previous_branch: str
    branch_created: bool
    stash_created: bool


class Push(TypedDict):
    success: bool
    branch: str
    remote: str
    up_to_date: bool


class PushOutputs(TypedDict):
    push_result: Push


class Tag(TypedDict, total=False):
    name: str
    sha: str
    date: str
    message: str
    is_annotated: bool


class TagOutputs(TypedDict):
    latest_tag: Tag


async def get_status(params: "JsonObject", context: NodeContext) -> StatusOutputs:
    """Return changed, staged and new files, and how far the branch is from its upstream."""
    out = await run_git(
        get_git_context(params, context), "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal"
    )
    return {"git_status": _parse_status(out)}


def _parse_status(out: str) -> Status:
    status: Status = {
        "modified": [],
        "untracked": [],
        "staged": [],
        "conflicted": [],
        "branch": DETACHED,
        "upstream": None,
        "ahead": 0,
        "behind": 0,
        "clean": True,
    }
    lines = iter(out.split("\0"))
    for line in lines:
        kind, _, rest = line.partition(" ")
        if kind == "#":
            _update_branch_facts(status, rest)
        elif kind == "?":
            status["untracked"].append(rest)
        elif kind == "u":
            status["conflicted"].append(rest.split(" ", 9)[-1])
        elif kind in ("1", "2"):
            path = rest.split(" ", 7 if kind == "1" else 8)[-1]
            if kind == "2":
                next(lines, "")  # where it was renamed from
            if rest[0] != ".":
                status["staged"].append(path)
            if rest[1] != ".":
                status["modified"].append(path)
    status["clean"] = not (status["modified"] or status["untracked"] or status["staged"] or status["conflicted"])
    return status


def _update_branch_facts(status: Status, line: str) -> None:
    name, _, value = line.partition(" ")
    if name == "branch.head" and value != "(detached)":
        status["branch"] = value
    elif name == "branch.upstream":
        status["upstream"] = value
    elif name == "branch.ab":
        ahead, _, behind = value.partition(" ")
        status["ahead"], status["behind"] = int(ahead), -int(behind)


async def list_commits(params: "JsonObject", context: NodeContext) -> LogOutputs:
    """Return the latest commits, newest first."""
    limit = cast("int", params.get("limit", 20))
    if limit < 1:
        raise InvalidInput(
            "limit must be at least 1.", hint="Ask for 1 commit or more.", argument="limit", allowed=">= 1"
        )
    chosen = [f"--{name}={value}" for name in ("since", "until", "author", "grep") if (value := params.get(name))]
    where = ["--", str(path)] if (path := params.get("path")) else ["--"]
    done = await try_git(
        get_git_context(params, context), "log", "-z", f"--format={_COMMIT}", f"--max-count={limit}", *chosen, *where
    )
    if done.code and "does not have any commits yet" in done.err:
        return {"commits": []}
    fields = require_success_output("log", done).split("\0")
    return {
        "commits": [_parse_commit(fields[at : at + _COMMIT_FIELDS]) for at in range(0, len(fields) - 1, _COMMIT_FIELDS)]
    }


def _parse_commit(fields: list[str]) -> Commit:
    sha, short_sha, name, email, date, timestamp, subject, message, body = fields
    return {
        "sha": sha,
        "short_sha": short_sha,
        "author_name": name,
        "author_email": email,
        "date": date,
        "timestamp": int(timestamp),
        "subject": subject,
        "message": message.strip(),
        "body": body.strip(),
    }


async def create_commit(params: "JsonObject", context: NodeContext) -> CommitOutputs:
    """Stage files and commit the staged changes."""
    git_context, message = get_git_context(params, context), str(params["message"])
    if not message.strip():
        raise InvalidInput("The message is empty.", hint="Describe the commit.", argument="message")
    files = cast("list[str] | str", params.get("files") or ["."])
    await run_git(git_context, "add", "--", *map(str, [files] if isinstance(files, str) else files))
    done = await try_git(git_context, "commit", "--quiet", f"--message={message}")
    if done.code and not (await try_git(git_context, "diff", "--cached", "--quiet")).code:
        raise NodeFailed("There is nothing to commit.", hint="Check git-status first, or follow the edge for `error`.")
    require_success_output("commit", done)
    return {"commit_sha": (await run_git(git_context, "rev-parse", "HEAD")).strip(), "commit_message": message}


async def check_out(params: "JsonObject", context: NodeContext) -> CheckoutOutputs:
    """Check out a branch, tag or commit; `create` creates a missing branch."""
    git_context, wanted = get_git_context(params, context), _require_ref_name("branch", str(params["branch"]), context)
    previous = await _get_current_branch(git_context)
    makes = bool(params.get("create")) and not await _has_local_branch(git_context, wanted)
    if makes:
        await _require_valid_branch_name(git_context, wanted)
    target = (
        ["-b", wanted, *([_require_ref_name("base", str(base), context)] if (base := params.get("base")) else [])]
        if makes
        else [wanted]
    )
    stashed = bool(params.get("stash")) and await _stash_changes(git_context)
    done = await try_git(
        git_context, "checkout", "--quiet", *(["--force"] if params.get("force") else []), *target, "--"
    )
    if done.code and stashed:
        await run_git(git_context, "stash", "pop", "--quiet")
    require_success_output("checkout", done)
    return {
        "current_branch": await _get_current_branch(git_context),
        "previous_branch": previous,
        "branch_created": makes,
        "stash_created": stashed,
    }


async def push_branch(params: "JsonObject", context: NodeContext) -> PushOutputs:
    """Push a branch to the branch of the same name at a remote, never by force."""
    git_context, remote = get_git_context(params, context), str(params.get("remote") or "origin")
    known = (await run_git(git_context, "remote")).split()
    if remote not in known:
        there = f"There are: {', '.join(known)}." if known else "The repository has none: add one with git remote add."
        quoted = cut_masked_start(remote, 80, context)
        raise NodeFailed(f"There is no remote '{quoted}'.", hint=there, remote=quoted)
    branch = str(params.get("branch") or DETACHED)
    if branch == DETACHED and (branch := await _get_current_branch(git_context)) == DETACHED:
        raise NodeFailed("No branch is checked out.", hint="Name the branch to push.")
    await _require_valid_branch_name(git_context, branch)
    done = await try_git(git_context, "push", "--porcelain", "--", remote, f"refs/heads/{branch}:refs/heads/{branch}")
    out = require_success_output("push", done)
    is_new = not any(line.startswith("=\t") for line in out.splitlines())
    return {"push_result": {"success": True, "branch": branch, "remote": remote, "up_to_date": not is_new}}


async def get_latest_tag(params: "JsonObject", context: NodeContext) -> TagOutputs:
    """Return the newest tag; an empty object if there is no tag."""
    pattern = f"refs/tags/{params.get('pattern') or '**'}"
    out = await run_git(
        get_git_context(params, context),
        *("for-each-ref", "--count=1", "--sort=-version:refname", "--sort=-creatordate", f"--format={_TAG}", pattern),
    )
    if not out.strip():
        return {"latest_tag": {}}
    name, kind, sha, commit_sha, date, subject, body = out.split("\0")
    is_annotated = kind == "tag"
    return {
        "latest_tag": {
            "name": name,
            "sha": commit_sha or sha,
            "date": date,
            "message": f"{subject}\n\n{body}".strip() if is_annotated else "",
            "is_annotated": is_annotated,
        }
    }


async def _get_current_branch(context: NodeContext) -> str:
    done = await try_git(context, "symbolic-ref", "--short", "--quiet", "HEAD")
    return DETACHED if done.code == 1 else require_success_output("symbolic-ref", done).strip()


async def _has_local_branch(context: NodeContext, name: str) -> bool:
    return (await try_git(context, "show-ref", "--verify", "--quiet", f"refs/heads/{name}")).code == 0


async def _require_valid_branch_name(context: NodeContext, name: str) -> None:
    if (await try_git(context, "check-ref-format", f"refs/heads/{name}")).code or name.startswith("-"):
        raise _make_branch_name_error("branch", name, context)


async def _stash_changes(context: NodeContext) -> bool:
    """Stash the changes, and return True if there were any."""
    before = (await try_git(context, "rev-parse", "--verify", "--quiet", "refs/stash")).out
    await run_git(context, "stash", "push", "--quiet", "--include-untracked")
    return (await try_git(context, "rev-parse", "--verify", "--quiet", "refs/stash")).out != before


def _require_ref_name(key: str, value: str, context: NodeContext) -> str:
    if not value or value.startswith("-"):
        raise _make_branch_name_error(key, value, context)
    return value


def _make_branch_name_error(key: str, value: str, context: NodeContext) -> InvalidInput:
    return InvalidInput(
        f"'{cut_masked_start(value, 80, context)}' cannot be the name of a branch.",
        hint="A name does not begin with '-' and has no blanks, colons, '..', '~', '^', '*', '?' or '['.",
        argument=key,
    )
