"""Print jobs: a list, and one job with its summary."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.table import Table

from universe.terminal.actors import format_actor, format_author
from universe.terminal.console import escape_text, make_console
from uraniborg.kernel.paragraphs import print_paragraph

_ID_CHARS: Final = 12
"""The first characters of an id, which commands accept."""


def print_jobs(found: Sequence[Mapping[str, Any]]) -> None:
    console = make_console()
    if not found:
        console.print("There are no jobs. Servers start them: POST /universes/{id}/jobs")
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("job", "universe", "kind", "state", "started by", "outcome"):
        table.add_column(name, no_wrap=name == "job")
    for job in found:
        table.add_row(
            escape_text(job["id"][:_ID_CHARS]),
            escape_text(f"{job['universeId']}@{job['version']}"),
            job["kind"],
            format_job_state(job),
            format_author(job),
            escape_text(format_job_outcome(job)),
        )
    console.print(table)


def print_job(job: Mapping[str, Any]) -> None:
    """Print one job: what was computed, how it went, and the verdict or the error."""
    console = make_console()
    days = job["options"].get("days", 0.0)
    cancelled = f"; cancelled by {format_actor(job['cancelledBy'])}" if job["cancelledBy"] else ""
    console.print(f"[bold]{escape_text(job['id'])}[/bold]: {job['kind']}, {format_job_state(job)}")
    print_paragraph(
        console,
        "",
        f"Universe {escape_text(job['universeId'])} at version {job['version']:,}, {days:,.10g} days; "
        f"started by {format_author(job)} at {job['createdAt']}{cancelled}.",
    )
    summary: Mapping[str, Any] = job["summary"] or {}
    for text in (format_job_outcome(job), str(summary.get("verdict") or "")):
        if text:
            print_paragraph(console, "", escape_text(text))


def format_job_state(job: Mapping[str, Any]) -> str:
    """Return the state of a job, with the percentage done while it is computed."""
    return f"running, {100 * job['progress']:.0f} %" if job["state"] == "running" else str(job["state"])


def format_job_outcome(job: Mapping[str, Any]) -> str:
    """Return the headline of a result or the message of an error; an empty text before the end."""
    if job["error"]:
        return str(job["error"]["message"])
    summary: Mapping[str, Any] = job["summary"] or {}
    return str(summary.get("headline", ""))
