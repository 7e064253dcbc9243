"""How long the lists of the API take with 10,000 questions in the inbox, 1,000 sessions and 10,000 runs.

python bench/bench_console_lists.py [--quick]

The data are copies of questions, sessions and runs that the server itself made. The program fails if the median of a
list over HTTP is above 50 ms; `--quick` only shows that everything runs.
"""

import argparse
import json
import sqlite3
import statistics
import tempfile
import time
import uuid
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import httpx
from console_server import make_environment, run_console_server

from uraniborg.recordings import QUERY

LIMIT_MS: Final = 50.0
LISTS: Final[list[tuple[str, dict[str, Any]]]] = [
    ("/api/inbox", {}),
    ("/api/inbox", {"state": "pending"}),
    ("/api/inbox", {"state": "decided", "part": "pflow"}),
    ("/api/searches", {}),
    ("/api/searches", {"phase": "waiting"}),
    ("/api/searches", {"q": "trappist"}),
    ("/api/runs", {}),
    ("/api/runs", {"workflow": "publish"}),
]
APPROVAL: Final = {
    "nodes": [
        {"id": "ask", "type": "approval", "params": {"question": "Publish?"}},
        {"id": "say", "type": "echo", "params": {"message": "${ask.decision}"}},
    ],
    "edges": [{"from": "ask", "to": "say"}],
}


def make_examples(api: httpx.Client) -> None:
    """Make a complete session, one at its review, one at its strategy, and two runs."""
    for decisions in (0, 1, 2):
        path = f"/api/searches/{api.post('/api/searches', json={'query': QUERY}).json()['session_id']}"
        for _ in range(decisions):
            api.post(f"{path}/decide", json={"action": "approve"}).raise_for_status()
    api.put("/api/drafts/publish", json={"document": APPROVAL}).raise_for_status()
    api.post("/api/runs", json={"name": "publish"}).raise_for_status()
    while not (waiting := api.get("/api/inbox", params={"state": "pending", "part": "pflow"}).json()["entries"]):
        time.sleep(0.1)
    api.post(f"/api/inbox/{waiting[0]['id']}/decide", json={"action": "approve"}).raise_for_status()
    while [run["status"] for run in api.get("/api/runs").json()["runs"]] != ["success", "waiting"]:
        time.sleep(0.1)


def copy_sessions(data: Path, count: int) -> None:
    """Copy the session files under new ids, with their questions, until there are `count`."""
    files = list(data.glob("paper_search/service/sessions/*.db"))
    with closing(sqlite3.connect(data / "inbox.db")) as inbox:
        for number in range(count - len(files)):
            old, new = files[number % len(files)].stem, uuid.uuid4().hex
            target = files[0].with_name(f"{new}.db")
            target.write_bytes(files[number % len(files)].read_bytes())
            with closing(sqlite3.connect(target)) as copied:
                copied.execute("PRAGMA synchronous = OFF")
                copied.execute("UPDATE steps SET value = replace(value, ?, ?)", (old, new))
                copied.commit()
            copy_rows(
                inbox, "entries", {"id": f"replace(id, '{old}', '{new}')", "subject": f"'{new}'"}, f"subject = '{old}'"
            )
        inbox.commit()


def copy_rows(database: sqlite3.Connection, table: str, changes: dict[str, str], condition: str) -> None:
    """Insert copies of the rows that match, with some columns changed."""
    columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
    values = [changes.get(name, name) for name in columns]
    names = [name for name, value in zip(columns, values, strict=True) if value]
    chosen = [value for value in values if value]
    database.execute(
        f"INSERT INTO {table} ({', '.join(names)}) SELECT {', '.join(chosen)} FROM {table} WHERE {condition}"
    )


def fill_inbox(data: Path, count: int) -> None:
    with closing(sqlite3.connect(data / "inbox.db")) as inbox:
        while inbox.execute("SELECT count(*) FROM entries").fetchone()[0] < count:
            copy_rows(
                inbox, "entries", {"id": "lower(hex(randomblob(16))) || substr(id, 33)"}, "rowid % 3 < 2 LIMIT 2000"
            )
        inbox.commit()


def fill_runs(home: Path, count: int) -> None:
    (path,) = home.rglob("runs.db")
    with closing(sqlite3.connect(path)) as runs:
        while runs.execute("SELECT count(*) FROM runs").fetchone()[0] < count:
            copy_rows(runs, "runs", {"number": "", "id": "lower(hex(randomblob(16)))"}, "true LIMIT 2000")
        runs.commit()


def measure(api: httpx.Client, path: str, params: dict[str, Any], rounds: int) -> tuple[list[float], int]:
    seconds: list[float] = []
    size = 0
    for _ in range(rounds):
        began = time.perf_counter()
        answer = api.get(path, params=params).raise_for_status()
        seconds.append(time.perf_counter() - began)
        size = len(answer.content)
    return seconds, size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a hundredth of the data, few requests, no limit")
    quick = parser.parse_args().quick
    scale, rounds = (100, 3) if quick else (1, 40)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        env = make_environment(home)
        with run_console_server(env) as server, server.make_client() as api:
            make_examples(api)
        data = Path(env["URANIBORG_HOME"]) / "data"
        copy_sessions(data, 1_000 // scale)
        fill_inbox(data, 10_000 // scale)
        fill_runs(home, 10_000 // scale)
        with run_console_server(env) as server, server.make_client() as api:
            many, sessions = f"{10_000 // scale:,}", f"{1_000 // scale:,}"
            print(f"{many} questions, {sessions} sessions, {many} runs: median of {rounds}")
            slow: list[str] = []
            for path, params in LISTS:
                seconds, size = measure(api, path, params, rounds)
                p50 = statistics.median(seconds) * 1_000
                name = f"{path} {json.dumps(params) if params else ''}"
                print(
                    f"  {name:<58} p50 {p50:6.1f} ms  first {seconds[0] * 1_000:7.1f} ms  {size:>7,} bytes"
                    f"  (limit {LIMIT_MS:.0f} ms)"
                )
                slow += [name.strip()] if p50 > LIMIT_MS else []
    if slow and not quick:
        raise SystemExit(f"Above {LIMIT_MS:.0f} ms: {', '.join(slow)}")


if __name__ == "__main__":
    main()
