"""Open private unix sockets for the MCP servers, which other accounts cannot use."""

import os
import socket
import stat
import sys
from pathlib import Path
from typing import Final
from urllib.parse import quote

from uraniborg.kernel.errors import Unavailable
from uraniborg.kernel.settings import data_dir
from uraniborg.kernel.store.files import PRIVATE_FILE, display_path, hold_lock, make_private_folder

SCHEME: Final = "unix://"
_BACKLOG: Final = 2_048
_LONGEST_PATH: Final = 107 if sys.platform == "linux" else 103
"""In bytes, of the path of a socket."""
_LOCK_S: Final = 5.0
_PROBE_S: Final = 1.0


class SocketUnusable(Unavailable):
    code = "socket_unusable"


def find_socket(server: str) -> Path:
    """Return the path of the socket of a server, which need not exist. Raise SocketUnusable if it cannot exist."""
    if not hasattr(socket, "AF_UNIX"):
        raise SocketUnusable(
            f"Python has no unix sockets on this platform ({sys.platform}).", hint="Use the port of the server."
        )
    path = data_dir().absolute() / "sockets" / f"{server}.sock"
    if (size := len(os.fsencode(path))) > _LONGEST_PATH:
        raise SocketUnusable(
            f"The path of the socket has {size} bytes, and this system allows {_LONGEST_PATH}: '{path}'.",
            hint="Use the port of the server, or set URANIBORG_HOME to a folder with a shorter path.",
        )
    return path


def format_socket_url(path: Path) -> str:
    """Return the address of `/mcp` at a socket, as Visual Studio Code reads it: the HTTP path is the fragment."""
    return f"{SCHEME}{quote(str(path))}#/mcp"


def is_listening(path: Path) -> bool:
    """Return True if a server listens at the socket. Raise OSError if that cannot be known."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_PROBE_S)
        try:
            probe.connect(str(path))
        except (FileNotFoundError, ConnectionRefusedError):
            return False
        except (BlockingIOError, TimeoutError):  # a server with many connections that it has not accepted yet
            return True
    return True


def open_socket(path: Path) -> socket.socket:
    """Return a socket that listens at `path`. Replace the file that a killed server left there, and no other.

    Blocks. Raise SocketUnusable or Locked.
    """
    try:
        make_private_folder(path.parent)
        if stat.S_IMODE(path.parent.stat().st_mode) & 0o077:
            raise SocketUnusable(
                f"The folder of the socket is open to other accounts: '{path.parent}'.",
                hint=f"Use the port of the server, or run: chmod go= '{path.parent}'",
            )
        with hold_lock(path.parent / "sockets.lock", _LOCK_S):
            if is_listening(path):
                raise SocketUnusable(
                    f"Another server listens at '{display_path(path)}'.", hint="Stop it, then start this one again."
                )
            if path.is_socket():
                path.unlink()
            return _listen(path)
    except OSError as exc:
        raise SocketUnusable(
            f"The socket '{display_path(path)}' cannot be created: {exc.strerror or exc}.",
            hint="Use the port of the server, or set URANIBORG_HOME to a folder on another disk.",
        ) from exc


def _listen(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(path))
        path.chmod(PRIVATE_FILE)
        listener.listen(_BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener
