"""Tests of feedback that is read for the next round."""

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_search.domain.field_profiles import get_domain
from paper_search.domain.intent.feedback import extract_wanted_words, read_feedback, read_text
from paper_search.domain.intent.reading import Direction
from paper_search.domain.intent.vocabulary import Vocabulary
from paper_search.models import SearchConstraints, UserFeedback
from tests.paper_search.domain.intent.feedback_sentences import find_misreadings, is_understood, list_half

VOCABULARY = Vocabulary(get_domain("general").synonyms)
TODAY = date(2024, 6, 15)
WIDER, NARROWER, MORE, FEWER = Direction


@pytest.mark.parametrize("half", ["tuning", "check"])
def test_no_sentence_in_ten_languages_changes_what_it_does_not_ask_for(half: str) -> None:
    rows = list_half(half)
    understood = sum(map(is_understood, rows))
    print(f"{half}: {understood} of {len(rows)} sentences understood")
    assert [(row["text"], wrong) for row in rows if (wrong := find_misreadings(row))] == []
    assert understood >= 0.75 * len(rows)


def test_the_sentences_are_sixty_in_ten_languages_and_three_tones() -> None:
    rows = list_half("all")
    assert len({row["text"] for row in rows}) == 60
    assert len({(row["language"], row["tone"]) for row in rows}) == 30


@pytest.mark.parametrize(
    "statement",
    [
        "These are not about cancer",
        "The others do not discuss children",
        "None of these papers is about cancer",
        "not only Algol",
        "nothing is missing, only look for newer papers",
        "Die anderen Arbeiten behandeln keine Kinder",
        "Es geht nicht um Krebs",
        "drugs are irrelevant",
        "papers about drugs are not relevant",
        "too many surveys",
        "too theoretical",
        "less theory",
        "nothing on toxicity!",
        "no papers on toxicity",
        "toxicity",
        "newer",
        "recent papers",
        "do not exclude reviews",
        "Do not, under any circumstances, exclude reviews",
        "If there are too many, exclude reviews",
        "exclude reviews, unless they are new",
        "exclude reviews unless they are new",
        "sauf les revues",
        "ajoute les souris, sauf les revues",
        "no reviews?",
        "Should we exclude reviews?",
        "exclude search and rescue",
        "exclude old papers",
        "exclude irrelevant papers",
        "exclude German papers",
        "remove duplicates",
        "drop the first two",
        "exclude nothing",
        "exclude papers with fewer than 10 citations",
        "exclude methods",
        "without success",
        "without looking further",
        "sans doute",
        "sans chercher",
        "no entiendo",
        "no good",
        "no idea",
        "Keine Ahnung",
        "SEM images",
        "NO synthase",
        "drop coalescence",
        "skip connections",
        "cover crops",
        "This was a mistake in 2019",
        'Anna wrote "exclude reviews"',
        "transformers instead of recurrent networks",
        "Please add:\n-toxicity\n-solubility",
    ],
)
def test_a_statement_changes_nothing_and_every_clause_of_it_is_listed(statement: str) -> None:
    reading = read_text(statement, VOCABULARY, TODAY)
    assert not reading.has_content
    assert sum(map(len, reading.unused)) > len(statement) / 2


@pytest.mark.parametrize(
    ("feedback", "wanted", "unwanted"),
    [
        ("not enough on evaluation", ["evaluation"], []),
        ("missing: toxicity", ["toxicity"], []),
        ("more on uncertainty", ["uncertainty"], []),
        ("more on language models", ["language models"], []),
        ("focus on 3D structures", ["3D structures"], []),
        ("also papers about stellar flares, please", ["stellar flares"], []),
        ("Could you add mice and rats?", ["mice", "rats"], []),
        ("add toxicity; exclude reviews", ["toxicity"], ["reviews"]),
        ("no reviews please", [], ["reviews"]),
        ("No more reviews!", [], ["reviews"]),
        ("without mice", [], ["mice"]),
        ("-mice -rats", [], ["mice", "rats"]),
        ("leave mice out", [], ["mice"]),
        ("I don't want proteins", [], ["proteins"]),
        ("exclude patents", [], ["patents"]),
        ("exclude reviews, editorials and letters", [], ["reviews", "editorials", "letters"]),
        ("exclude: zebrafish, yeast", [], ["zebrafish", "yeast"]),
        ("exclude mice and add rats", ["rats"], ["mice"]),
        ("more on solubility, but no reviews", ["solubility"], ["reviews"]),
        ('exclude "search and rescue"', [], ["search and rescue"]),
        ("- add ice\n- exclude mice", ["ice"], ["mice"]),
        ("add ice, exclude ice", [], ["ice"]),
        ("Schließe Mäuse aus und nimm auch Ratten auf", ["Ratten"], ["Mäuse"]),
        ("ok", [], []),
        ("great, thanks!", [], []),
        ("", [], []),
    ],
)
def test_terms_are_added_and_excluded_where_a_phrase_asks_for_it(
    feedback: str, wanted: list[str], unwanted: list[str]
) -> None:
    reading = read_text(feedback, VOCABULARY, TODAY)
    assert (reading.wanted, reading.unwanted, reading.unused) == (wanted, unwanted, [])


