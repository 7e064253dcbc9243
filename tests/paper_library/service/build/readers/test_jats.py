"""Articles in JATS: metadata, text as markdown, and XML that cannot be read."""

from pathlib import Path

import pytest

from tests.paper_library.service.build.readers.files import (
    get_only_entry,
    get_only_problem,
    select_entries,
    write_and_read,
)

DOCTYPE = '<!DOCTYPE article PUBLIC "-//NLM//DTD JATS v1.0//EN" "JATS-archivearticle1.dtd">'
ARTICLE = """<article xml:lang="en" xmlns:xlink="http://www.w3.org/1999/xlink"
 xmlns:mml="http://www.w3.org/1998/Math/MathML">
<front><journal-meta><journal-title>Memoirs &amp; Notes</journal-title></journal-meta>
<article-meta>
<article-id pub-id-type="doi">10.1/x</article-id><article-id pub-id-type="pmid">12</article-id>
<article-id pub-id-type="pmc">34</article-id><article-id pub-id-type="publisher-id">p</article-id>
<title-group><article-title>On <italic>fine</italic> engines<xref ref-type="fn">*</xref></article-title>
<subtitle>a note</subtitle></title-group>
<contrib-group>
<contrib contrib-type="author"><name><surname>Lovelace</surname><given-names>Ada</given-names></name></contrib>
<contrib contrib-type="author"><collab>Royal Society</collab></contrib>
<contrib contrib-type="editor"><name><surname>Itor</surname><given-names>Ed</given-names></name></contrib>
</contrib-group>
<aff id="a1"><label>1</label>London, UK</aff>
<pub-date pub-type="pmc-release"><year>1840</year></pub-date>
<pub-date pub-type="ppub"><month>12</month><year>1843</year></pub-date>
<pub-date pub-type="epub"><day>1</day><month>9</month><year>1843</year></pub-date>
<abstract><sec><title>Background</title><p>Old.</p></sec><sec><title>Results:</title><p>New.</p></sec></abstract>
<abstract abstract-type="graphical"><p>A picture.</p></abstract>
<kwd-group><kwd>engines</kwd><kwd>numbers</kwd></kwd-group>
</article-meta></front>
<body><sec><label>1</label><title>Introduction</title>
<p>Water (H<sub>2</sub>O) &nbsp;is <bold>wet</bold><xref ref-type="bibr" rid="r1"><sup>1</sup></xref> if p&lt;a * b;
<inline-formula><tex-math>\\documentclass{x}\\begin{document}$x^2$\\end{document}</tex-math></inline-formula>.
<list list-type="order"><list-item><p>one</p></list-item><list-item><p>two</p></list-item></list></p>
<sec><title>Deeper</title><p>See <ext-link xlink:href="https://example.org">there</ext-link>.</p>
<fig><label>Figure 1</label><caption><p>A wheel.</p></caption></fig>
<table-wrap><label>Table 1</label><caption><p>Sizes.</p></caption><table>
<thead><tr><th>name</th><th colspan="2">size | unit</th></tr></thead>
<tbody><tr><td>wheel</td><td>3</td><td>m</td></tr></tbody></table></table-wrap>
<disp-formula><mml:math><mml:mi>E</mml:mi><mml:mo>=</mml:mo><mml:mi>m</mml:mi></mml:math></disp-formula>
</sec></sec></body>
<back><ack><p>Thanks.</p></ack><ref-list><ref><label>1</label><element-citation><person-group><name><surname>Babbage</surname>
<given-names>C</given-names></name></person-group><year>1830</year><article-title>Decline</article-title>
<source>London Press</source></element-citation></ref></ref-list></back></article>"""

MARKDOWN = r"""# On fine engines: a note

## Abstract

### Background

Old.

### Results:

New.

## 1 Introduction

Water (H₂O) is **wet**[1] if p\<a \* b; $x^2$.

1. one
2. two

### Deeper

See [there](https://example.org).

**Figure 1.** A wheel.

**Table 1.** Sizes.

| name | size \| unit |  |
| --- | --- | --- |
| wheel | 3 | m |

E=m

## Acknowledgements

Thanks.

## References

1. Babbage C. (1830). Decline. London Press"""


def test_the_description_of_an_article_is_read(tmp_path: Path) -> None:
    entry = get_only_entry(write_and_read(tmp_path, "a.nxml", f'<?xml version="1.0"?>\n{DOCTYPE}\n{ARTICLE}'))
    assert entry.title == "On fine engines: a note"
    assert entry.authors == ["Ada Lovelace", "Royal Society"]
    assert (entry.year, entry.month, entry.venue, entry.language) == (1843, 9, "Memoirs & Notes", "en")
    assert entry.identifiers == {"doi": "10.1/x", "pmid": "12", "pmcid": "34"}
    assert entry.abstract == "Background: Old. Results: New."
    assert (entry.keywords, entry.institutions) == (["engines", "numbers"], ["London, UK"])


def test_the_text_of_an_article_becomes_markdown(tmp_path: Path) -> None:
    assert get_only_entry(write_and_read(tmp_path, "a.xml", ARTICLE)).source == MARKDOWN


