"""The order of stored jobs: that in which they were added and ended, whatever the clock said."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from universe.service.jobs.job_store import JobStore, StoredJob
from universe.service.jobs.options_and_replies import JobError

ERROR: JobError = {"code": "stopped", "message": "stopped", "hint": "Start it again."}
JUMPING = ["2026-03-01T00:00:00.000000Z", "2026-03-02T00:00:00.000000Z", "2020-01-01T00:00:00.000000Z"]
"""The times of three jobs between which the clock is set back."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[JobStore]:
    opened = JobStore(tmp_path / "universes.jobs")
    yield opened
    opened.close()


def add_and_end(store: JobStore, name: str, at: str) -> None:
    job = StoredJob(name, "t1", 1, "nbody", {}, "Ada", at, "owner")
    assert store.add(job)
    assert store.fail(name, at, ERROR)


def list_ids(store: JobStore, before: tuple[str, str] | None = None, limit: int = 10) -> list[str]:
    return [job.id for job in store.list_jobs("t1", limit=limit, before=before)]


def test_the_newest_job_is_listed_first_and_never_evicted_after_the_clock_was_set_back(store: JobStore) -> None:
    for name, at in zip("abc", JUMPING, strict=True):
        add_and_end(store, name, at)
    assert list_ids(store) == ["c", "b", "a"]
    assert {job.id for job in store.delete_oldest(1)} == {"a", "b"}
    assert list_ids(store) == ["c"]


def test_pages_follow_each_other(store: JobStore) -> None:
    for name, at in zip("abc", JUMPING, strict=True):
        add_and_end(store, name, at)
    assert list_ids(store, (JUMPING[2], "c")) == ["b", "a"]
    assert list_ids(store, (JUMPING[1], "b")) == ["a"]
    assert list_ids(store, ("2019", "z")) == []


def test_a_page_follows_also_if_the_last_job_of_the_page_before_was_deleted(store: JobStore) -> None:
    for name, at in zip("abc", sorted(JUMPING), strict=True):
        add_and_end(store, name, at)
    store.delete("b")
    assert list_ids(store, (sorted(JUMPING)[1], "b")) == ["a"]


def test_jobs_of_an_earlier_version_keep_their_order_and_new_ones_come_after_them(tmp_path: Path) -> None:
    path = tmp_path / "universes.jobs"
    with closing(JobStore(path)) as store:
        for name, at in zip("abc", sorted(JUMPING), strict=True):
            add_and_end(store, name, at)
    with closing(sqlite3.connect(path)) as connection:
        for index in ("jobs_by_universe", "jobs_by_number", "jobs_by_end"):
            connection.execute(f"DROP INDEX {index}")
        connection.execute("CREATE INDEX jobs_by_universe ON jobs (universe_id, created_at, id)")
        connection.execute("ALTER TABLE jobs DROP COLUMN number")
        connection.execute("ALTER TABLE jobs DROP COLUMN ended")
        connection.execute("DELETE FROM migrations WHERE name = 'jobs-5'")
        connection.commit()
    with closing(JobStore(path)) as store:
        assert list_ids(store) == ["c", "b", "a"]
        add_and_end(store, "d", "2000-01-01T00:00:00.000000Z")
        assert list_ids(store) == ["d", "c", "b", "a"]
        assert {job.id for job in store.delete_oldest(2)} == {"a", "b"}
