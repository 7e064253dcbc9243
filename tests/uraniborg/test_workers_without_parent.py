"""Workers whose parent has ended: they end, too, without a traceback about a pipe that nobody reads."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

SOON_S: Final = 60
NO_BODIES: Final = b"{}"
WORKERS: Final[dict[str, tuple[list[str], dict[str, Any]]]] = {
    "a run": (["pflow.api.run_worker"], {"id": 0, "request": {"name": "quick"}}),
    "a shelf": (
        ["uraniborg.console.workers.shelf_worker"],
        {"id": 0, "request": {"papers": "papers.bib", "shelf": "shelf", "actor": None}},
    ),
    "a step of the story": (["uraniborg.story.worker"], {"id": 0, "request": {"describe": True}}),
    "a job": (
        ["universe.service.jobs.worker"],
        {
            "id": 0,
            "request": {"path": "jobs.db", "id": "j", "title": "u"},
            "size": len(NO_BODIES),
        },
    ),
    "the searches": (["uraniborg.console.workers.search_worker", "0"], {}),
}


@pytest.mark.timeout(180)
@pytest.mark.parametrize("worker", WORKERS)
def test_a_worker_whose_parent_has_ended_ends_without_a_traceback(worker: str, tmp_path: Path) -> None:
    (tmp_path / "papers.bib").write_text("@article{a, title={Icy moons}, year={2020}}")
    drafts = tmp_path / "pflow" / "workflows" / "drafts"
    drafts.mkdir(parents=True)
    draft = {"nodes": [{"id": "a", "type": "shell", "params": {"command": "sleep 1; echo done"}}]}
    (drafts / "quick.json").write_text(json.dumps(draft))
    arguments, request = WORKERS[worker]
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "URANIBORG_HOME": str(tmp_path)}
    environment["PFLOW_HOME"] = str(tmp_path / "pflow")
    read_end, write_end = os.pipe()
    os.close(read_end)
    with subprocess.Popen(
        [sys.executable, "-m", *arguments],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=write_end,
        stderr=subprocess.PIPE,
    ) as started:
        os.close(write_end)
        assert started.stdin is not None
        if request:
            started.stdin.write(json.dumps(request).encode() + b"\n" + NO_BODIES[: request.get("size", 0)])
        started.stdin.flush()
        try:
            _, log = started.communicate(timeout=SOON_S)
        finally:
            started.kill()
    assert b"BrokenPipe" not in log, log.decode()
    assert b"Traceback" not in log, log.decode()
