"""Tests of typed queries: which texts are queries, and what is read beside them."""

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paper_search.domain.field_profiles import get_domain
from paper_search.domain.intent.intent_reader import read_intent
from paper_search.domain.intent.typed_queries import read_typed_query
from paper_search.domain.intent.vocabulary import Vocabulary
from paper_search.models import ParsedIntent

TODAY = date(2026, 6, 15)
VOCABULARY = Vocabulary(get_domain("general").synonyms)

TYPED = [
    # operators between operands
    "frogs AND chytrid",
    "turbine OR windmill",
    "basalt NOT lunar",
    "cats OR dogs AND behaviour",
    "kidney stones AND exercise",
    "quality of life AND glaucoma",
    "cost of illness AND stroke NOT haemorrhage",
    "E. coli OR yeast in bread",
    "HIV AND TB",
    "COVID-19 AND ICU",
    "vitamin A AND rickets",
    "type I error AND sample size",
    "comput* AND optimi*",
    "Gerechtigkeit AND Steuern",
    "量子 AND 計算",
    "benzo[a]pyrene AND mussels",
    "18:1 AND lipids",
    "10.1086/341477 AND moons",
    # brackets that group operators
    "(stem OR shoot) AND cancer",
    "((peat OR bog) AND carbon) OR permafrost",
    "(HEART OR CARDIAC) AND FAILURE",
    "(treatment OR therapy) AND the elderly",
    "maize AND (drought OR heat) NOT (model* OR simulation)",
    "（深度学习 OR 机器学习） AND 图像",
    # quotation marks without a sentence around them
    '"hate speech" AND danish',
    '"heat transfer" hypersonic',
    '"attention is all you need"',
    "“soil carbon” tillage",
    "„kalter Krieg“ OR Entspannung",
    "«vin jaune» levures",
    '"dark matter" "rotation curves" dwarfs',
    'Vaswani "attention is all you need"',
    'grit -"sand paper"',
    'risk NEAR/3 "bank failure"',
    "stem NEAR/3 cell",
    "stem ADJ3 cell*",
    "(breast cancer) (shift work)",
    # field tags
    "ti:graphene",
    'title:"graphene oxide" membranes',
    "TITLE:(malaria OR dengue)",
    "abs:exoplanet",
    "malaria[tiab]",
    '"Neoplasms"[MeSH Terms]',
    "asthma[Title/Abstract] AND inhaler[tw]",
    "statin*.ti,ab.",
    "migraine.mp. AND acupuncture.ti.",
    "TS=(urban AND heat)",
    "TITLE-ABS-KEY(urban AND heat)",
    "what[ti] AND works[ti]",
    # broken, and typed all the same
    "(stem AND (cancer OR",
    "stem AND OR cancer",
    "title:(…) AND [x]",
    '"tidal stream turbines',
    "stem OR shoot)",
    "AND cancer",
    "cancer AND",
    "() AND cancer",
    "NOT cancer",
    '-"polar bears"',
]

PLAIN = [
    # sentences and questions
    "what is the effect of sleep AND exercise on memory?",
    "Does exercise AND diet reduce weight in adults?",
    "How do AND gates work in memristor logic?",
    "the impact of sleep AND exercise on memory",
    "we study tides AND moons",
    "Why do cats AND dogs fight",
    'Does "deep sleep" AND exercise help memory?',
    # sentences that quote a phrase
    'papers about "attention is all you need" by Vaswani',
    'What did they mean by "grit" in education?',
    '"1984" as political allegory',
    'the history of "just in time" manufacturing',
    'who coined "nudge" first',
    "studies on “cold war” diplomacy in Africa",
    "the so-called 'hot hand' in basketball",
    "'sea ice' albedo",
    "children's reading habits",
    'pipe flow in 5" pipes',
    # brackets in prose
    "graph neural networks (GNN) for molecules",
    "(shift work)",
    "(cells) in mice (2nd edition)",
    "we study NEAR/3 in queries",
    "convolutional neural network (CNN)",
    "a) soil carbon b) tillage",
    "1) antibiotic resistance in wastewater 2) rivers",
    "tides on icy moons :)",
    "solid electrolytes) for batteries",
    "((solid electrolytes) for batteries",
    "glacier surges (from the last four years)",
    "benzo[a]pyrene in mussels",
    "[18F]FDG imaging of the heart",
    "- [ ] solid electrolytes\n- [x] lithium dendrites",
    # titles with colons
    "BERT: pre-training of deep bidirectional transformers",
    "Lost and found objects: psychology of search",
    "risk:benefit ratio of statins",
    "topic: dark energy",
    "title: a history of tides",
    "doi:10.1038/nature21360",
    "arXiv:1706.03762",
    # capitals
    "STEM CELLS AND CANCER THERAPY",
    "EFFECTS OF SLEEP AND DIET ON MEMORY",
    "TO BE OR NOT TO BE",
    "ATTENTION IS ALL YOU NEED",
    "WAR AND PEACE IN THE BALKANS",
    # operators in lower case, and words that contain them
    "cats and dogs",
    "black or white holes, not grey",
    "cats or dogs AND behaviour",
    "NAND flash memory",
    "ANDes ORogeny",
    "ice -glacier",
    "IL-6 and TNF-alpha in RA",
    # hints of plain words
    "author:Hinton nets",
    "venue:ICML nets",
    "year:2015-2018 sleep apnea",
    "lang:pt ice",
    "papers by Hinton since 2015",
    # other languages, requests with a number, states
    'effets du "sommeil paradoxal" sur la mémoire',
    '"Zeitgeist" der Philosophie',
    'top 20 papers "black ice"',
    "wildfire smoke Portland, OR",
    "adolescent mental health, last 5 years",
]

