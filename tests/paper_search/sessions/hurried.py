"""The server without what takes it long and is not what a test is about: disks, locks, what is installed.

What is written is not forced to the disk: only a power cut, and no killing of a process, could tell the difference.
"""

import ctypes
import functools
import os
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final
from unittest import mock

from paper_search import mcp_server
from paper_search.sources import installed_sources as installed

PATIENCE: Final = "TEST_LOCKS_ARE_WAITED_FOR_S"
ORDINARY: Final = "TEST_ROOT_IS_BOUND_BY_PERMISSIONS"

_MADE_IN_ADVANCE: Final = mcp_server.mcp
_CAPABILITIES_OF_64_BITS: Final = 0x20080522
_MAY_WRITE_ANYWHERE, _MAY_READ_ANYWHERE = 1 << 1, 1 << 2


def main() -> None:
    """Be the server. With `PATIENCE` it gives up on a lock after so many seconds; with `ORDINARY` root is nobody."""
    if os.environ.get(ORDINARY):
        _give_up_the_rights_of_root()
    patience_s = float(os.environ.get(PATIENCE, "inf"))
    read_once = mock.patch.object(installed, "entry_points", functools.cache(installed.entry_points))
    with nothing_forced_to_disk(patience_s), read_once:
        mcp_server.main()


@contextmanager
def nothing_forced_to_disk(patience_s: float = float("inf")) -> Generator[None]:
    """Databases opened meanwhile, and files, are written without waiting until the disk has them."""
    connect = sqlite3.connect

    def hurried(
        *given: Any, factory: type[sqlite3.Connection] = sqlite3.Connection, timeout: float = 5.0, **options: Any
    ) -> sqlite3.Connection:
        return connect(*given, factory=_unforced(factory), timeout=min(timeout, patience_s), **options)

    with mock.patch("sqlite3.connect", hurried), mock.patch("os.fsync"):
        yield


@functools.cache
def _unforced(factory: type[sqlite3.Connection]) -> type[sqlite3.Connection]:
    class Unforced(factory):
        def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:
            forced = sql.startswith("PRAGMA synchronous")
            return super().execute("PRAGMA synchronous = OFF" if forced else sql, *parameters)

    return Unforced


def _give_up_the_rights_of_root() -> None:
    """From now on permissions hold for this process and the threads it starts, whoever it runs as."""
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_OF_64_BITS, 0)
    effective_permitted_inheritable = (ctypes.c_uint32 * 6)()
    given_up = ~(_MAY_WRITE_ANYWHERE | _MAY_READ_ANYWHERE)
    if libc.capget(header, effective_permitted_inheritable) == 0:
        effective_permitted_inheritable[0] &= given_up
        effective_permitted_inheritable[1] &= given_up
        if libc.capset(header, effective_permitted_inheritable) == 0:
            return
    raise OSError(ctypes.get_errno(), "the rights of root cannot be given up")
