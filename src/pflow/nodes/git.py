"""The git nodes: what a repository holds, and the few ways in which a workflow changes it."""

from typing import Any, Final

from pflow.errors import NodeFailed
from pflow.node import Context
from pflow.nodes.excerpts import beginning
from pflow.nodes.git_program import ask, checked, git, place_of
from uraniborg.kernel.errors import InvalidInput

DETACHED: Final = "HEAD"
"""What stands for the branch where none is checked out."""

_COMMIT: Final = "tformat:%H%x00%h%x00%an%x00%ae%x00%aI%x00%at%x00%s%x00%B%x00%b"
_COMMIT_FIELDS: Final = 9
_TAG: Final = (
    "%(refname:strip=2)%00%(objecttype)%00%(objectname)%00%(*objectname)%00"
    "%(creatordate:iso-strict)%00%(contents:subject)%00%(contents:body)"
)


async def status(params: dict[str, Any], context: Context) -> dict[str, Any]:
    """What is changed, staged and new, and where the branch stands to the one it follows."""
    out = await git(place_of(params, context), "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal")
    return {"git_status": _status_in(out)}


def _status_in(out: str) -> dict[str, Any]:
    paths: dict[str, list[str]] = {"modified": [], "untracked": [], "staged": [], "conflicted": []}
    facts: dict[str, Any] = {"branch": DETACHED, "upstream": None, "ahead": 0, "behind": 0}
    lines = iter(out.split("\0"))
    for line in lines:
        kind, _, rest = line.partition(" ")
        if kind == "#":
            _note_branch(facts, rest)
        elif kind == "?":
            paths["untracked"].append(rest)
        elif kind == "u":
            paths["conflicted"].append(rest.split(" ", 9)[-1])
        elif kind in ("1", "2"):
            path = rest.split(" ", 7 if kind == "1" else 8)[-1]
            if kind == "2":
                next(lines, "")  # where it was renamed from
            if rest[0] != ".":
                paths["staged"].append(path)
            if rest[1] != ".":
                paths["modified"].append(path)
    return {**paths, **facts, "clean": not any(paths.values())}


def _note_branch(facts: dict[str, Any], line: str) -> None:
    name, _, value = line.partition(" ")
    if name == "branch.head" and value != "(detached)":
        facts["branch"] = value
    elif name == "branch.upstream":
        facts["upstream"] = value
    elif name == "branch.ab":
        ahead, _, behind = value.partition(" ")
        facts["ahead"], facts["behind"] = int(ahead), -int(behind)


async def log(params: dict[str, Any], context: Context) -> dict[str, Any]:
    """The latest commits, newest first."""
    limit = params.get("limit", 20)
    if limit < 1:
        raise InvalidInput(
            "limit must be at least 1.", hint="Ask for 1 commit or more.", argument="limit", allowed=">= 1"
        )
    chosen = [f"--{name}={params[name]}" for name in ("since", "until", "author", "grep") if params.get(name)]
    where = ["--", params["path"]] if params.get("path") else ["--"]
    done = await ask(
        place_of(params, context), "log", "-z", f"--format={_COMMIT}", f"--max-count={limit}", *chosen, *where
    )
    if done.code and "does not have any commits yet" in done.err:
        return {"commits": []}
    fields = checked("log", done).split("\0")
    return {"commits": [_commit(fields[at : at + _COMMIT_FIELDS]) for at in range(0, len(fields) - 1, _COMMIT_FIELDS)]}


def _commit(fields: list[str]) -> dict[str, Any]:
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


async def commit(params: dict[str, Any], context: Context) -> dict[str, Any]:
    """Stages files and commits what is staged."""
    place, message = place_of(params, context), params["message"]
    if not message.strip():
        raise InvalidInput("The message is empty.", hint="Say what the commit does.", argument="message")
    files = params.get("files") or ["."]
    await git(place, "add", "--", *map(str, [files] if isinstance(files, str) else files))
    done = await ask(place, "commit", "--quiet", f"--message={message}")
    if done.code and not (await ask(place, "diff", "--cached", "--quiet")).code:
        raise NodeFailed(
            "There is nothing to commit.", hint="Look at git-status first, or follow the edge for `error`."
        )
    checked("commit", done)
    return {"commit_sha": (await git(place, "rev-parse", "HEAD")).strip(), "commit_message": message}


