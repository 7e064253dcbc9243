"""Strategies in the syntax of other databases, with what was changed or lost."""

import pytest

from paper_search.strategies.plain_words import simplify_strategy
from paper_search.strategies.platforms.europe_pmc import EUROPE_PMC
from paper_search.strategies.rendering import tag_plain_terms
from paper_search.strategies.subheadings import find_subheading_code
from paper_search.strategies.translation import PLATFORMS, describe_source_changes, parse_any_query, translate_node
from uraniborg.kernel.boolean_query import parse_query

ALL = {**PLATFORMS, "europepmc": EUROPE_PMC}
GOUT = '("Gout"[Mesh] OR gout*[tiab] OR "uric acid"[ti]) AND cherries[tw] NOT (animals[mh] NOT humans[mh])'


def translate(text: str, platform: str) -> str:
    return translate_node(parse_any_query(text), ALL[platform]).text


def list_changes(text: str, platform: str) -> list[str]:
    return translate_node(parse_any_query(text), ALL[platform]).changes


@pytest.mark.parametrize(
    ("platform", "expected"),
    [
        ("pubmed", GOUT),
        (
            "ovid",
            "(exp Gout/ or gout*.ti,ab,kf. or uric acid.ti.) and cherries.mp. not (exp animals/ not exp humans/)",
        ),
        ("wos", '(TS=(Gout OR gout*) OR TI=("uric acid")) AND TS=(cherries) NOT (TS=(animals) NOT TS=(humans))'),
        (
            "scopus",
            '(INDEXTERMS("Gout") OR TITLE-ABS-KEY(gout*) OR TITLE("uric acid")) AND TITLE-ABS-KEY(cherries) '
            'AND NOT (INDEXTERMS("animals") AND NOT INDEXTERMS("humans"))',
        ),
        (
            "embase",
            "('gout'/exp OR gout*:ti,ab,kw OR 'uric acid':ti) AND cherries:ti,ab,kw,de "
            "NOT ('animals'/exp NOT 'humans'/exp)",
        ),
        (
            "cochrane",
            '([mh "Gout"] OR gout*:ti,ab,kw OR "uric acid":ti) AND cherries:ti,ab,kw '
            'NOT ([mh "animals"] NOT [mh "humans"])',
        ),
        (
            "europepmc",
            '(KW:"Gout" OR TITLE_ABS:gout* OR TITLE:"uric acid") AND cherries NOT (KW:"animals" NOT KW:"humans")',
        ),
    ],
)
def test_a_strategy_is_written_in_the_syntax_of_each_platform(platform: str, expected: str) -> None:
    assert translate(GOUT, platform) == expected


@pytest.mark.parametrize(
    ("text", "platform", "expected"),
    [
        ('"Gout/drug therapy"[Mesh:NoExp]', "ovid", "Gout/dt"),
        ('"Gout"[Majr]', "ovid", "exp *Gout/"),
        ('"Wounds and Injuries"[Mesh]', "ovid", 'exp "Wounds and Injuries"/'),
        ('"drug therapy"[sh]', "ovid", "dt.fs."),
        ('"tart cherry"[tiab:~2]', "ovid", "(tart adj3 cherry).ti,ab,kf."),
        ("2010:2020[dp]", "ovid", "2010:2020.(sa_year)."),
        ("Smith J[au]", "ovid", "Smith J*.au."),
        ("a[tiab] OR b[tiab] OR c[ti]", "ovid", "(a or b).ti,ab,kf. or c.ti."),
        ('"tart cherry"[tiab:~2]', "wos", "TS=(tart NEAR/2 cherry)"),
        ("2010:2020[dp]", "wos", "PY=(2010-2020)"),
        ("review[pt]", "wos", "DT=(Review)"),
        ('"Receptors, Muscarinic"[Mesh]', "wos", 'TS=("Muscarinic Receptors")'),
        ('"tart cherry"[tiab:~2]', "scopus", "TITLE-ABS-KEY(tart W/2 cherry)"),
        ("2010:2020[dp]", "scopus", "PUBYEAR > 2009 AND PUBYEAR < 2021"),
        ("a[ti] AND 2010:3000[dp]", "scopus", "TITLE(a) AND PUBYEAR > 2009"),
        ('"Gout"[Majr:NoExp]', "embase", "'gout'/de/mj"),
        ('"st anthony\'s fire"[tiab]', "embase", '"st anthony\'s fire":ti,ab,kw'),
        ("2010:2020[dp] AND english[la]", "embase", "[2010-2020]/py AND [english]/lim"),
        ('"heart attack*"[ti]', "cochrane", "(heart NEXT attack*):ti"),
        ('"Gout/therapy"[Majr:NoExp]', "cochrane", '[mh ^"Gout"/TH[mj]]'),
        ('"tart cherry"[tiab:~2]', "cochrane", "(tart NEAR/3 cherry):ti,ab,kw"),
        ('"2010/06"[dp] : "2011"[dp]', "europepmc", "FIRST_PDATE:[2010-06-01 TO 2011-12-31]"),
        ("german[la]", "europepmc", 'LANG:"ger"'),
        ('"Cochrane Database Syst Rev"[jour]', "europepmc", 'JOURNAL:"Cochrane Database Syst Rev"'),
    ],
)
def test_headings_distances_dates_and_types_have_their_own_form(text: str, platform: str, expected: str) -> None:
    assert translate(text, platform) == expected


