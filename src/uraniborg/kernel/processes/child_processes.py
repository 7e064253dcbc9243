"""Decide which environment variables child processes inherit, so that no secret reaches them, and end the processes."""

import asyncio
import os
import re
import signal
from asyncio.subprocess import Process
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final, cast

from uraniborg.kernel.redaction import is_sensitive, register_secret

INHERITED: Final = tuple(
    """
    PATH HOME USER LOGNAME SHELL TMPDIR TMP TEMP XDG_* VIRTUAL_ENV CONDA_PREFIX
    LANG LANGUAGE LC_* TZ TZDIR TERM COLORTERM NO_COLOR COLUMNS LINES
    HTTP_PROXY HTTPS_PROXY FTP_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy ftp_proxy all_proxy no_proxy
    SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS SSH_AUTH_SOCK
    LD_LIBRARY_PATH DYLD_LIBRARY_PATH DYLD_FALLBACK_LIBRARY_PATH OMP_NUM_THREADS CUDA_VISIBLE_DEVICES
    URANIBORG_HOME URANIBORG_CONFIG PFLOW_HOME
    URANIBORG_REQUIRE_PERSON URANIBORG_DECISIONS__REQUIRE_PERSON
    __CF_USER_TEXT_ENCODING
    SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86)
    PROGRAMW6432 COMMONPROGRAMFILES PUBLIC ALLUSERSPROFILE USERPROFILE USERNAME USERDOMAIN HOMEDRIVE HOMEPATH
    COMPUTERNAME OS PROCESSOR_ARCHITECTURE NUMBER_OF_PROCESSORS
    """.split()  # noqa: SIM905 - a table is easier to read
)
"""The variables that every child inherits; a `*` at the end stands for any ending.

By line: user and folders; language, time and terminal; proxies; certificates and the SSH agent; libraries and
processors; our folders; who may decide; macOS; Windows.
"""

_HINTS: Final = (
    "secret",
    "pass",
    "pwd",
    "cred",
    "auth",
    "key",
    "token",
    "cookie",
    "bearer",
    "jwt",
    "pat",
    "webhook",
    "dsn",
)
"""Every sensitive name contains one of these: most names are judged without a pattern."""
_ENDINGS: Final = ("_key", "_keys", "_pat", "_pass", "_creds", "_webhook", "_webhook_url", "_dsn")
"""Endings that make a variable sensitive, and are too common to make every parameter of such a name so."""
_PASSWORD: Final = r"://[^/\s:@]*:([^/\s@]+)@"  # noqa: S105 - a pattern


def build_child_environment(more: Iterable[str] = (), environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables of this process that a child inherits: those in INHERITED and in `more`.

    A variable whose name is sensitive is inherited only if `more` has exactly this name.
    """
    env = os.environ if environ is None else environ
    patterns = (*INHERITED, *more)
    exact = {name for name in patterns if not name.endswith("*")}
    starts = tuple(name[:-1] for name in patterns if name.endswith("*"))
    return {
        name: value
        for name, value in env.items()
        if name in exact or (name.startswith(starts) and not is_sensitive_variable(name))
    }


@lru_cache(maxsize=1024)
def is_sensitive_variable(name: str) -> bool:
    """Return True for the name of a variable that holds a secret, such as `OPENAI_API_KEY` or `GITHUB_PAT`."""
    lower = name.lower()
    if lower in ("pwd", "oldpwd"):  # the working directory
        return False
    return any(hint in lower for hint in _HINTS) and (lower.endswith(_ENDINGS) or is_sensitive(name))


def find_secrets(environ: Mapping[str, str]) -> Iterator[str]:
    """Yield the values of sensitive variables, and the passwords in the addresses that other variables hold."""
    for name, value in environ.items():
        if is_sensitive_variable(name):
            yield value
        elif "://" in value and "@" in value:
            yield from re.findall(_PASSWORD, value)


def register_environment_secrets() -> None:
    """Mask the secrets in the environment of this process in every later log record and reply."""
    for secret in find_secrets(os.environ):
        register_secret(secret)


_CHILDREN_S: Final = 2.0


async def end_process(process: Process, *, within_s: float) -> int:
    """Close the input of a process, kill the process if it still runs after `within_s` seconds, and return its status.

    A killed process gets a moment in which its children end, too. Then its pipes are closed: `Process.wait` waits for
    their end, and a grandchild may keep the other end open.
    """
    if process.stdin is not None:
        process.stdin.close()
    with suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), within_s)
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)  # `Process.kill` may take the status from the loop, which waits for it
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _CHILDREN_S)
    transport: asyncio.SubprocessTransport = cast("Any", process)._transport
    for stream in (1, 2):
        pipe = transport.get_pipe_transport(stream)
        if pipe is not None:
            pipe.close()
    return await process.wait()
