"""Jobs over REST: start, progress, result, cancel, and a server that is killed."""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from starlette.types import Message

from tests.universe.api.rest.processes import run_server_process
from tests.universe.api.rest.rest_server import SOON, create_universe, get_error, run_server
from universe.api.rest.job_routes import JobStream

SHORT = {"kind": "nbody", "days": 2, "bodies": ["trappist-1", "trappist-1-b"]}
LONG = {"kind": "nbody", "days": 36_525}


@pytest.fixture(scope="module")
def rest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with run_server(tmp_path_factory.mktemp("jobs"), heartbeat_s=0.2) as client:
        create_universe(client, **{"from": "trappist-1", "id": "t1"})
        yield client


def start_job(rest: httpx.Client, options: Any) -> str:
    answer = rest.post("/universes/t1/jobs", json=options, headers={"Uraniborg-Author": "Tycho"})
    assert answer.status_code == 202, answer.text
    assert answer.headers["Location"] == f"/universes/t1/jobs/{answer.json()['id']}"
    return answer.headers["Location"]


def read_events(rest: httpx.Client, location: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the events of a job until its end."""
    with rest.stream("GET", f"{location}/events", timeout=SOON) as stream:
        assert stream.headers["Content-Type"].startswith("text/event-stream")
        text = "".join(stream.iter_text())
    frames = [frame.split("\n") for frame in text.split("\n\n") if frame.startswith("event: ")]
    return [(head.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for head, data in frames]


@pytest.fixture(scope="module")
def done(rest: httpx.Client) -> str:
    """Return the address of a run that has ended."""
    location = start_job(rest, SHORT)
    assert read_events(rest, location)[-1][1]["state"] == "done"
    return location


def test_the_events_of_a_job_end_with_its_outcome(rest: httpx.Client) -> None:
    events = read_events(rest, start_job(rest, {"kind": "transits", "days": 3}))
    assert [name for name, _ in events[:-1]] == ["job"] * (len(events) - 1)
    name, job = events[-1]
    assert (name, job["state"], job["author"], job["progress"]) == ("end", "done", "Tycho (software)", 1.0)
    assert job["summary"]["method"] == "gauss"


def test_the_result_is_that_of_the_command_line(rest: httpx.Client, done: str) -> None:
    result = rest.get(f"{done}/result").json()
    assert {"verdict", "error", "errors", "trustworthy", "start", "end", "resonances"} <= result.keys()
    assert (result["id"], result["version"], result["bodies"]) == ("t1", 1, SHORT["bodies"])
    chart = rest.get(f"{done}/plot")
    assert chart.headers["Content-Type"].startswith("image/svg+xml")
    assert chart.text.startswith("<svg")


def test_the_chart_of_a_run_is_also_there_as_numbers(rest: httpx.Client, done: str) -> None:
    chart = rest.get(f"{done}/series").json()
    assert "error at most" in chart["footer"]
    panels = {panel["title"].split(",")[0]: panel for panel in chart["panels"]}
    assert {"eccentricity", "relative change of energy"} <= panels.keys()
    energy = panels["relative change of energy"]
    assert energy["xLabel"] == "days since the start"
    assert 0 < max(energy["series"][0]["y"]) < 10


def test_a_trajectory_is_read_in_pages_as_json_and_as_floats(rest: httpx.Client, done: str) -> None:
    page = rest.get(f"{done}/trajectory", params={"first": 10, "limit": 5}).json()
    assert (page["first"], page["returned"], page["next"]) == (10, 5, 15)
    assert (page["ids"], page["trustworthy"]) == (SHORT["bodies"], True)
    assert page["error"]["trappist-1-b"]["degrees"] < 1e-6
    floats = rest.get(f"{done}/trajectory", params={"first": 10, "limit": 5, "format": "float32"})
    assert floats.headers["Content-Type"] == "application/octet-stream"
    assert np.array_equal(np.frombuffer(floats.content, "<f4").reshape(5, 2, 6), np.float32(page["states"]))
    beyond = rest.get(f"{done}/trajectory", params={"first": 9_999_999}).json()
    assert (beyond["returned"], beyond["next"], beyond["states"]) == (0, None, [])


def test_jobs_are_listed_by_universe_by_state_and_in_pages(rest: httpx.Client, done: str) -> None:
    create_universe(rest, id="empty")
    assert rest.get("/universes/empty/jobs").json() == {"jobs": [], "next": None}
    other = start_job(rest, SHORT)
    read_events(rest, other)
    page = rest.get("/universes/t1/jobs", params={"limit": 1, "state": "done"}).json()
    assert f"/universes/t1/jobs/{page['jobs'][0]['id']}" == other
    following = rest.get("/jobs", params={"limit": 1, "cursor": page["next"]}).json()
    assert following["jobs"][0]["id"] != page["jobs"][0]["id"]
    compared = rest.get(f"{done}/comparison", params={"with": page["jobs"][0]["id"]})
    assert compared.status_code == 200, compared.text
    assert "differences" in compared.json()


def test_a_cancelled_job_has_no_result_and_can_be_deleted(rest: httpx.Client) -> None:
    location = start_job(rest, LONG)
    get_error(rest.get(f"{location}/result"), 409, "job_not_done")
    get_error(rest.delete(location), 409, "job_active")
    assert rest.post(f"{location}/cancel").json()["state"] == "cancelled"
    get_error(rest.post(f"{location}/cancel"), 409, "job_ended")
    assert read_events(rest, location)[-1][0] == "end"
    assert rest.delete(location).status_code == 204
    get_error(rest.get(location), 404, "job_not_found")


@pytest.mark.parametrize(
    ("options", "status", "code"),
    [
        ({"kind": "nbody", "days": "ten"}, 400, "malformed_request"),
        ({"kind": "spectrum"}, 400, "malformed_request"),
        ({}, 400, "malformed_request"),
        (None, 400, "malformed_request"),
        ({"kind": "rv", "observer": [1]}, 400, "malformed_request"),
        ({"kind": "transits", "bodies": ["vulcan"]}, 404, "not_found"),
        ({"kind": "rv", "version": 99}, 404, "version_not_found"),
    ],
)
def test_bad_options_are_refused(rest: httpx.Client, options: Any, status: int, code: str) -> None:
    get_error(rest.post("/universes/t1/jobs", json=options), status, code)


def test_the_event_loop_answers_while_jobs_are_computed(rest: httpx.Client) -> None:
    locations = [start_job(rest, LONG) for _ in range(3)]
    for _ in range(20):
        assert rest.get("/health").status_code == 200
    for location in locations:
        rest.post(f"{location}/cancel")


async def test_a_listener_that_reads_nothing_is_disconnected() -> None:
    ended: list[str] = []

    async def make_frames() -> AsyncGenerator[bytes]:
        try:
            while True:
                yield b": heartbeat\n\n"
        finally:
            ended.append("frames")

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)
        if len(sent) > 3:
            await asyncio.Event().wait()  # the buffers of the connection are full

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    frames = make_frames()
    async with asyncio.timeout(SOON):
        await JobStream(frames, 0.05)({"type": "http"}, receive, send)
    await frames.aclose()
    assert [message["type"] for message in sent] == ["http.response.start"] + ["http.response.body"] * 3
    assert ended == ["frames"]


def test_a_killed_server_leaves_a_failed_job_and_no_worker(tmp_path: Path) -> None:
    file = tmp_path / "universes.db"
    with run_server_process(file) as first, httpx.Client(base_url=first.url, timeout=SOON) as client:
        create_universe(client, **{"from": "trappist-1", "id": "t1"})
        location = start_job(client, LONG)
        done = start_job(client, SHORT)
        assert read_events(client, done)[-1][1]["state"] == "done"
        assert client.get(location).json()["state"] == "running"
        first.kill()
    with run_server_process(file) as second, httpx.Client(base_url=second.url, timeout=SOON) as client:
        job = client.get(location).json()
        assert (job["state"], job["error"]["code"]) == ("failed", "server_stopped")
        assert "the server stopped" in job["error"]["message"]
        assert client.get(done).json()["state"] == "done"
        assert "verdict" in client.get(f"{done}/result").json()