@pytest.mark.parametrize(
    ("text", "platform", "change"),
    [
        ('"Gout"[Mesh]', "wos", 'MeSH headings are searched as words, without narrower headings: "Gout"[Mesh].'),
        ('"Gout"[Mesh]', "embase", "look each one up in Emtree"),
        ("a[ti] AND humans[filter]", "ovid", "Left out; set it as a limit of the database: humans[filter]."),
        ("a[ti] AND 2010:2020[dp]", "cochrane", "Left out"),
        ("a[ti] AND 2010/06/30[dp]", "wos", "Only the years of dates are kept"),
        ('"drug therapy"[sh]', "scopus", "Subheadings are searched as words"),
        ("tart cherry OR gout[ti]", "ovid", "Words without a field tag are joined by AND"),
        ('"tart cherry"[tiab:~2]', "europepmc", "joined by AND"),
    ],
)
def test_what_a_platform_changes_or_loses_is_said(text: str, platform: str, change: str) -> None:
    assert any(change in one for one in list_changes(text, platform))


def test_a_change_names_the_first_terms_and_counts_the_others() -> None:
    text = " OR ".join(f'"Heading {number}"[Mesh]' for number in range(8))
    (change,) = list_changes(text, "wos")
    assert change.endswith('"Heading 0"[Mesh], "Heading 1"[Mesh], "Heading 2"[Mesh] and 5 more.')


def test_pubmed_text_is_not_changed() -> None:
    assert all(list_changes(text, "pubmed") == [] for text in (GOUT, '"tart cherry"[tiab:~2] AND humans[filter]'))


def test_plain_terms_can_be_given_a_field() -> None:
    tree = parse_query('(gout OR "uric acid") AND cherries NOT rats')
    assert tree
    expected = '(gout[tiab] OR "uric acid"[tiab]) AND cherries[tiab] NOT rats[tiab]'
    assert translate_node(tag_plain_terms(tree, "tiab"), PLATFORMS["pubmed"]).text == expected


@pytest.mark.parametrize(
    ("name", "code"), [("drug therapy", "dt"), ("prevention and control", "pc"), ("DT", "dt"), ("x", None)]
)
def test_a_subheading_has_two_letters(name: str, code: str | None) -> None:
    assert find_subheading_code(name) == code


