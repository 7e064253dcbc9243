"""Tests of the one-line reason for a score."""

from tests.paper_search.domain.relevance.sample_papers import make_intent, make_paper, score_pool

WANTED = make_intent("efficiency of perovskite solar cells", "perovskite", "solar cells", "efficiency")


def get_reason(title: str, abstract: str | None = None, **fields: object) -> str:
    return score_pool([make_paper(title, abstract, **fields)], WANTED)[0].relevance_reason


def test_the_reason_names_the_matches_and_their_fields() -> None:
    assert get_reason("Perovskite solar cells", "Their efficiency grew.", citation_count=4312) == (
        "title: perovskite, solar cells; abstract: efficiency; cited 4,312 times"
    )


def test_a_concept_is_named_for_the_field_that_contains_all_of_it() -> None:
    assert get_reason("Solar power", "Perovskite cells") == "title: solar; abstract: perovskite, cells"


def test_matches_of_the_title_are_not_repeated_for_the_abstract() -> None:
    assert get_reason("Perovskite", "Perovskite everywhere.") == "title: perovskite"


def test_a_match_in_the_venue_is_named() -> None:
    assert get_reason("A note", venue="Journal of Solar Efficiency") == "venue: efficiency, solar"


def test_no_match_is_stated_plainly() -> None:
    assert get_reason("Whales", "They sing.") == "no query word in title or abstract"
    assert get_reason("Whales") == "no query word in title, no abstract"


def test_one_citation_is_one_time() -> None:
    assert get_reason("Perovskite", citation_count=1) == "title: perovskite; cited 1 time"


def test_a_long_list_of_matches_is_cut_short() -> None:
    wanted = make_intent("alpha bravo charlie delta echo foxtrot golf hotel")
    found = score_pool([make_paper("Alpha bravo charlie delta echo foxtrot golf hotel")], wanted)[0]
    assert found.relevance_reason == "title: alpha, bravo, charlie, delta, echo, foxtrot, 2 more"


def test_a_concept_keeps_the_case_it_was_written_in() -> None:
    assert score_pool([make_paper("BERT for names")], make_intent("BERT", "BERT"))[0].relevance_reason == "title: BERT"


def test_the_first_20_000_characters_of_an_abstract_are_read() -> None:
    before = "x" * (20_000 - len(" alpha")) + " "
    within, beyond = make_paper("Whales", f"{before}alpha"), make_paper("Whales", f"x{before}alpha")
    reasons = [one.relevance_reason for one in score_pool([within, beyond], make_intent("alpha"))]
    assert reasons == ["abstract: alpha", "no query word in title or abstract"]
