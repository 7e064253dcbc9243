"""The server without slow steps that tests do not need: disk syncs, long lock timeouts, a scan of entry points.

Without disk syncs only a power cut could lose data; a killed process cannot.
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
from paper_search.sources import in_process_sources as installed

LOCK_TIMEOUT: Final = "TEST_LOCKS_ARE_WAITED_FOR_S"
WITHOUT_ROOT: Final = "TEST_ROOT_IS_BOUND_BY_PERMISSIONS"

_SERVER: Final = mcp_server.mcp
_CAPABILITIES_OF_64_BITS: Final = 0x20080522
_MAY_WRITE_ANYWHERE, _MAY_READ_ANYWHERE = 1 << 1, 1 << 2


def main() -> None:
    """Run the server. `LOCK_TIMEOUT` sets the seconds to wait for a lock; `WITHOUT_ROOT` drops root privileges."""
    if os.environ.get(WITHOUT_ROOT):
        _drop_root_privileges()
    lock_timeout_s = float(os.environ.get(LOCK_TIMEOUT, "inf"))
    read_once = mock.patch.object(installed, "entry_points", functools.cache(installed.entry_points))
    with disable_disk_sync(lock_timeout_s), read_once:
        mcp_server.main()


@contextmanager
def disable_disk_sync(lock_timeout_s: float = float("inf")) -> Generator[None]:
    """Write databases and files in this block without waiting for the disk."""
    connect = sqlite3.connect

    def connect_unsynced(
        *given: Any, factory: type[sqlite3.Connection] = sqlite3.Connection, timeout: float = 5.0, **options: Any
    ) -> sqlite3.Connection:
        return connect(*given, factory=_make_unsynced(factory), timeout=min(timeout, lock_timeout_s), **options)

    with mock.patch("sqlite3.connect", connect_unsynced), mock.patch("os.fsync"):
        yield


@functools.cache
def _make_unsynced(factory: type[sqlite3.Connection]) -> type[sqlite3.Connection]:
    class UnsyncedConnection(factory):
        def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:
            forced = sql.startswith("PRAGMA synchronous")
            return super().execute("PRAGMA synchronous = OFF" if forced else sql, *parameters)

    return UnsyncedConnection


def _drop_root_privileges() -> None:
    """Make file permissions apply to this process and its new threads, even if it runs as root."""
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_OF_64_BITS, 0)
    effective_permitted_inheritable = (ctypes.c_uint32 * 6)()
    given_up = ~(_MAY_WRITE_ANYWHERE | _MAY_READ_ANYWHERE)
    if libc.capget(header, effective_permitted_inheritable) == 0:
        effective_permitted_inheritable[0] &= given_up
        effective_permitted_inheritable[1] &= given_up
        if libc.capset(header, effective_permitted_inheritable) == 0:
            return
    raise OSError(ctypes.get_errno(), "the privileges of root cannot be dropped")
