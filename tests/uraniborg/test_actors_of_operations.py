"""Every operation of the services that changes something takes an actor; the tests list all others."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from paper_library.service.build.builder import build_shelf
from paper_library.service.library import Library
from paper_library.service.shelf_catalog import remember_shelf, sample_shelf
from paper_library.store.paper_notes import PaperNotes
from paper_search.service.new_searches import copy_for_another_round, start_another_round
from paper_search.service.review.session_review import SessionReview
from paper_search.service.sessions import SessionManager
from paper_search.store.saved_marks import MarkStore
from pflow.service.installed_schedules import install_job, remove_schedule, schedule_workflow
from pflow.service.operations import Service
from pflow.service.remote_mcp_servers import add_server, remove_server
from pflow.service.workflow_texts import WorkflowTexts
from uraniborg.connect.client_file import ClientFileChange
from uraniborg.console.sign_ins import SignIns
from uraniborg.console.workers.run_workers import RunWorkers
from uraniborg.console.workers.shelf_builds import ShelfBuilds
from uraniborg.installation.backup import restore_backup, write_backup
from uraniborg.installation.folders_and_settings import change_setting
from uraniborg.servers.credentials import AgentCredentials

SERVICES = [
    (
        SessionManager,
        {
            *("get", "get_state", "get_result", "get_papers", "get_removed_papers", "get_export_page", "get_queries"),
            *("get_export_summary", "get_collection", "get_pending_checkpoint", "peek_state", "list_sessions"),
            *("resolve_id_prefix", "wait_until_passed"),
            *(
                "run_sessions_decided_from_now_on",
                "unload_idle",
                "park_idle",
                "aclose",
            ),  # where a session runs: its content stays, and the decision that moves it has its actor
        },
    ),
    (
        SessionReview,
        {
            *("list_papers", "get_paper", "list_reasons", "list_exclusions", "get_flow", "get_visible_collection"),
            *("export_papers", "list_corrections"),
        },
    ),
    (
        MarkStore,
        {
            *("load", "collect"),
            "delete_sent",  # part of a decision, which has an actor
        },
    ),
    (
        Service,
        {
            *("browse_components", "list_library", "list_drafts", "list_problems", "find_mentions", "find_workflow"),
            *("describe_workflow", "describe_graph", "describe_found_workflow", "plan_run", "check_document"),
        },
    ),
    (WorkflowTexts, {"read_draft", "read_draft_text", "list_writers"}),
    (PaperNotes, {"read_note", "read_all"}),
    (ShelfBuilds, {"get", "stop"}),
    (
        RunWorkers,
        {
            *("resume_decided_runs", "resume_decided", "resumes_when_decided"),  # with the actor of the request
            "stop",
        },
    ),
    (
        SignIns,
        {
            *("find_actor", "find_sign_in", "is_renewal_due", "is_token"),
            *("sign_in", "renew"),  # who signs in becomes the actor
            "offer_code",  # stores nothing: the code is at the terminal, and the sign-in with it is recorded
        },
    ),
    (AgentCredentials, {"find_client"}),
    (ClientFileChange, {"format_diff"}),
]
FUNCTIONS = [
    *(start_another_round, copy_for_another_round),
    *(build_shelf, sample_shelf, remember_shelf),
    *(schedule_workflow, install_job, remove_schedule, add_server, remove_server),
    *(change_setting, write_backup, restore_backup),
]


def has_actor(operation: Callable[..., Any]) -> bool:
    return "actor" in inspect.signature(operation).parameters


@pytest.mark.parametrize(("service", "others"), SERVICES, ids=lambda one: getattr(one, "__name__", ""))
def test_each_operation_that_changes_something_takes_an_actor(service: type, others: set[str]) -> None:
    operations = {
        name: method
        for name, method in inspect.getmembers(service, inspect.isfunction)
        if not name.startswith("_") and name in vars(service)
    }
    assert {name for name, method in operations.items() if not has_actor(method)} == others


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_each_function_that_changes_something_takes_an_actor(function: Callable[..., Any]) -> None:
    assert has_actor(function)


def test_a_library_only_reads() -> None:
    verbs = ("add", "change", "delete", "write", "remove", "set", "forget", "save")
    assert not [name for name in vars(Library) if name.startswith(verbs)]