READ_BESIDE: list[tuple[str, str, tuple[int | None, int | None]]] = [
    ('"hate speech" AND danish since 2015', '"hate speech" AND danish', (2015, None)),
    ("(stem OR shoot) AND cancer, last 5 years", "(stem OR shoot) AND cancer", (2021, None)),
    ("malaria[tiab] AND child*[ti] since 2015", "malaria[tiab] AND child*[ti]", (2015, None)),
    ("malaria[tiab] AND children, 2010-2015", "malaria[tiab] AND children", (2010, 2015)),
    ("malaria AND nets AND FIRST_PDATE:[2010-01-01 TO 2012-12-31]", "malaria AND nets", (2010, 2012)),
    ("malaria AND children year:[2015 TO 2018]", "malaria AND children", (2015, 2018)),
    ("malaria AND children from 2015-01-01 to 2020-12-31", "malaria AND children", (2015, 2020)),
    ("malaria[tiab] AND 2015:2020[dp]", "malaria[tiab] AND 2015:2020[dp]", (2015, 2020)),
    ("since 2019: (stem OR shoot) AND cancer", "(stem OR shoot) AND cancer", (2019, None)),
    ("peat AND carbon (2012-2016)", "peat AND carbon", (2012, 2016)),
    ("peat AND (2012-2016) AND carbon", "peat AND carbon", (2012, 2016)),
    (
        "tidal AND (turbine OR barrage) NOT wave AND published after 2010",
        "tidal AND (turbine OR barrage) NOT wave",
        (2011, None),
    ),
    ("(peat AND carbon AND since 2015) OR bog", "(peat AND carbon) OR bog", (2015, None)),
    ("peat AND bog NOT before 2010", "peat AND bog", (2010, None)),
    ("“soil carbon” tillage since 2020", "“soil carbon” tillage", (2020, None)),
    ('"in the 1990s" OR "since 1990"', '"in the 1990s" OR "since 1990"', (None, None)),
    ("influenza AND 1918", "influenza AND 1918", (None, None)),
    ("find (cats OR dogs) AND behaviour", "(cats OR dogs) AND behaviour", (None, None)),
    (
        "I am looking for papers since 2015 on (cats OR dogs) AND behaviour",
        "(cats OR dogs) AND behaviour",
        (2015, None),
    ),
    ("(cats OR dogs) AND behaviour, please", "(cats OR dogs) AND behaviour", (None, None)),
    ("search query: cats AND dogs", "cats AND dogs", (None, None)),
    ("What is known about (stem OR shoot) AND cancer", "(stem OR shoot) AND cancer", (None, None)),
    ("peat AND bog, preferably in winter", "peat AND bog", (None, None)),
    # What only looks like a request stays.
    ("search AND rescue", "search AND rescue", (None, None)),
    ("all trans retinoic acid AND leukaemia", "all trans retinoic acid AND leukaemia", (None, None)),
    ("gratitude AND thanks", "gratitude AND thanks", (None, None)),
    ("literature AND cats", "literature AND cats", (None, None)),
    ("(articles OR papers) AND rocks", "(articles OR papers) AND rocks", (None, None)),
    ("survey AND (ice OR snow) AND NOT review", "survey AND (ice OR snow) AND NOT review", (None, None)),
    # Nothing is repaired beside a limit.
    ("stem AND OR since 2015", "stem AND", (2015, None)),
    ("(stem AND cancer since 2015", "(stem AND cancer", (2015, None)),
]


