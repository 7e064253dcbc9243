"""The program git, as the git nodes run it: nobody is asked anything, and every failure comes with a hint."""

from dataclasses import replace
from typing import Any, Final, NamedTuple

from pflow.errors import NodeFailed
from pflow.node import Context
from pflow.nodes import processes
from pflow.nodes.excerpts import masked
from pflow.nodes.param_values import path_of
from uraniborg.kernel.child_environment import child_environment
from uraniborg.kernel.files import shown

_SETTINGS: Final = (
    "--no-pager",
    "--no-optional-locks",
    *("-c", "color.ui=false"),
    *("-c", "log.showSignature=false"),
    *("-c", "i18n.logOutputEncoding=UTF-8"),
)
_ALONE: Final = {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
_INHERITED: Final = ("GIT_*", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "GNUPGHOME", "GPG_TTY", "EMAIL")
"""What git inherits beside what every child does: settings, who commits, and how to ask for a password."""
_PINNED: Final = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX")
"""Inside a hook these lead git to the repository of the hook, wherever it is called."""
_MOST: Final = processes.Limits(kept=32 << 20, spooled=32 << 20)
_SAID: Final = 300
_HINTS: Final = (
    ("not a git repository", "Set working_directory to a folder inside a repository."),
    ("tell me who you are", "Set who commits: git config user.name and user.email."),
    ("auto-detect email address", "Set who commits: git config user.name and user.email."),
    ("did not match any file", "Name files that exist, as seen from working_directory."),
    ("invalid reference", "Name a branch, tag or commit that exists, or set create to make the branch."),
    ("not a commit", "Name a branch, tag or commit that exists."),
    ("overwritten by checkout", "Commit the changes first, or set stash to keep or force to discard them."),
    ("fetch first", "Others have pushed meanwhile: take over their commits first."),
    ("non-fast-forward", "The branch there has other commits: take them over first."),
    ("does not match any", "Name a branch that exists here and has a commit."),
    ("could not read Username", "Nobody can be asked here: set up a credential helper, a token or an ssh key."),
    ("Authentication failed", "Check the credentials that git has for this remote."),
    ("Permission denied", "Check the credentials that git has for this remote, and the rights on the files."),
    ("index.lock", "Another git is at work here, or was killed: when none runs, remove the lock file."),
)


class Done(NamedTuple):
    """`complaint` is all that was printed, without secrets; only where the code is not 0."""

    code: int
    out: str
    err: str
    complaint: str


def place_of(params: dict[str, Any], context: Context) -> Context:
    """Where git is to run, as the context of a node there. Raises NodeFailed for a folder that is none."""
    if not params.get("working_directory"):
        return context
    folder = path_of(params, "working_directory", context)
    if not folder.is_dir():
        raise NodeFailed(f"There is no folder {shown(folder)}.", hint="Set working_directory to a folder that exists.")
    return replace(context, folder=folder)


async def git(place: Context, *arguments: str) -> str:
    """What git prints. Raises NodeFailed when it fails."""
    return checked(arguments[0], await ask(place, *arguments))


async def ask(place: Context, *arguments: str) -> Done:
    """How git ends, well or not. Raises NodeFailed when it cannot be started, or prints too much."""
    inherited = {name: value for name, value in child_environment(_INHERITED).items() if name not in _PINNED}
    try:
        done = await processes.run(["git", *_SETTINGS, *arguments], place, environment=inherited | _ALONE, limits=_MOST)
    except NodeFailed as exc:
        exc.outputs.clear()  # git's own words are no outputs of these nodes
        raise
    out, err = (one.kept.decode(errors="replace") for one in (done.stdout, done.stderr))
    return Done(done.exit_code, out, err, masked(f"{err}\n{out}", place) if done.exit_code else "")


def checked(verb: str, done: Done) -> str:
    """What git printed. Raises NodeFailed when it failed."""
    if not done.code:
        return done.out
    said = done.complaint.lower()
    hint = next((hint for sign, hint in _HINTS if sign.lower() in said), "Run the same command to see more.")
    raise NodeFailed(f"git {verb} failed: {_reason(done.complaint) or done.code}", hint=hint, exit_code=done.code)


async def remote_url(place: Context, remote: str = "origin") -> str | None:
    """Where a remote of the repository around the folder of the run is; None if there is no such remote, or no git."""
    try:
        done = await ask(place, "remote", "get-url", "--", remote)
    except NodeFailed:
        return None
    return done.out.strip() or None if done.code == 0 else None


def _reason(said: str) -> str:
    """The line that says most: which reference was refused, else what was fatal, else the first."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    signs = ("!\t", "fatal: ", "error: ", "")
    telling = next((line.removeprefix(sign) for sign in signs for line in lines if line.startswith(sign)), "")
    return telling.rpartition("\t")[2][:_SAID]
