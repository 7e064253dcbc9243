"""A real PostgreSQL server for tests: a temporary cluster that listens on a socket in its own folder."""

import ctypes
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

USER = "universe"
GUARDED = "guarded"
"""A role that needs a password. It does not exist until a test creates it."""
DATABASE = "postgres"
_PORT = "5432"
"""Only a part of the socket's name."""
_SETTINGS = {"listen_addresses": "", "port": _PORT, "shared_buffers": "16MB"}
_DOORS = f"local all {GUARDED} scram-sha-256\nlocal all all trust\n"
_UNPRIVILEGED = ("nobody", "postgres")
_PATIENCE_S = 30
_PR_SET_PDEATHSIG = 1


class NoServer(Exception):
    """No server can be started here, and why."""


@dataclass
class PostgresServer:
    """A cluster in `folder`, run as `identity` if not as ourselves."""

    folder: Path
    binaries: Path
    identity: dict[str, Any]
    _process: subprocess.Popen[Any] | None = None
    _schemas: int = 0

    @property
    def socket(self) -> Path:
        return self.folder / f".s.PGSQL.{_PORT}"

    def dsn(self, *, user: str = USER, host: str = "", database: str = DATABASE, **settings: str) -> str:
        """By the socket, or by a `host` that passes everything on to it. Settings are those of the session."""
        where = {"sslmode": "disable"} if host else {"host": str(self.folder), "port": _PORT}
        query = "&".join(f"{name}={quote(value, safe='')}" for name, value in {**where, **settings}.items())
        return f"postgresql://{user}@{host}/{database}?{query}"

    def schema(self) -> str:
        """Create an empty schema and return its name, for use as a search path."""
        self._schemas += 1
        name = f"test_{self._schemas}"
        self.sql(f"CREATE SCHEMA {name}")
        return name

    def sql(self, *statements: str) -> str:
        """Run these statements and return the output of psql."""
        command = [str(self.binaries / "psql"), "-XqAt", "-v", "ON_ERROR_STOP=1"]
        command += [part for statement in statements for part in ("-c", statement)]
        where = ["-h", str(self.folder), "-p", _PORT, "-U", USER, DATABASE]
        done = subprocess.run([*command, *where], check=False, capture_output=True, text=True, timeout=_PATIENCE_S)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def make(self) -> None:
        """Create an empty cluster."""
        if self.identity:
            os.chown(self.folder, self.identity["user"], self.identity["group"])
        data = self.folder / "data"
        command = [
            self.binaries / "initdb",
            "-D",
            data,
            "-U",
            USER,
            "-E",
            "UTF8",
            "--locale=C",
            "--no-sync",
            "-A",
            "trust",
        ]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=_PATIENCE_S, **self._as_somebody())
        (data / "pg_hba.conf").write_text(_DOORS)

    def start(self) -> None:
        settings = [f"--{name}={value}" for name, value in _SETTINGS.items()]
        command = [self.binaries / "postgres", "-D", self.folder / "data", "-k", self.folder, *settings]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=_end_with_us,  # noqa: PLW1509 - it makes one system call
                **self._as_somebody(),
            )
        deadline = time.monotonic() + _PATIENCE_S
        while not self._is_ready(self._process.pid):
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"PostgreSQL did not start:\n{(self.folder / 'log').read_text()}")
            time.sleep(0.01)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """SIGINT ends sessions and writes all down; SIGQUIT does neither, as a crash would."""
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(how)
        try:
            process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(_PATIENCE_S)

    def _is_ready(self, pid: int) -> bool:
        with suppress(FileNotFoundError):
            reply = (self.folder / "data" / "postmaster.pid").read_text().split()
            return bool(reply) and reply[0] == str(pid) and reply[-1] == "ready"
        return False

    def _as_somebody(self) -> dict[str, Any]:
        return {**self.identity, "cwd": self.folder, "env": {"PATH": os.environ["PATH"], "LC_ALL": "C"}}


@contextmanager
def running_postgres() -> Generator[PostgresServer]:
    """Provide a server with an empty cluster, removed when the block ends. Raise NoServer if it cannot be started."""
    binaries, identity = _binaries(), _identity()
    folder = Path(tempfile.mkdtemp(prefix="universe-pg-"))
    server = PostgresServer(folder, binaries, identity)
    try:
        server.make()
        server.start()
        yield server
    finally:
        server.stop(signal.SIGQUIT)
        shutil.rmtree(folder)


def _binaries() -> Path:
    """Return the folder of the newest PostgreSQL of Debian, or the one in PATH."""
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_release, reverse=True)
    if on_path := shutil.which("postgres"):
        places.append(Path(on_path).resolve().parent)
    for place in places:
        if all((place / name).exists() for name in ("initdb", "postgres", "psql")):
            return place
    raise NoServer("PostgreSQL is not installed (Debian has it in the package 'postgresql')")


def _release(place: Path) -> float:
    with suppress(ValueError):
        return float(place.parent.name)
    return 0


def _identity() -> dict[str, Any]:
    """Return the account to run PostgreSQL as, because it refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    for name in _UNPRIVILEGED:
        with suppress(KeyError):
            account = pwd.getpwnam(name)
            return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
    raise NoServer("PostgreSQL does not run as root, and there is no other account to run it as")


def _end_with_us() -> None:
    """End this process when its parent dies, so that a killed test run leaves no server behind."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGQUIT)