class TestSourcesWithoutFields:
    def test_headings_are_words_in_natural_order_and_limits_are_no_words(self) -> None:
        tree, changes = simplify_strategy('"Receptors, Muscarinic"[Mesh] AND gout*[tiab] AND 2010:2020[dp]')
        assert tree == parse_query('"Muscarinic Receptors" AND gout*')
        assert any("MeSH headings are searched as words" in change for change in changes)
        assert any("Not searched as words: 2010:2020[dp]" in change for change in changes)

    @pytest.mark.parametrize(
        "text",
        [
            "gout[ti] NOT (animals[mh] NOT humans[mh])",
            "gout[ti] NOT (rats[ti] AND review[pt])",
            "gout[ti] NOT letter[pt]",
        ],
    )
    def test_an_exclusion_by_indexing_never_becomes_an_exclusion_by_words(self, text: str) -> None:
        tree, changes = simplify_strategy(text)
        assert tree == parse_query("gout")
        assert any("Excluded only by sources with this field" in change for change in changes)

    def test_an_exclusion_of_words_stays(self) -> None:
        assert simplify_strategy("gout[ti] NOT (rats[ti] OR mice[ti])")[0] == parse_query("gout NOT (rats OR mice)")

    def test_words_at_a_distance_and_without_a_tag_are_joined_by_and(self) -> None:
        assert simplify_strategy('"tart cherry"[ti:~3] OR hurtle cell')[0] == parse_query(
            "(tart AND cherry) OR (hurtle AND cell)"
        )

    def test_changes_depend_on_the_source(self) -> None:
        text = '"Gout"[Mesh] AND cherries[ti]'
        assert describe_source_changes("pubmed", "boolean", text) == []
        assert "keywords" in describe_source_changes("europepmc", "boolean", text)[0]
        assert "words" in describe_source_changes("openalex", "boolean", text)[0]
        assert describe_source_changes("crossref", "ranked", text) == [
            "Only the words are sent, without operators and fields."
        ]
        assert describe_source_changes("openalex", "boolean", "gout AND cherries") == []


@pytest.mark.parametrize(
    ("platform", "expected"),
    [
        ("ovid", "gout.ti. and 2012:2024.(sa_year)."),
        ("wos", "TI=(gout) AND PY=(2012-2024)"),
        ("scopus", "TITLE(gout) AND (PUBYEAR > 2011 AND PUBYEAR < 2025)"),
        ("embase", "gout:ti AND [2012-2024]/py"),
        ("europepmc", "TITLE:gout AND FIRST_PDATE:[2012-01-01 TO 2024-12-31]"),
    ],
)
def test_a_range_with_the_later_year_first_is_the_same_range(platform: str, expected: str) -> None:
    assert translate("gout[ti] AND 2024:2012[dp]", platform) == expected


@pytest.mark.parametrize("written", ["hasabstract", "hasabstract[text]", "hasabstract[All Fields]"])
@pytest.mark.parametrize("platform", [name for name in ALL if name != "pubmed"])
def test_the_filter_hasabstract_is_no_word_of_the_text(platform: str, written: str) -> None:
    text = f"gout[ti] AND {written}"
    assert "hasabstract" not in translate(text, platform)
    assert any("hasabstract" in change for change in list_changes(text, platform))
    tree, changes = simplify_strategy(text)
    assert tree == simplify_strategy("gout[ti]")[0]
    assert any("hasabstract" in change for change in changes)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("randomized controlled trial[pt]", "'randomized controlled trial'/exp"),
        ("meta-analysis[pt]", "'meta analysis'/exp"),
        ("review[pt] OR letter[pt]", "(review OR letter):it"),
    ],
)
def test_designs_of_studies_are_terms_of_emtree_and_kinds_of_texts_are_types(text: str, expected: str) -> None:
    assert translate(text, "embase") == expected


@pytest.mark.parametrize(
    ("text", "platform", "expected"),
    [
        ("gout[ti] NOT (letter[ti] AND english[la])", "cochrane", "gout:ti"),
        ("gout[ti] NOT (letter[ti] NOT english[la])", "cochrane", "gout:ti"),
        ("gout[ti] NOT (rat[ti] OR (letter[ti] AND english[la]))", "cochrane", "gout:ti NOT rat:ti"),
        ("gout[ti] NOT (letter[pt] AND medline[sb])", "europepmc", "TITLE:gout"),
    ],
)
def test_an_exclusion_that_loses_a_condition_is_left_out_and_named(text: str, platform: str, expected: str) -> None:
    assert translate(text, platform) == expected
    assert any("Not excluded" in change and "letter" in change for change in list_changes(text, platform))
