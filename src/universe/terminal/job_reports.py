"""Print jobs: a list, and one job with its summary."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from universe.terminal.actors import format_actor, format_author
from uraniborg.kernel.terminal.page import Page
from uraniborg.kernel.terminal.styled_text import BOLD, StyledText

_ID_CHARS: Final = 12
"""The first characters of an id, which commands accept."""


def print_jobs(found: Sequence[Mapping[str, Any]]) -> None:
    """Print a table of jobs."""
    page = Page()
    if not found:
        page.write_line("There are no jobs. Servers start them: POST /universes/{id}/jobs")
        return
    rows = [
        (
            job["id"][:_ID_CHARS],
            f"{job['universeId']}@{job['version']}",
            job["kind"],
            format_job_state(job),
            format_author(job),
            format_job_outcome(job),
        )
        for job in found
    ]
    headings = ("job", "universe", "kind", "state", "started by", "outcome")
    page.write_table(rows, headings=headings, indent=0, last_cell="wrapped", inner_cells="wrapped")


def print_job(job: Mapping[str, Any]) -> None:
    """Print one job: what was computed, how it went, and the verdict or the error."""
    page = Page()
    days = job["options"].get("days", 0.0)
    cancelled = f"; cancelled by {format_actor(job['cancelledBy'])}" if job["cancelledBy"] else ""
    page.write_line(StyledText(BOLD, job["id"]), f": {job['kind']}, {format_job_state(job)}")
    page.write_paragraph(
        f"Universe {job['universeId']} at version {job['version']:,}, {days:,.10g} days; "
        f"started by {format_author(job)} at {job['createdAt']}{cancelled}."
    )
    summary: Mapping[str, Any] = job["summary"] or {}
    for text in (format_job_outcome(job), str(summary.get("verdict") or "")):
        if text:
            page.write_paragraph(text)


def format_job_state(job: Mapping[str, Any]) -> str:
    """Return the state of a job, with the percentage done while it is computed."""
    return f"running, {100 * job['progress']:.0f} %" if job["state"] == "running" else str(job["state"])


def format_job_outcome(job: Mapping[str, Any]) -> str:
    """Return the headline of a result or the message of an error; an empty text before the end."""
    if job["error"]:
        return str(job["error"]["message"])
    summary: Mapping[str, Any] = job["summary"] or {}
    return str(summary.get("headline", ""))
