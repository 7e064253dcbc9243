"""The git nodes, on real repositories."""

import asyncio
import inspect
import json
import os
import subprocess
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from pflow.domain.node import NodeContext
from pflow.domain.node_interface import parse_interface
from pflow.errors import NodeFailed
from pflow.nodes import git as git_nodes
from pflow.nodes.git_program import get_remote_url
from tests.pflow.nodes.long_secrets import KEY_FILE, PIECE, TOKEN, add_secrets
from uraniborg.kernel.errors import InvalidInput, UraniborgError

git: Any = git_nodes
"""Its functions are called with parameters of any shape."""

INTERFACES = json.loads((Path(git.__file__).with_suffix(".json")).read_text())["nodes"]


@pytest.fixture(autouse=True)
def own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the git settings of this machine from the tests."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    settings = tmp_path / "gitconfig"
    settings.write_text("[user]\n\tname = Tycho\n\temail = tycho@hven.example\n[init]\n\tdefaultBranch = main\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def run_git(folder: Path, *arguments: str, **env: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env={**os.environ, **env}, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def commit_file(folder: Path, name: str, text: str, message: str, when: int = 1_600_000_000, author: str = "") -> str:
    (folder / name).write_text(text)
    run_git(folder, "add", "--", name)
    stamp = {"GIT_AUTHOR_DATE": f"{when} +0000", "GIT_COMMITTER_DATE": f"{when} +0000"}
    if author:
        stamp["GIT_AUTHOR_NAME"] = author
    run_git(folder, "commit", "-qm", message, **stamp)
    return run_git(folder, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    run_git(folder, "init", "-q")
    commit_file(folder, "stars.txt", "one\n", "The first star")
    return folder


@pytest.fixture
def remote(repository: Path, tmp_path: Path) -> Path:
    """Return a bare repository that is the remote `origin` of `repository`."""
    bare = tmp_path / "remote.git"
    run_git(tmp_path, "init", "-q", "--bare", str(bare))
    run_git(repository, "remote", "add", "origin", str(bare))
    return bare


def make_context(folder: Path) -> NodeContext:
    return NodeContext("run", "workflow", "node", folder / "home", folder, folder / "spool")


@pytest.mark.parametrize("plain", INTERFACES, ids=lambda plain: plain["type"])
def test_every_interface_is_valid_and_names_a_function_and_known_parameters(plain: dict[str, Any]) -> None:
    report = parse_interface(plain, source="builtin")
    module, _, name = report.run.partition(":")
    assert inspect.iscoroutinefunction(getattr(import_module(module), name))
    assert report.example.keys() <= report.params.keys()
    assert {param.key for param in report.params.values() if param.required} <= report.example.keys()


async def test_status_distinguishes_staged_modified_untracked_and_renamed_files(repository: Path) -> None:
    for name in ("kept.txt", "? moved.txt"):
        commit_file(repository, name, f"{name} has a few words in it\n", name)
    (repository / "stars.txt").write_text("one\ntwo\n")
    run_git(repository, "add", "stars.txt")
    (repository / "stars.txt").write_text("one\ntwo\nthree\n")
    run_git(repository, "mv", "? moved.txt", "two words.txt")
    (repository / "kept.txt").unlink()
    (repository / "ny ø\n.txt").write_text("new")
    reply = (await git.get_status({}, make_context(repository)))["git_status"]
    assert reply == {
        "modified": ["kept.txt", "stars.txt"],
        "untracked": ["ny ø\n.txt"],
        "staged": ["stars.txt", "two words.txt"],
        "conflicted": [],
        "branch": "main",
        "upstream": None,
        "ahead": 0,
        "behind": 0,
        "clean": False,
    }


async def test_status_counts_the_commits_ahead_and_behind(repository: Path, remote: Path, tmp_path: Path) -> None:
    run_git(repository, "push", "-qu", "origin", "main")
    run_git(tmp_path, "clone", "-qb", "main", str(remote), "other")
    commit_file(tmp_path / "other", "comet.txt", "tail", "A comet")
    run_git(tmp_path / "other", "push", "-q")
    run_git(repository, "fetch", "-q")
    commit_file(repository, "stars.txt", "two", "The second star")
    commit_file(repository, "stars.txt", "three", "The third star")
    reply = (await git.get_status({}, make_context(repository)))["git_status"]
    assert (reply["ahead"], reply["behind"], reply["upstream"], reply["clean"]) == (2, 1, "origin/main", True)


async def test_status_names_conflicted_files_and_the_lack_of_a_branch(repository: Path) -> None:
    run_git(repository, "checkout", "-qb", "other")
    commit_file(repository, "stars.txt", "other\n", "Other")
    run_git(repository, "checkout", "-q", "main")
    commit_file(repository, "stars.txt", "main\n", "Main")
    with pytest.raises(subprocess.CalledProcessError):
        run_git(repository, "merge", "-q", "other")
    assert (await git.get_status({}, make_context(repository)))["git_status"]["conflicted"] == ["stars.txt"]
    run_git(repository, "reset", "-q", "--hard")
    run_git(repository, "checkout", "-q", "--detach")
    assert (await git.get_status({}, make_context(repository)))["git_status"]["branch"] == "HEAD"


async def test_status_works_before_the_first_commit_and_below_the_folder_of_the_run(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "-q", "young")
    reply = await git.get_status({"working_directory": "young"}, make_context(tmp_path))
    assert (reply["git_status"]["branch"], reply["git_status"]["clean"]) == ("main", True)


async def test_log_gives_every_field_of_the_newest_commits_first(repository: Path) -> None:
    message = "Zwei Sterne ★\n\nBody line one\n\nBody\x1fline two"
    sha = commit_file(repository, "stars.txt", "two", message, when=1_700_000_000, author="Sophie")
    commits = (await git.list_commits({"limit": 20}, make_context(repository)))["commits"]
    assert [commit["subject"] for commit in commits] == ["Zwei Sterne ★", "The first star"]
    assert commits[0] == {
        "sha": sha,
        "short_sha": sha[:7],
        "author_name": "Sophie",
        "author_email": "tycho@hven.example",
        "date": "2023-11-14T22:13:20+00:00",
        "timestamp": 1_700_000_000,
        "subject": "Zwei Sterne ★",
        "message": message,
        "body": "Body line one\n\nBody\x1fline two",
    }


@pytest.mark.parametrize(
    ("params", "subjects"),
    [
        ({"limit": 1}, ["Comet"]),
        ({"author": "Sophie"}, ["Star"]),
        ({"grep": "^Com"}, ["Comet"]),
        ({"since": "2023-06-01"}, ["Comet"]),
        ({"until": "2023-06-01"}, ["Star", "The first star"]),
        ({"path": "stars.txt"}, ["Star", "The first star"]),
        ({"author": "--all"}, []),
        ({"path": "--all"}, []),
        ({"grep": "--max-count=1"}, []),
    ],
)
async def test_log_is_narrowed_by_each_parameter(repository: Path, params: dict[str, Any], subjects: list[str]) -> None:
    commit_file(repository, "stars.txt", "two", "Star", when=1_650_000_000, author="Sophie")
    commit_file(repository, "comet.txt", "tail", "Comet", when=1_700_000_000)
    commits = (await git.list_commits(params, make_context(repository)))["commits"]
    assert [commit["subject"] for commit in commits] == subjects


async def test_log_of_a_repository_without_commits_is_empty(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "-q")
    assert await git.list_commits({}, make_context(tmp_path)) == {"commits": []}


async def test_log_refuses_a_limit_below_one(repository: Path) -> None:
    with pytest.raises(InvalidInput, match="limit must be at least 1"):
        await git.list_commits({"limit": 0}, make_context(repository))


async def test_commit_includes_the_named_files_and_those_already_staged(repository: Path) -> None:
    for name in ("a.txt", "b.txt", "-c.txt"):
        (repository / name).write_text(name)
    reply = await git.create_commit({"message": "--amend", "files": ["a.txt", "-c.txt"]}, make_context(repository))
    assert reply == {"commit_sha": run_git(repository, "rev-parse", "HEAD"), "commit_message": "--amend"}
    assert run_git(repository, "log", "-1", "--format=%s") == "--amend"
    assert run_git(repository, "show", "--format=", "--name-only").split() == ["-c.txt", "a.txt"]
    assert run_git(repository, "rev-list", "--count", "HEAD") == "2"


async def test_commit_includes_everything_by_default(repository: Path) -> None:
    (repository / "new.txt").write_text("new")
    (repository / "stars.txt").unlink()
    await git.create_commit({"message": "All"}, make_context(repository))
    assert run_git(repository, "show", "--format=", "--name-status").split() == ["A", "new.txt", "D", "stars.txt"]


@pytest.mark.parametrize(
    ("params", "kind", "message"),
    [
        ({"message": "Nothing"}, NodeFailed, "There is nothing to commit"),
        ({"message": " \n"}, InvalidInput, "The message is empty"),
        ({"message": "x\0y", "files": ["stars.txt"]}, NodeFailed, "null byte"),
        (
            {"message": "Ghost", "files": ["ghost.txt"]},
            NodeFailed,
            "git add failed: pathspec 'ghost.txt' did not match",
        ),
    ],
)
async def test_a_commit_that_fails_is_explained(
    repository: Path, params: dict[str, Any], kind: type[UraniborgError], message: str
) -> None:
    before = run_git(repository, "rev-parse", "HEAD")
    with pytest.raises(kind, match=message) as refused:
        await git.create_commit(params, make_context(repository))
    assert refused.value.hint
    assert run_git(repository, "rev-parse", "HEAD") == before


async def test_a_commit_that_a_hook_refuses_is_not_reported_as_nothing_to_commit(repository: Path) -> None:
    hook = repository / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho the sky is cloudy >&2\nexit 1\n")
    hook.chmod(0o755)
    (repository / "new.txt").write_text("new")
    with pytest.raises(NodeFailed, match="git commit failed: the sky is cloudy"):
        await git.create_commit({"message": "New"}, make_context(repository))


async def test_checkout_makes_a_branch_once_and_then_only_goes_there(repository: Path) -> None:
    second = commit_file(repository, "stars.txt", "two", "Second")
    params = {"branch": "figures", "create": True, "base": "main~1"}
    first = await git.check_out(params, make_context(repository))
    assert first == {
        "current_branch": "figures",
        "previous_branch": "main",
        "branch_created": True,
        "stash_created": False,
    }
    assert run_git(repository, "rev-parse", "HEAD") == run_git(repository, "rev-parse", f"{second}~1")
    again = await git.check_out(params, make_context(repository))
    assert (again["current_branch"], again["branch_created"]) == ("figures", False)


async def test_checkout_stashes_or_discards_changes_as_requested(repository: Path) -> None:
    run_git(repository, "branch", "other")
    commit_file(repository, "stars.txt", "two\n", "Second")
    (repository / "stars.txt").write_text("unsaved\n")
    with pytest.raises(NodeFailed, match="overwritten by checkout") as refused:
        await git.check_out({"branch": "other"}, make_context(repository))
    assert "stash" in refused.value.hint
    assert (await git.check_out({"branch": "other", "stash": True}, make_context(repository)))["stash_created"] is True
    assert "unsaved" in run_git(repository, "stash", "show", "-p")
    assert (await git.check_out({"branch": "main", "stash": True}, make_context(repository)))["stash_created"] is False
    (repository / "stars.txt").write_text("thrown away\n")
    await git.check_out({"branch": "other", "force": True}, make_context(repository))
    assert (repository / "stars.txt").read_text() == "one\n"


async def test_a_failed_checkout_restores_the_stashed_changes(repository: Path) -> None:
    (repository / "stars.txt").write_text("unsaved\n")
    with pytest.raises(NodeFailed, match="invalid reference: nowhere") as refused:
        await git.check_out({"branch": "nowhere", "stash": True}, make_context(repository))
    assert "create" in refused.value.hint
    assert (repository / "stars.txt").read_text() == "unsaved\n"
    assert run_git(repository, "stash", "list") == ""


async def test_checkout_of_a_tag_leaves_no_branch(repository: Path) -> None:
    run_git(repository, "tag", "v1")
    assert (await git.check_out({"branch": "v1"}, make_context(repository)))["current_branch"] == "HEAD"


@pytest.mark.parametrize(
    "params",
    [
        {"branch": "--orphan"},
        {"branch": "-"},
        {"branch": ""},
        {"branch": "-f", "create": True},
        {"branch": "two words", "create": True},
        {"branch": "new", "create": True, "base": "--force"},
    ],
)
async def test_checkout_refuses_invalid_names(repository: Path, params: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="cannot be the name of a branch"):
        await git.check_out(params, make_context(repository))
    assert run_git(repository, "branch", "--show-current") == "main"


async def test_a_branch_is_never_taken_for_a_file_of_the_same_name(repository: Path) -> None:
    (repository / "stars.txt").write_text("unsaved\n")
    with pytest.raises(NodeFailed, match=r"invalid reference: stars\.txt"):
        await git.check_out({"branch": "stars.txt"}, make_context(repository))
    assert (repository / "stars.txt").read_text() == "unsaved\n"


async def test_push_sends_the_branch_and_reports_if_it_was_up_to_date(repository: Path, remote: Path) -> None:
    first = await git.push_branch({"branch": "HEAD", "remote": "origin"}, make_context(repository))
    assert first["push_result"] == {"success": True, "branch": "main", "remote": "origin", "up_to_date": False}
    assert run_git(remote, "rev-parse", "main") == run_git(repository, "rev-parse", "main")
    assert (await git.push_branch({}, make_context(repository)))["push_result"]["up_to_date"] is True


async def test_push_does_not_overwrite_commits_of_others(repository: Path, remote: Path) -> None:
    await git.push_branch({}, make_context(repository))
    theirs = run_git(remote, "rev-parse", "main")
    (repository / "stars.txt").write_text("rewritten")
    run_git(repository, "commit", "-qa", "--amend", "-m", "Rewritten")
    for branch in ("main", "+main", "+refs/heads/main"):
        with pytest.raises(UraniborgError):
            await git.push_branch({"branch": branch}, make_context(repository))
    with pytest.raises(NodeFailed, match="non-fast-forward") as refused:
        await git.push_branch({}, make_context(repository))
    assert "other commits" in refused.value.hint
    assert run_git(remote, "rev-parse", "main") == theirs


@pytest.mark.parametrize("branch", [":main", "main:other", "*", "-f", "--mirror"])
async def test_push_refuses_a_branch_that_would_be_a_refspec_or_an_option(
    repository: Path, remote: Path, branch: str
) -> None:
    with pytest.raises(InvalidInput, match="cannot be the name of a branch"):
        await git.push_branch({"branch": branch}, make_context(repository))
    assert run_git(remote, "for-each-ref") == ""


@pytest.mark.parametrize("name", ["upstream", "--all", "ext::sh -c true", "../remote.git"])
async def test_push_goes_to_remotes_that_have_a_name_and_nowhere_else(
    repository: Path, remote: Path, name: str
) -> None:
    with pytest.raises(NodeFailed, match="There is no remote") as refused:
        await git.push_branch({"remote": name}, make_context(repository))
    assert refused.value.hint == "There are: origin."
    assert run_git(remote, "for-each-ref") == ""


async def test_push_without_a_branch_asks_for_one(repository: Path, remote: Path) -> None:
    run_git(repository, "checkout", "-q", "--detach")
    with pytest.raises(NodeFailed, match="No branch is checked out"):
        await git.push_branch({}, make_context(repository))
    assert run_git(remote, "for-each-ref") == ""


async def test_a_password_in_the_address_of_a_remote_is_not_shown(repository: Path) -> None:
    run_git(repository, "remote", "add", "origin", "http://tycho:hunter22secret@127.0.0.1:1/r.git")
    with pytest.raises(NodeFailed) as refused:
        await git.push_branch({}, make_context(repository))
    assert "hunter22secret" not in str(refused.value.body())


async def test_the_latest_tag_is_the_one_made_last_and_of_several_the_highest_version(repository: Path) -> None:
    sha = run_git(repository, "rev-parse", "HEAD")
    run_git(repository, "tag", "v1.9.0")
    run_git(repository, "tag", "v1.10.0")
    reply = (await git.get_latest_tag({}, make_context(repository)))["latest_tag"]
    assert (reply["name"], reply["sha"], reply["is_annotated"], reply["message"]) == ("v1.10.0", sha, False, "")
    stamp = {"GIT_COMMITTER_DATE": "1700000000 +0000"}
    run_git(repository, "tag", "-a", "release/v0.9", "-m", "A fix\n\nof the old", **stamp)
    reply = (await git.get_latest_tag({}, make_context(repository)))["latest_tag"]
    assert reply == {
        "name": "release/v0.9",
        "sha": sha,
        "date": "2023-11-14T22:13:20+00:00",
        "message": "A fix\n\nof the old",
        "is_annotated": True,
    }
    assert (await git.get_latest_tag({"pattern": "v*"}, make_context(repository)))["latest_tag"]["name"] == "v1.10.0"
    assert await git.get_latest_tag({"pattern": "--all"}, make_context(repository)) == {"latest_tag": {}}


async def test_a_folder_without_repository_a_missing_folder_and_a_missing_program_have_different_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(NodeFailed, match="not a git repository") as refused:
        await git.get_status({}, make_context(tmp_path))
    assert "working_directory" in refused.value.hint
    with pytest.raises(NodeFailed, match="There is no folder"):
        await git.get_status({"working_directory": "nowhere"}, make_context(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NodeFailed, match="no program 'git'"):
        await git.get_status({}, make_context(tmp_path))


async def test_the_repository_of_a_hook_around_the_run_is_not_used(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_git(tmp_path, "init", "-q", "-b", "elsewhere", "hooked")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "hooked" / ".git"))
    assert (await git.get_status({}, make_context(repository)))["git_status"]["branch"] == "main"


async def test_the_address_of_a_remote_is_found_or_not(repository: Path, remote: Path, tmp_path: Path) -> None:
    assert await get_remote_url(make_context(repository)) == str(remote)
    assert await get_remote_url(make_context(repository), "upstream") is None
    assert await get_remote_url(make_context(tmp_path)) is None
    assert await get_remote_url(make_context(tmp_path / "nowhere")) is None


async def test_a_cancelled_node_ends_git_and_all_it_started_and_leaves_no_lock(
    repository: Path, tmp_path: Path
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    hook = repository / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\nexec 3> '{pipe}'\necho begun >&3\nexec sleep 600\n")
    hook.chmod(0o755)
    (repository / "new.txt").write_text("new")
    node = asyncio.create_task(git.create_commit({"message": "New"}, make_context(repository)))
    async with asyncio.timeout(20):
        with await asyncio.to_thread(pipe.open) as reader:
            assert await asyncio.to_thread(reader.readline) == "begun\n"
            node.cancel()
            with pytest.raises(asyncio.CancelledError):
                await node
            assert await asyncio.to_thread(reader.read) == "", "the pipe ends when its last writer has ended"
    assert not (repository / ".git" / "index.lock").exists()


@pytest.mark.parametrize("secret", [TOKEN, KEY_FILE], ids=["long", "of many lines"])
async def test_no_part_of_a_secret_is_in_an_error(repository: Path, secret: str) -> None:
    place = add_secrets(make_context(repository))
    (repository / "secret").write_text(secret)
    hook = repository / ".git" / "hooks" / "pre-commit"
    hook.write_text("#!/bin/sh\ncat secret >&2\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(NodeFailed, match=r"git commit failed: \*\*\*") as refused:
        await git.create_commit({"message": "A star"}, place)
    assert PIECE not in str(refused.value.body())
    for params, act in (({"remote": secret}, git.push_branch), ({"branch": f"-{secret}"}, git.check_out)):
        with pytest.raises(UraniborgError, match=r"\*\*\*") as refused:
            await act(params, place)
        assert PIECE not in str(refused.value.body())