def test_several_articles_in_one_file_are_several_papers(tmp_path: Path) -> None:
    found = select_entries(write_and_read(tmp_path, "set.xml", f"<pmc-articleset>{ARTICLE}{ARTICLE}</pmc-articleset>"))
    assert [entry.origin for entry in found] == ["set.xml:1", "set.xml:2"]


@pytest.mark.parametrize(
    "content", ["<html><body/></html>", "<article/>", "<feed xmlns='http://www.w3.org/2005/Atom'/>"]
)
def test_xml_that_is_not_an_article_is_skipped(tmp_path: Path, content: str) -> None:
    assert get_only_problem(write_and_read(tmp_path, "a.xml", content)).kind == "skipped"


def test_entity_declarations_are_refused_and_nothing_outside_is_fetched(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret")
    laughs = "".join(f'<!ENTITY l{n + 1} "{f"&l{n};" * 10}">' for n in range(9))
    bombs = [f'<!ENTITY l0 "ha">{laughs}', f'<!ENTITY l9 SYSTEM "{secret.as_uri()}">']
    for bomb in bombs:
        document = f"<!DOCTYPE article [{bomb}]>{ARTICLE.replace('Old.', '&l9;')}"
        problem = get_only_problem(write_and_read(tmp_path, "a.xml", document))
        assert (problem.kind, "entities" in problem.reason) == ("broken", True)


@pytest.mark.parametrize(
    "content",
    ["", "<article>", "no xml", "<a>" * 50_000, '<?xml version="1.0" encoding="nonsense"?><a/>', "<a>\x00</a>"],
    ids=["empty", "cut", "text", "deep", "encoding", "nul"],
)
def test_xml_that_is_not_well_formed_is_reported_as_broken(tmp_path: Path, content: str) -> None:
    assert get_only_problem(write_and_read(tmp_path, "a.xml", content)).kind == "broken"


def test_a_very_deeply_nested_article_is_reported_as_broken(tmp_path: Path) -> None:
    deep = ARTICLE.replace("Old.", "<bold>" * 5_000 + "x" + "</bold>" * 5_000)
    assert get_only_problem(write_and_read(tmp_path, "a.xml", deep)).kind == "broken"


def test_unknown_entities_stay_readable(tmp_path: Path) -> None:
    entry = get_only_entry(write_and_read(tmp_path, "a.xml", ARTICLE.replace("Thanks.", "&alpha; &nosuchname; thanks")))
    assert "α &nosuchname; thanks" in entry.source


def read_body(folder: Path, body: str, back: str = "") -> list[str]:
    article = (
        "<article><front><article-meta><title-group><article-title>T</article-title></title-group></article-meta>"
        f"</front><body>{body}</body><back>{back}</back></article>"
    )
    return get_only_entry(write_and_read(folder, "a.xml", article)).source.split("\n\n")[1:]


def test_each_figure_of_a_group_has_its_label_and_a_table_without_words_is_left_out(tmp_path: Path) -> None:
    group = (
        "<fig><label>Figure 2</label><caption><p>Both.</p></caption>"
        "<fig><label>A:</label><caption><p>One.</p></caption></fig><fig><caption><p>Two.</p></caption></fig></fig>"
    )
    tables = (
        "<table-wrap><label>Table 1</label><table><tr><td/></tr></table>"
        "<table><tr><th>a</th></tr><tr><td>b</td><td>c</td></tr></table></table-wrap>"
    )
    assert [block.strip() for block in read_body(tmp_path, group + tables)] == [
        "**A.** One.",
        "Two.",
        "**Figure 2.** Both.",
        "**Table 1.**",
        "| a |  |\n| --- | --- |\n| b | c |",
    ]


def test_references_are_written_as_they_are_or_assembled_from_their_parts(tmp_path: Path) -> None:
    people = (
        "<name><surname>Brahe</surname><given-names>T</given-names></name><name><surname>Brahe</surname></name>"
        "<collab>Uraniborg</collab>"
    )
    found = read_body(
        tmp_path,
        "<p>x</p>",
        "<ref-list><title>Works</title>"
        "<ref><label>1</label><note><p>As it is.</p></note></ref>"
        f"<ref><element-citation>{people}<year>1573</year><source>De stella</source><volume>2</volume>"
        '<fpage>7</fpage><pub-id pub-id-type="pmid">3</pub-id><pub-id pub-id-type="doi">10.1/x</pub-id>'
        "</element-citation></ref>"
        "<ref><mixed-citation><label>3</label>Brahe , <year>1573</year> ( <source>De stella</source> )."
        '<pub-id pub-id-type="doi">10.1/x</pub-id></mixed-citation></ref></ref-list>',
    )
    assert found[0] == "x"
    assert found[1] == "## Works"
    assert found[2].strip().split("\n") == [
        "1. As it is.",
        "2. Brahe T, Brahe, Uraniborg. (1573). De stella. 2. 7. 10.1/x",
        "3. Brahe, 1573 (De stella).",
    ]
