"""Run the program git without prompts; every failure has a hint."""

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from pflow.domain.node import NodeContext
from pflow.domain.redaction import mask_secrets
from pflow.errors import NodeFailed
from pflow.nodes import process_runner
from pflow.nodes.param_values import get_path
from uraniborg.kernel.processes.child_processes import build_child_environment
from uraniborg.kernel.store.files import display_path

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import JsonObject

_SETTINGS: Final = (
    "--no-pager",
    "--no-optional-locks",
    *("-c", "color.ui=false"),
    *("-c", "log.showSignature=false"),
    *("-c", "i18n.logOutputEncoding=UTF-8"),
)
_ALONE: Final = {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
_INHERITED: Final = ("GIT_*", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "GNUPGHOME", "GPG_TTY", "EMAIL")
"""Variables that git inherits in addition to those of every child: settings, author, and password prompts."""
_PINNED: Final = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX")
"""Inside a hook these lead git to the repository of the hook, wherever it is called."""
_MOST: Final = process_runner.ProcessLimits(memory_bytes=32 << 20, disk_bytes=32 << 20)
_SAID: Final = 300
_HINTS: Final = (
    ("not a git repository", "Set working_directory to a folder inside a repository."),
    ("tell me who you are", "Set the author: git config user.name and user.email."),
    ("auto-detect email address", "Set the author: git config user.name and user.email."),
    ("did not match any file", "Name files that exist, as seen from working_directory."),
    ("invalid reference", "Name an existing branch, tag or commit, or set create to create the branch."),
    ("not a commit", "Name an existing branch, tag or commit."),
    ("overwritten by checkout", "Commit the changes first, or set stash to keep or force to discard them."),
    ("fetch first", "The remote has newer commits: pull them first."),
    ("non-fast-forward", "The remote branch has other commits: pull them first."),
    ("does not match any", "Name a branch that exists here and has a commit."),
    ("could not read Username", "git cannot prompt here: set up a credential helper, a token or an ssh key."),
    ("Authentication failed", "Check the credentials that git has for this remote."),
    ("Permission denied", "Check the credentials that git has for this remote, and the rights on the files."),
    ("index.lock", "Another git is running, or was killed: if none is running, remove the lock file."),
)


class GitResult(NamedTuple):
    """The result of git. `complaint` is its output without secrets, if the exit code is not 0."""

    code: int
    out: str
    err: str
    complaint: str


def get_git_context(params: "JsonObject", context: NodeContext) -> NodeContext:
    """Return the context in which git runs. Raise NodeFailed if the folder does not exist."""
    if not params.get("working_directory"):
        return context
    folder = get_path(params, "working_directory", context)
    if not folder.is_dir():
        raise NodeFailed(
            f"There is no folder {display_path(folder)}.", hint="Set working_directory to an existing folder."
        )
    return replace(context, folder=folder)


async def run_git(context: NodeContext, *arguments: str) -> str:
    """Return the output of git. Raise NodeFailed if it fails."""
    return require_success_output(arguments[0], await try_git(context, *arguments))


async def try_git(context: NodeContext, *arguments: str) -> GitResult:
    """Run git and return its result, failed or not. Raise NodeFailed if git cannot be started or prints too much."""
    inherited = {name: value for name, value in build_child_environment(_INHERITED).items() if name not in _PINNED}
    try:
        done = await process_runner.run_process(
            ["git", *_SETTINGS, *arguments], context, environment=inherited | _ALONE, limits=_MOST
        )
    except NodeFailed as exc:
        exc.outputs = {}  # the output of git is not an output of the node
        raise
    out, err = (one.start.decode(errors="replace") for one in (done.stdout, done.stderr))
    return GitResult(done.exit_code, out, err, mask_secrets(f"{err}\n{out}", context) if done.exit_code else "")


def require_success_output(subcommand: str, done: GitResult) -> str:
    """Return the output of git. Raise NodeFailed if it failed."""
    if not done.code:
        return done.out
    complaint = done.complaint.lower()
    hint = next((hint for sign, hint in _HINTS if sign.lower() in complaint), "Run the same command for details.")
    raise NodeFailed(
        f"git {subcommand} failed: {_extract_reason(done.complaint) or done.code}", hint=hint, exit_code=done.code
    )


async def get_remote_url(context: NodeContext, remote: str = "origin") -> str | None:
    """Return the address of a remote of the run's folder; None without such a remote or without git."""
    try:
        done = await try_git(context, "remote", "get-url", "--", remote)
    except NodeFailed:
        return None
    return done.out.strip() or None if done.code == 0 else None


def _extract_reason(output: str) -> str:
    """Return the most informative line: a refused reference, else a fatal error, else the first line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    signs = ("!\t", "fatal: ", "error: ", "")
    line = next((line.removeprefix(sign) for sign in signs for line in lines if line.startswith(sign)), "")
    return line.rpartition("\t")[2][:_SAID]
