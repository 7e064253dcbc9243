"""Strategies in the syntax of other databases, with what was changed or lost."""

import pytest

from paper_search.domain.strategies.ovid_and_cochrane import find_subheading_code
from paper_search.domain.strategies.plain_words import simplify_strategy
from paper_search.domain.strategies.platform_rendering import tag_plain_terms
from paper_search.domain.strategies.platform_translation import (
    PLATFORMS,
    describe_source_changes,
    parse_any_query,
    translate_node,
)
from paper_search.domain.strategies.web_of_science_and_europe_pmc import EUROPE_PMC
from uraniborg.kernel.language.boolean_query import parse_query

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


FIELDS = {
    "gout[all]": "gout.mp. | ALL=(gout) | ALL(gout) | gout:ti,ab,kw,de | gout | gout",
    "gout[ab]": "gout.ab. | AB=(gout) | ABS(gout) | gout:ab | gout:ab | ABSTRACT:gout",
    "gout[tw]": "gout.mp. | TS=(gout) | TITLE-ABS-KEY(gout) | gout:ti,ab,kw,de | gout:ti,ab,kw | gout",
    "gout[ot]": "gout.kf. | AK=(gout) | AUTHKEY(gout) | gout:kw | gout:kw | KW:gout",
    "Smith J[1au]": 'Smith J*.au. | AU=("Smith J") | AUTH("Smith J") | \'Smith J\':au | "Smith J":au | AUTH:"Smith J"',
    "Leiden[ad]": "Leiden.in. | AD=(Leiden) | AFFIL(Leiden) | Leiden:ff |  | AFF:Leiden",
    "Lancet[ta]": "Lancet.jn. | SO=(Lancet) | SRCTITLE(Lancet) | Lancet:jt | Lancet:so | JOURNAL:Lancet",
    "trial[pt]": "trial.pt. | TS=(trial) | TITLE-ABS-KEY(trial) | 'trial'/exp | trial:pt | PUB_TYPE:trial",
    "unknown[sh]": "unknown.mp. | TS=(unknown) | TITLE-ABS-KEY(unknown) | unknown:lnk | unknown:ti,ab,kw | unknown",
    "aspirin[nm]": "aspirin.nm. | TS=(aspirin) | TITLE-ABS-KEY(aspirin) | aspirin:tn,ti,ab,kw | aspirin:ti,ab,kw | "
    "CHEM:aspirin",
    "aspirin[pa]": "aspirin.mp. | TS=(aspirin) | TITLE-ABS-KEY(aspirin) | aspirin:ti,ab,kw,de | aspirin:ti,ab,kw | "
    "aspirin",
    "123[pmid]": "123.af. | PMID=(123) | PMID(123) | 123:ui | 123 | 123",
    "english[la]": 'english.lg. | LA=(english) | LANGUAGE(english) | [english]/lim |  | LANG:"eng"',
    "2010/06:2011[dp]": "2010:2011.(sa_year). | PY=(2010-2011) | PUBYEAR > 2009 AND PUBYEAR < 2012 | [2010-2011]/py | "
    " | FIRST_PDATE:[2010-06-01 TO 2011-12-31]",
    "2010[edat]": " |  |  |  |  | ",
    "soon[dp]": " |  |  |  |  | ",
}
"""How Ovid, Web of Science, Scopus, Embase, Cochrane and Europe PMC search each field."""


@pytest.mark.parametrize(("text", "expected"), FIELDS.items(), ids=FIELDS)
def test_every_field_is_searched_in_the_nearest_field_of_each_platform(text: str, expected: str) -> None:
    names = [name for name in ALL if name != "pubmed"]
    assert names == ["ovid", "wos", "scopus", "embase", "cochrane", "europepmc"]
    assert " | ".join(translate(text, name) for name in names) == expected
    assert translate(text, "pubmed") == text


AS_WORDS = {
    "unknown[sh]": "Subheadings are searched as words: unknown[sh].",
    "aspirin[nm]": "Substance names are searched as words: aspirin[nm].",
    "aspirin[pa]": "Pharmacological actions are searched as words: aspirin[pa].",
    "123[pmid]": "Identifiers are searched as words: 123[pmid].",
    "trial[pt]": "Publication types are searched as words: trial[pt].",
}