async def checkout(params: dict[str, Any], context: Context) -> dict[str, Any]:
    """Goes to a branch, tag or commit; `create` makes the branch if it is not there."""
    place, wanted = place_of(params, context), _ref(params, "branch", context)
    previous = await _branch(place)
    makes = bool(params.get("create")) and not await _is_branch(place, wanted)
    if makes:
        await _check_branch(place, wanted)
    target = ["-b", wanted, *([_ref(params, "base", context)] if params.get("base") else [])] if makes else [wanted]
    stashed = bool(params.get("stash")) and await _stashed(place)
    done = await ask(place, "checkout", "--quiet", *(["--force"] if params.get("force") else []), *target, "--")
    if done.code and stashed:
        await git(place, "stash", "pop", "--quiet")
    checked("checkout", done)
    return {
        "current_branch": await _branch(place),
        "previous_branch": previous,
        "branch_created": makes,
        "stash_created": stashed,
    }


async def push(params: dict[str, Any], context: Context) -> dict[str, Any]:
    """Sends a branch to the branch of the same name at a remote, and never by force."""
    place, remote = place_of(params, context), params.get("remote") or "origin"
    known = (await git(place, "remote")).split()
    if remote not in known:
        there = f"There are: {', '.join(known)}." if known else "The repository has none: add one with git remote add."
        shown = beginning(remote, 80, context)
        raise NodeFailed(f"There is no remote '{shown}'.", hint=there, remote=shown)
    branch = params.get("branch") or DETACHED
    if branch == DETACHED and (branch := await _branch(place)) == DETACHED:
        raise NodeFailed("No branch is checked out.", hint="Name the branch to push.")
    await _check_branch(place, branch)
    done = await ask(place, "push", "--porcelain", "--", remote, f"refs/heads/{branch}:refs/heads/{branch}")
    out = checked("push", done)
    is_new = not any(line.startswith("=\t") for line in out.splitlines())
    return {"push_result": {"success": True, "branch": branch, "remote": remote, "up_to_date": not is_new}}


async def latest_tag(params: dict[str, Any], context: Context) -> dict[str, Any]:
    """The newest tag; an empty object where there is none."""
    pattern = f"refs/tags/{params.get('pattern') or '**'}"
    out = await git(
        place_of(params, context),
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


async def _branch(place: Context) -> str:
    done = await ask(place, "symbolic-ref", "--short", "--quiet", "HEAD")
    return DETACHED if done.code == 1 else checked("symbolic-ref", done).strip()


async def _is_branch(place: Context, name: str) -> bool:
    return (await ask(place, "show-ref", "--verify", "--quiet", f"refs/heads/{name}")).code == 0


async def _check_branch(place: Context, name: str) -> None:
    if (await ask(place, "check-ref-format", f"refs/heads/{name}")).code or name.startswith("-"):
        raise _no_name("branch", name, place)


async def _stashed(place: Context) -> bool:
    """Whether there was anything to put aside."""
    before = (await ask(place, "rev-parse", "--verify", "--quiet", "refs/stash")).out
    await git(place, "stash", "push", "--quiet", "--include-untracked")
    return (await ask(place, "rev-parse", "--verify", "--quiet", "refs/stash")).out != before


def _ref(params: dict[str, Any], key: str, context: Context) -> str:
    value = params[key]
    if not value or value.startswith("-"):
        raise _no_name(key, value, context)
    return value


def _no_name(key: str, value: str, context: Context) -> InvalidInput:
    return InvalidInput(
        f"'{beginning(value, 80, context)}' cannot be the name of a branch.",
        hint="A name does not begin with '-' and holds no blanks, colons, '..', '~', '^', '*', '?' or '['.",
        argument=key,
    )
