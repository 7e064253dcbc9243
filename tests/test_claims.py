"""Every claim of the README about search and library is shown by tests that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CLAIMS: dict[str, list[str]] = {
    "No key and no model needed.": [
        "test_sources_that_need_no_key_are_on_by_default",
        "test_a_key_switches_on_what_needs_one",
        "test_sources_work_side_by_side",
    ],
    "Every source reports.": [
        "test_the_papers_of_all_sources_are_given_with_a_report_for_each",
        "test_every_source_of_the_recording_reports",
        "test_progress_and_source_reports_are_on_stderr",
        "test_sources_that_failed_are_named_above_the_papers",
    ],
    "One paper, once.": [
        "test_preprint_and_journal_version_come_back_as_one_paper",
        "test_every_source_record_is_kept_with_its_reason",
        "test_a_retracted_paper_is_found_and_marked_at_the_review_and_in_every_export",
        "test_a_search_result_says_that_a_paper_is_retracted_and_filters_by_it",
    ],
    "You decide.": [
        "test_24_papers_4_marks_and_a_reject_end_with_all_but_the_excluded_ones",
        "test_decisions_with_reviewer_and_reason_are_stored_with_each_paper",
        "test_feedback_that_a_person_edited_away_does_not_come_back",
        "test_a_review_of_two_rounds_ends_in_citations_and_loses_nothing",
    ],
    "The log adds up.": [
        "test_the_log_of_any_session_adds_up_and_no_paper_is_lost",
        "test_the_flow_sums_all_rounds_and_every_box_is_the_sum_of_its_parts",
        "test_the_diagram_has_every_box_of_the_flow",
    ],
    "It can be repeated.": ["test_a_replay_gives_the_same_bytes_every_time"],
    "From a folder to a shelf in one command.": [
        "test_broken_files_are_told_with_reasons_and_the_others_are_shelved",
        "test_a_folder_of_everything_is_the_same_shelf_after_any_number_of_updates",
    ],
    "Ids and citation keys stay.": [
        "test_ids_survive_a_title_fix_and_a_new_doi_in_a_rebuild",
        "test_the_keys_of_a_search_are_the_keys_of_its_bibtex_also_where_several_papers_give_one",
    ],
    "Any query is understood.": [
        "test_nothing_in_a_query_is_an_error_and_the_reply_says_how_it_was_read",
        "test_quality",
    ],
    "Made for agents.": [
        "test_a_hit_names_its_fields_and_the_offset_leads_to_the_passage_in_the_source",
        "test_a_long_section_is_cut_and_read_on_from_the_offset_of_the_marker",
    ],
    "Read-only.": [
        "test_requests_without_pause_see_the_old_shelf_and_then_the_new_one",
        "test_a_harmed_shelf_is_never_called_whole",
    ],
}
KILLED = ["test_killing_the_server_at_any_moment_loses_nothing_and_repeats_nothing"]


@pytest.fixture(scope="module")
def names() -> set[str]:
    """Return the names of all test functions and test files."""
    found = {path.stem for path in (ROOT / "tests").rglob("test_*.py")}
    for path in (ROOT / "tests").rglob("test_*.py"):
        found.update(re.findall(r"def (test_\w+)", path.read_text(encoding="utf-8")))
    return found


def claims_in(text: str) -> list[str]:
    start, end = text.index("## Search for papers"), text.index("## Test what they claim")
    return re.findall(r"^- \*\*(.+?)\*\*", text[start:end], re.MULTILINE)


def test_every_claim_about_search_and_library_has_its_tests(names: set[str]) -> None:
    claimed = claims_in((ROOT / "README.md").read_text(encoding="utf-8"))
    assert sorted(claimed) == sorted(CLAIMS)
    missing = [name for tests in (*CLAIMS.values(), KILLED) for name in tests if name not in names]
    assert missing == []