@pytest.mark.parametrize(
    ("text", "platforms"),
    [
        ("unknown[sh]", {"ovid", "wos", "scopus", "cochrane", "europepmc"}),
        ("aspirin[nm]", {"wos", "scopus", "embase", "cochrane"}),
        ("aspirin[pa]", {"ovid", "wos", "scopus", "embase", "cochrane", "europepmc"}),
        ("123[pmid]", {"ovid", "embase", "cochrane", "europepmc"}),
        ("trial[pt]", {"wos", "scopus"}),
    ],
)
def test_a_field_that_a_platform_does_not_have_is_said_to_be_searched_as_words(text: str, platforms: set[str]) -> None:
    assert {name for name in ALL if AS_WORDS[text] in list_changes(text, name)} == platforms


@pytest.mark.parametrize(
    ("text", "platform", "expected", "change"),
    [
        ('"Gout/nonsense"[Mesh]', "ovid", "exp Gout/", "Unknown subheadings are left out"),
        ('"Gout/nonsense"[Mesh]', "cochrane", '[mh "Gout"]', "Unknown subheadings are left out"),
        ('"Gout/therapy"[Mesh]', "embase", "'gout'/exp", "Subheadings of headings are left out"),
        ("2010/06:2011[dp]", "ovid", "2010:2011.(sa_year).", "Only the years of dates are kept"),
        ("2010:2011/06[dp]", "embase", "[2010-2011]/py", "Only the years of dates are kept"),
        ("gout[ti] AND 2010[edat]", "wos", "TI=(gout)", "Left out; set it as a limit of the database: 2010[edat]."),
    ],
)
def test_what_is_left_of_a_term_is_searched_and_what_is_lost_is_said(
    text: str, platform: str, expected: str, change: str
) -> None:
    assert translate(text, platform) == expected
    (said,) = (one for one in list_changes(text, platform) if change in one)
    assert said.startswith(change)


@pytest.mark.parametrize("text", ["2010:2011[dp]", "2010[dp]"])
def test_years_without_months_lose_nothing(text: str) -> None:
    for platform in ("ovid", "wos", "scopus", "embase", "europepmc"):
        assert list_changes(text, platform) == []


@pytest.mark.parametrize(
    ("text", "platform", "expected"),
    [
        ('"tart cherry"[tiab:~2]', "embase", "(tart NEAR/3 cherry):ti,ab,kw"),
        ("gout[ti] NOT (rats[ti] OR mice[tiab])", "ovid", "gout.ti. not rats.ti. not mice.ti,ab,kf."),
        ("2010[dp] : 2011[dp] AND gout[ti]", "ovid", "2010:2011.(sa_year). and gout.ti."),
        ('"2010/06"[dp] : "2011"[dp]', "pubmed", '"2010/06"[dp] : "2011"[dp]'),
        ("gout[ti] OR gout[ti] OR rats[ab]", "wos", "TI=(gout) OR AB=(rats)"),
        ("(gout[ti] AND rats[ti]) OR mice[ti]", "cochrane", "(gout:ti AND rats:ti) OR mice:ti"),
        ("2010[dp]", "cochrane", ""),
        ("NOT gout[ti]", "ovid", ""),
    ],
)
def test_operators_and_brackets_keep_their_meaning(text: str, platform: str, expected: str) -> None:
    assert translate(text, platform) == expected


@pytest.mark.parametrize(
    ("text", "words", "lost"),
    [
        ("gout[ti] NOT (rats[ti] OR mice[mh])", "gout NOT rats", "mice[mh]"),
        ("gout[ti] NOT (rats[ti] OR 2010[dp])", "gout NOT rats", "2010[dp]"),
        ("gout[ti] NOT (rats[ti] AND 2010[dp])", "gout", "2010[dp]"),
        ("gout[ti] NOT (rats[ti] NOT mice[mh])", "gout", "mice[mh]"),
        ("gout[ti] NOT (rats NOT mice[ti])", "gout NOT (rats NOT mice)", None),
    ],
)
def test_each_alternative_of_an_exclusion_is_kept_or_lost_by_itself(text: str, words: str, lost: str | None) -> None:
    tree, changes = simplify_strategy(text)
    assert tree == parse_query(words)
    said = [change for change in changes if change.startswith("Excluded only by sources with this field")]
    assert said == ([f"Excluded only by sources with this field: {lost}."] if lost else [])


def test_a_strategy_without_a_word_asks_for_nothing() -> None:
    assert simplify_strategy("[ti]") == (None, ())
