"""Every claim of README.md and SECURITY.md is demonstrated by tests that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README: dict[str, list[str]] = {
    "No key and no model needed.": [
        "test_sources_that_need_no_key_are_on_by_default",
        "test_a_key_enables_the_source_that_needs_it",
        "test_sources_are_searched_concurrently",
    ],
    "Every source reports.": [
        "test_papers_of_all_sources_are_returned_with_a_report_for_each_source",
        "test_every_source_of_the_recording_reports",
        "test_progress_and_source_reports_are_on_stderr",
        "test_sources_that_failed_are_named_above_the_papers",
    ],
    "One paper, once.": [
        "test_preprint_and_journal_version_are_returned_as_one_paper",
        "test_every_source_record_is_listed_with_its_reason",
        "test_a_retracted_paper_is_found_and_marked_at_the_review_and_in_every_export",
        "test_a_search_result_reports_that_a_paper_is_retracted_and_filters_by_it",
    ],
    "You decide.": [
        "test_24_papers_4_marks_and_a_reject_end_with_all_but_the_excluded_ones",
        "test_decisions_with_reviewer_and_reason_are_stored_with_each_paper",
        "test_feedback_that_a_person_removed_is_not_used_again",
        "test_a_review_of_two_rounds_ends_in_citations_and_loses_nothing",
    ],
    "The log adds up.": [
        "test_the_log_of_any_session_adds_up_and_no_paper_is_lost",
        "test_the_flow_sums_all_rounds_and_every_box_is_the_sum_of_its_parts",
        "test_the_diagram_has_every_box_of_the_flow",
    ],
    "It can be repeated.": ["test_a_replay_gives_the_same_bytes_every_time"],
    "From a folder to a shelf in one command.": [
        "test_broken_files_are_reported_with_reasons_and_the_others_are_added",
        "test_a_folder_of_all_formats_gives_the_same_shelf_after_any_number_of_updates",
    ],
    "Ids and citation keys stay.": [
        "test_ids_survive_a_title_fix_and_a_new_doi_in_a_rebuild",
        "test_the_keys_of_a_search_equal_those_of_its_bibtex_even_if_papers_share_a_key",
    ],
    "Every text is a valid query.": [
        "test_no_query_is_an_error_and_the_reply_has_its_interpretation",
        "test_quality",
    ],
    "Made for agents.": [
        "test_a_hit_has_its_matched_fields_and_the_offset_of_the_passage",
        "test_a_long_section_is_continued_at_the_offset_of_the_marker",
    ],
    "Read-only.": [
        "test_requests_without_pause_see_the_old_shelf_and_then_the_new_one",
        "test_a_damaged_shelf_is_never_reported_as_intact",
    ],
    "Commands are the only way to change anything.": [
        "test_all_listeners_receive_the_same_in_the_same_order",
        "test_64_clients_lose_nothing_double_nothing_and_all_listeners_see_one_order",
        "test_a_field_that_no_entity_has_is_an_error_with_the_nearest",
    ],
    "Nothing is lost.": [
        "test_every_entry_that_was_acknowledged_survives_sigkill_at_any_instant",
        "test_undo_restore_and_branch_lead_to_the_stated_version",
        "test_verify_names_the_entry_with_a_flipped_byte_and_exits_with_4",
        "test_entries_that_a_damaged_write_ahead_log_lost_are_reported",
    ],
    "Live.": [
        "test_a_listener_that_leaves_and_comes_back_again_and_again_misses_nothing_and_receives_nothing_twice",
        "test_a_listener_receives_the_changes_of_a_process_that_alone_writes",
    ],
    "Answers with their error.": [
        "test_a_transiting_system_starts_as_rebound_starts_it",
        "test_the_default_method_ends_where_ias15_does_and_knows_its_error",
        "test_a_chaotic_run_that_is_wrong_is_never_trustworthy",
        "test_all_five_laplace_angles_of_trappist_1_librate_over_ten_years",
        "test_rebound_ends_where_this_program_does",
    ],
    "Every number has a source or an author.": [
        "test_every_number_of_every_body_is_covered_by_a_source",
        "test_no_value_carries_a_source_that_does_not_support_it",
        "test_a_location_without_this_number_for_this_body_leaves_an_unverified_claim",
    ],
    "Real orbits.": [
        "test_moons_and_ceres_are_where_jpl_has_them",
        "test_positions_and_velocities_are_those_of_rebound",
        "test_full_and_grazing_transits_and_misses_are_distinguished",
        "test_the_star_recedes_before_a_transit_and_approaches_after_it",
        "test_the_habitable_zone_of_the_sun_is_that_of_kopparapu_et_al_2014",
        "test_a_seed_always_gives_the_same_universe",
    ],
    "A workflow is a small JSON file.": [
        "test_a_dotted_name_that_is_neither_an_input_nor_a_node_is_an_error",
        "test_an_example_is_valid_without_warnings",
    ],
    "No finished effect is repeated.": [
        "test_no_effect_is_missing_or_repeated_after_kills_at_random_instants",
        "test_no_effect_is_missing_or_repeated_after_many_kills",
        "test_a_success_is_either_logged_and_not_resumed_or_resumed_without_an_effect_repeated",
    ],
    "Values are never code.": [
        "test_a_value_used_as_a_program_is_refused_before_anything_runs",
        "test_hostile_values_do_nothing_but_arrive",
        "test_a_secret_that_nodes_echo_and_fail_with_is_in_no_file_and_no_reply",
    ],
    "Many node types.": [
        "test_every_shipped_example_is_run_by_a_test_of_this_file",
        "test_a_worker_that_is_killed_in_the_middle_of_a_batch_costs_nothing_but_time",
    ],
    "On a schedule.": [
        "test_a_systemd_timer_is_installed_listed_and_removed",
        "test_an_installed_cron_line_runs_the_workflow",
        "test_a_launchd_agent_is_installed_listed_and_removed",
    ],
}
SECURITY: dict[str, list[str]] = {
    "A bundle that contradicts itself does not pass.": [
        "test_a_forged_bundle_does_not_match",
        "test_a_genuine_bundle_has_no_difference_after_its_digests_are_written_anew",
        "test_the_exit_code_tells_all_matched_some_not_checked_and_differs_apart",
    ],
    "Nothing in a bundle is executed or unpacked.": [
        "test_only_pure_nodes_of_a_bundle_are_run",
        "test_paths_that_leave_a_zip_are_refused",
        "test_links_bombs_repeated_names_and_other_files_are_refused",
    ],
    "A signature covers every file.": [
        "test_bytes_that_were_changed_after_the_signature_are_a_difference_whatever_their_digests_say",
        "test_a_file_that_was_added_renamed_or_deleted_breaks_the_signature",
        "test_another_key_and_no_signature_are_differences_if_a_key_is_required",
    ],
    "A key goes only where you send it.": [
        "test_no_part_takes_an_address_or_a_folder_from_a_dotenv_file",
        "test_a_dotenv_file_cannot_set_folders_or_addresses",
        "test_a_provider_in_a_dotenv_file_does_not_get_a_key_of_another_origin",
        "test_a_key_is_sent_where_the_source_expects_it",
        "test_a_key_is_never_given_to_a_model_at_another_address",
    ],
    "A child process inherits no key.": [
        "test_children_inherit_no_key",
        "test_a_server_gets_the_variables_of_its_configuration_and_its_replies_are_masked",
    ],
    "A secret is masked in replies, logs, run records and checkpoints.": [
        "test_keys_that_a_child_reads_from_our_own_process_are_masked",
        "test_a_secret_that_nodes_echo_and_fail_with_is_in_no_file_and_no_reply",
        "test_a_secret_of_a_run_is_masked_in_every_log_record_while_it_lasts_and_no_longer",
        "test_a_secret_in_an_address_is_masked",
        "test_a_key_stays_out_of_the_log",
    ],
    "There is no telemetry.": [
        "test_commands_contact_nothing_that_you_did_not_ask_for",
        "test_the_demo_of_the_wheel_runs_and_contacts_nothing_outside",
    ],
    "Files that the product creates are yours alone.": [
        "test_the_inbox_is_private_and_repaired",
        "test_sessions_and_reviews_are_private_and_repaired",
        "test_the_cache_is_private_and_repaired",
        "test_universes_are_private_and_repaired",
        "test_workflows_runs_and_checkpoints_are_private_and_repaired",
        "test_a_shelf_is_private_under_any_umask",
        "test_an_export_into_an_existing_folder_or_file_leaves_their_access_as_it_is",
    ],
    "A build reads only what you named.": [
        "test_links_that_lead_out_of_the_inputs_are_skipped_and_reported",
        "test_pipes_sockets_and_devices_are_skipped_without_blocking",
        "test_folders_of_the_operating_system_are_skipped_even_if_they_are_named",
        "test_an_unreadable_file_is_reported_and_the_others_are_read",
    ],
    "Names are not paths.": [
        "test_no_path_ever_leaves_its_folder",
        "test_a_name_that_climbs_is_refused_and_nothing_of_it_is_repeated",
        "test_a_name_is_never_a_path",
    ],
    "Foreign text is data.": [
        "test_entity_declarations_are_refused_and_nothing_outside_is_fetched",
        "test_rendered_markdown_has_no_active_content",
        "test_escape_codes_in_a_title_are_not_printed",
        "test_a_domain_is_never_looked_up_in_the_environment",
    ],
    "Foreign text is marked for agents.": [
        "test_every_reply_with_foreign_text_is_marked_and_no_other",
        "test_foreign_text_is_verbatim_in_a_block_that_names_its_origin",
        "test_the_instructions_of_a_server_explain_the_mark",
    ],
    "Values are never code.": README["Values are never code."],
    "Servers listen on loopback": ["test_servers_listen_on_loopback_unless_another_address_is_given"],
    "Every HTTP request is checked before it is answered.": [
        "test_a_foreign_origin_is_refused_everywhere",
        "test_another_site_may_link_to_pages_and_reaches_nothing_else",
        "test_a_body_that_is_not_json_is_415",
        "test_two_hosts_are_refused",
        "test_both_servers_answer_a_preflight_alike",
    ],
    "Every port of `uraniborg serve` asks for a credential.": [
        "test_every_port_asks_for_a_credential",
        "test_the_credential_of_an_agent_does_not_open_the_api",
        "test_an_agent_with_its_credential_and_a_program_with_the_token_are_admitted",
    ],
    "Unix sockets are for your account alone.": [
        "test_another_account_cannot_connect",
        "test_a_socket_is_private_in_a_private_folder_under_any_umask",
        "test_every_socket_asks_for_a_credential",
        "test_an_agent_at_a_socket_is_recorded_with_its_credential",
        "test_the_socket_of_a_server_that_listens_is_not_taken",
    ],
    "The console uses no cookies.": [
        "test_a_server_on_another_port_gets_nothing_that_works_at_ours",
        "test_the_token_is_exchanged_for_a_key_that_no_browser_sends_by_itself",
        "test_a_key_ends_after_thirty_days",
        "test_signing_out_everywhere_ends_the_sign_in_of_every_browser",
    ],
    "Wrong tokens lock nobody out.": ["test_many_wrong_tokens_lock_nobody_out"],
    "A server that is busy with idle connections still answers.": [
        "test_eleven_hundred_half_open_connections_do_not_keep_a_request_out",
        "test_headers_are_limited_before_the_token_is_looked_at",
    ],
    "A search waits for a decision.": [
        "test_a_search_waits_for_its_decision_and_receives_the_same_object",
        "test_a_decision_is_recorded_with_its_door_its_claimed_author_and_its_time",
    ],
    "A setting refuses decisions of agents.": [
        "test_only_a_person_decides_if_the_setting_demands_it",
        "test_inputs_never_approve",
        "test_another_word_decides_nothing_and_piped_input_is_not_read",
        "test_a_process_without_a_terminal_is_refused",
        "test_the_environment_does_not_overrule_a_settings_file_that_demands_a_person",
        "test_a_program_with_the_token_does_not_decide_if_a_person_is_demanded",
        "test_a_setting_is_changed_in_the_file_and_removed_again",
    ],
    "The token alone then signs in nobody.": [
        "test_where_a_person_must_decide_a_code_from_the_terminal_signs_in_once",
        "test_a_text_for_the_terminal_reaches_it_and_no_pipe",
        "test_a_program_with_the_token_does_not_decide_if_a_person_is_demanded",
    ],
    "Changes that leave no other record are in a log.": [
        "test_a_change_is_stored_with_its_time_its_actor_and_what_was_changed",
        "test_connecting_and_removing_a_client_is_recorded",
        "test_sign_ins_and_sign_outs_are_in_the_log_of_changes",
        "test_the_log_of_changes_says_who_deleted_a_job_and_a_universe",
        "test_who_deleted_a_session_is_in_the_log_of_changes",
        "test_who_deleted_the_expired_sessions_is_in_the_log_of_changes",
        "test_the_log_is_part_of_a_backup_and_states_the_restore",
        "test_a_command_deletes_although_the_log_cannot_be_written_and_says_so",
    ],
    "No name reads as another kind of actor.": [
        "test_no_name_reads_as_another_kind_of_actor",
        "test_a_description_has_one_kind_and_one_name",
    ],
    "An answered command of a universe survives `kill -9`.": [
        "test_every_entry_that_was_acknowledged_survives_sigkill_at_any_instant",
        "test_a_kill_during_writes_loses_no_acknowledged_decision",
        "test_no_effect_is_missing_or_repeated_after_kills_at_random_instants",
    ],
    "A log that lost its end is reported.": [
        "test_entries_that_a_damaged_write_ahead_log_lost_are_reported",
        "test_an_older_copy_put_back_is_reported_until_it_is_accepted",
    ],
    "Data of a newer version is refused": [
        "test_a_newer_session_is_refused_and_the_others_resume",
        "test_newer_universes_are_refused",
        "test_a_newer_resume_point_is_refused_and_no_effect_is_repeated",
        "test_universes_are_copied_before_they_are_migrated",
    ],
}
KILLED = ["test_killing_the_server_at_any_time_loses_nothing_and_repeats_nothing"]


@pytest.fixture(scope="module")
def test_names() -> set[str]:
    """Return the names of all test functions and test files."""
    found = {path.stem for path in (ROOT / "tests").rglob("test_*.py")}
    for path in (ROOT / "tests").rglob("test_*.py"):
        found.update(re.findall(r"def (test_\w+)", path.read_text(encoding="utf-8")))
    return found


@pytest.mark.parametrize(("page", "claims"), [("README.md", README), ("SECURITY.md", SECURITY)])
def test_every_claim_has_tests_that_demonstrate_it(
    page: str, claims: dict[str, list[str]], test_names: set[str]
) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    claimed = re.findall(r"^- \*\*(.+?)\*\*", text, re.MULTILINE)
    assert sorted(claimed) == sorted(claims)
    named = [name for tests in (*claims.values(), KILLED) for name in tests]
    assert [name for name in named if name not in test_names] == []