@pytest.mark.parametrize(
    ("feedback", "limits"),
    [
        ("only since 2022", {"year_from": 2022}),
        ("the last five years", {"year_from": 2019}),
        ("in German please", {"language": "de"}),
        ("show me at most 10 papers", {"max_results": 10}),
        ("exclude papers before 2015", {"year_from": 2015}),
        ("Drop the year limit.", {"year_from": None, "year_to": None}),
        ("remove the year limit", {"year_from": None, "year_to": None}),
        ("remove the language restriction", {"language": None}),
        ("Die Jahresgrenze aufheben", {"year_from": None, "year_to": None}),
    ],
)
def test_limits_in_feedback_are_limits_and_not_words(feedback: str, limits: dict[str, int | str | None]) -> None:
    reading = read_text(feedback, VOCABULARY, TODAY)
    assert reading.limits == limits
    assert reading.wanted == reading.unwanted == reading.unused == []


def test_the_phrases_of_the_guide_are_used() -> None:
    guide = Path(__file__).resolve().parents[4] / "docs" / "guides" / "give-feedback.md"
    table = guide.read_text(encoding="utf-8").split("| you write |")[1].split("\n\n")[0]
    phrases = [phrase for row in table.splitlines()[2:] for phrase in row.split("|")[1].split(";")]
    assert len(phrases) > 20
    readings = [read_text(phrase, VOCABULARY, TODAY) for phrase in phrases]
    assert [phrase for phrase, one in zip(phrases, readings, strict=True) if one.unused or not one.has_content] == []


def test_a_statement_beside_a_request_is_listed_and_the_request_is_read() -> None:
    reading = read_text("These are not about cancer. Drop the year limit.", VOCABULARY, TODAY)
    assert reading.limits == {"year_from": None, "year_to": None}
    assert reading.unused == ["These are not about cancer"]
    assert reading.wanted == reading.unwanted == []


@pytest.mark.parametrize(
    ("feedback", "directions"),
    [
        ("wider", [WIDER]),
        ("make it a bit wider", [WIDER]),
        ("The query is too strict", [WIDER]),
        ("loosen the criteria", [WIDER]),
        ("narrower", [NARROWER]),
        ("too broad", [NARROWER]),
        ("more papers", [MORE]),
        ("more of these, please", [MORE]),
        ("fewer results", [FEWER]),
        ("older adults", []),
        ("wider binaries", []),
        ("never narrower", []),
        ("do not make it wider", []),
        ("more moons", []),
    ],
)
def test_a_direction_is_a_clause_of_its_own(feedback: str, directions: list[Direction]) -> None:
    assert read_text(feedback, VOCABULARY, TODAY).directions == directions


def test_more_and_fewer_change_the_number_of_papers() -> None:
    limits = SearchConstraints(max_results=80)
    assert read_text("more", VOCABULARY, TODAY, limits).limits == {"max_results": 160}
    assert read_text("fewer", VOCABULARY, TODAY, limits).limits == {"max_results": 40}
    assert read_text("fewer papers, at most 10 papers", VOCABULARY, TODAY, limits).limits == {"max_results": 10}


def test_the_fields_of_feedback_win_over_its_text() -> None:
    feedback = UserFeedback.model_validate(
        {
            "free_text_feedback": "exclude reviews, add mice, since 2010",
            "add_terms": ["reviews"],
            "exclude_terms": ["mice"],
            "drop_limits": ["language"],
            "set_years": {"year_from": 2018, "year_to": None},
            "use_suggestions": ["tides"],
        }
    )
    reading = read_feedback([feedback], VOCABULARY, TODAY)
    assert (reading.wanted, reading.unwanted) == (["reviews"], ["mice"])
    assert reading.limits == {"year_from": 2018, "year_to": None, "language": None}
    assert reading.suggestions == ["tides"]


def test_later_feedback_overrides_earlier_feedback() -> None:
    texts = ["no reviews, more on ice", "add reviews", "exclude ice"]
    reading = read_feedback([UserFeedback(note=text) for text in texts], VOCABULARY, TODAY)
    assert (reading.wanted, reading.unwanted) == (["reviews"], ["ice"])
    years = [UserFeedback(note="since 2010"), UserFeedback(note="since 2015")]
    assert read_feedback(years, VOCABULARY, TODAY).limits == {"year_from": 2015}
    assert not read_feedback([], VOCABULARY, TODAY).has_content


def test_an_author_in_feedback_is_an_author_and_not_a_word() -> None:
    reading = read_text("only papers by Kepler", VOCABULARY, TODAY)
    assert reading.authors == ["Kepler"]
    assert reading.wanted == reading.unwanted == []


@pytest.mark.parametrize(
    ("feedback", "wanted"),
    [
        ("no reviews", ""),
        ("more on solubility, exclude theory", "solubility"),
        ("wider", ""),
        ("papers on sea ice are missing", ""),
        ("add papers on sea ice since 2020", "sea ice"),
    ],
)
def test_words_that_rank_papers_are_those_that_feedback_adds(feedback: str, wanted: str) -> None:
    assert extract_wanted_words(feedback) == wanted


@given(st.text(max_size=300))
def test_any_text_is_read_without_an_error(text: str) -> None:
    read_text(text, VOCABULARY, TODAY)