def test_the_table_has_enough_texts_and_none_twice() -> None:
    texts = [*TYPED, *PLAIN, *(query for query, *_ in READ_BESIDE)]
    assert len(texts) == len(set(texts)) >= 120


def read(query: str) -> ParsedIntent:
    return read_intent(query, VOCABULARY, TODAY)


@pytest.mark.parametrize("query", TYPED)
def test_a_query_with_operators_quotes_groups_or_fields_is_typed_and_stays_verbatim(query: str) -> None:
    assert read(query).typed_query == query


@pytest.mark.parametrize("query", PLAIN)
def test_plain_words_are_not_a_typed_query(query: str) -> None:
    assert read(query).typed_query == ""


@pytest.mark.parametrize(("query", "typed", "years"), READ_BESIDE)
def test_only_limits_requests_and_preferences_are_read_beside_a_typed_query(
    query: str, typed: str, years: tuple[int | None, int | None]
) -> None:
    intent = read(query)
    assert intent.typed_query == typed
    assert (intent.constraints.year_from, intent.constraints.year_to) == years


def test_a_quoted_phrase_in_a_sentence_is_a_required_phrase() -> None:
    assert read('papers about "attention is all you need" by Vaswani').phrases == ["attention is all you need"]


def test_the_notes_of_a_typed_query_say_once_that_it_is_unchanged() -> None:
    assert read("kidney stones AND (exercise OR diet) NOT review").notes == [
        "The query was typed and is searched unchanged."
    ]


def test_limits_requests_and_preferences_beside_a_typed_query_have_notes() -> None:
    intent = read("find (cats OR dogs) AND behaviour since 2015, preferably in winter")
    assert intent.typed_query == "(cats OR dogs) AND behaviour"
    assert intent.preferences == ["winter"]
    notes = " ".join(intent.notes)
    assert "“find” was read as a request" in notes
    assert "“since 2015” was read as" in notes
    assert "preference" in notes


@pytest.mark.parametrize(
    "query", ["find 20 papers on (cats OR dogs) AND behaviour", "(cats OR dogs) AND behaviour, at most 20 papers"]
)
def test_a_number_of_papers_beside_a_typed_query_is_read(query: str) -> None:
    intent = read(query)
    assert (intent.typed_query, intent.constraints.max_results) == ("(cats OR dogs) AND behaviour", 20)
    assert "At most 20 papers" in " ".join(intent.notes)


def test_parts_that_are_read_otherwise_than_written_have_notes() -> None:
    assert read('"climate change" AND adaptation not reviews').notes[1:] == [
        "“not” is read as a word, not as an operator."
    ]


def test_a_field_that_no_source_searches_has_a_note_with_what_is_searched_instead() -> None:
    (note,) = read("title:malaria AND nets").notes[1:]
    assert "title:" in note
    assert "all fields" in note


def test_the_phrases_and_exclusions_of_a_typed_query_are_named_and_stay_in_it() -> None:
    intent = read('("soil carbon" OR SOC) AND bog NOT ("sea grass" OR model*)')
    assert intent.phrases == ["soil carbon"]
    assert intent.excluded == ["sea grass", "model*"]
    assert intent.typed_query.endswith('NOT ("sea grass" OR model*)')


def test_line_breaks_and_many_phrases_of_a_pasted_query_stay() -> None:
    query = " OR\n".join(f'"phrase number {number}"' for number in range(30))
    assert read(f"  {query}\n").typed_query == query


WORDS = 'AND|OR|NOT|(|)|"|"sea ice"|ice|since 2015|last 5 years|,|[tiab]|[x]|ti:|\n|find|preferably|\ue000|“|”|the|-|*'
PIECES = st.sampled_from(WORDS.split("|")) | st.text(max_size=5)


@settings(deadline=None, max_examples=300)
@given(st.lists(PIECES, max_size=14).map(" ".join))
def test_reading_never_raises_and_never_adds_a_character(text: str) -> None:
    typed = read_typed_query(text, TODAY)
    if typed is None:
        return
    rest = iter(" ".join(text.split()))
    assert all(character in rest for character in " ".join(typed.text.split()) if character != " ")
    assert len(typed.kept) == len(text)
