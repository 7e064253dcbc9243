"""The bibliography of a universe, for any content of `sources`."""

import unicodedata
from typing import Any

import pytest
from bibtexparser.entrypoint import parse_string
from hypothesis import example, given
from hypothesis import strategies as st

from universe.domain import systems
from universe.domain.provenance.bibliography import CitedSource, collect_cited_sources, format_bibtex
from uraniborg.kernel.bibliography.latex import decode_latex

AGOL = {
    "id": "agol2021",
    "title": "Refining the Analysis of TRAPPIST-1: Masses & Radii",
    "authors": ["Agol, Eric", "Dorn, Caroline"],
    "year": 2021,
    "venue": "The Planetary Science Journal",
    "doi": "10.3847/PSJ/abd022",
    "arxiv": "2010.01074",
    "fields": ["mass", "radius"],
}


def body(name: str, *sources: Any) -> dict[str, Any]:
    return {"id": name.lower(), "name": name, "sources": list(sources)}


def read(text: str) -> list[dict[str, str]]:
    """Return the entries of a BibTeX text, parsed by another program."""
    library = parse_string(text)
    assert not library.failed_blocks
    assert not library.comments
    return [
        {"KEY": entry.key, "TYPE": entry.entry_type, **{one.key: one.value for one in entry.fields}}
        for entry in library.entries
    ]


def test_a_paper_with_a_venue_is_an_article_with_all_that_is_known_of_it() -> None:
    assert format_bibtex(collect_cited_sources({"e": body("e", AGOL)})) == "\n".join(
        [
            "@article{agol2021,",
            "  author = {Agol, Eric and Dorn, Caroline},",
            r"  title = {{Refining the Analysis of TRAPPIST-1: Masses \& Radii}},",
            "  year = {2021},",
            "  journal = {The Planetary Science Journal},",
            "  doi = {10.3847/PSJ/abd022},",
            "  eprint = {2010.01074},",
            "  archiveprefix = {arXiv},",
            "  note = {Used for mass, radius of e}",
            "}",
            "",
        ]
    )


def test_a_source_without_a_venue_is_a_misc_with_its_address() -> None:
    table = {"id": "table", "title": "A table", "url": "https://example.org/a_b?x=1%20&y={z}"}
    (entry,) = read(format_bibtex(collect_cited_sources({"e": body("e", table)})))
    assert entry["TYPE"] == "misc"
    assert entry["url"] == "https://example.org/a_b?x=1%20&y=%7Bz%7D"
    assert "author" not in entry
    assert "year" not in entry


@pytest.mark.parametrize("url", ["javascript:alert(1)", "file:///etc/passwd", "ftp://example.org", ""])
def test_only_web_addresses_are_written(url: str) -> None:
    (entry,) = read(format_bibtex([CitedSource("a", url=url)]))
    assert "url" not in entry


def test_nothing_cited_is_nothing_written() -> None:
    assert collect_cited_sources({}) == []
    assert collect_cited_sources({"e": {"id": "e"}, "f": {"sources": None}, "g": {"sources": []}}) == []
    assert format_bibtex([]) == ""


def test_a_source_is_listed_once_in_the_order_of_first_use_with_every_use() -> None:
    stars = {
        "b": body("Io", {"id": "one", "title": "1", "fields": ["mass"]}, {"id": "two", "title": "2"}),
        "a": body(
            "Europa", {"id": "two", "title": "2", "fields": ["radius"]}, {"id": "one", "title": "1", "fields": ["mass"]}
        ),
    }
    found = collect_cited_sources(stars)
    assert [source.id for source in found] == ["one", "two"]
    assert found[0].uses == [("Io", ("mass",)), ("Europa", ("mass",))]
    first, second = read(format_bibtex(found))
    assert first["note"] == "Used for mass of Io, Europa"
    assert second["note"] == "Used for Io; radius of Europa"


def test_a_note_of_many_bodies_reports_how_many_more_there_are() -> None:
    stars = {str(i): body(f"Body {i}", {"id": "a", "title": "A", "fields": ["mass"]}) for i in range(10_000)}
    (entry,) = read(format_bibtex(collect_cited_sources(stars)))
    assert entry["note"].endswith("Body 19 and 9980 more")
    assert len(entry["note"]) < 500


def test_the_first_of_two_sources_with_one_id_counts_and_the_other_is_noted() -> None:
    notes: list[str] = []
    stars = {"a": body("a", {"id": "x", "title": "First"}), "b": body("b", {"id": "x", "title": "Second"})}
    (source,) = collect_cited_sources(stars, notes=notes)
    assert source.title == "First"
    assert notes == ["b.sources.0 differs from the first source with the id 'x': the first counts."]


@pytest.mark.parametrize(
    ("sources", "noted"),
    [
        ("agol2021", "e.sources is not a list and was left out."),
        ({"id": "agol2021"}, "e.sources is not a list and was left out."),
        (7, "e.sources is not a list and was left out."),
        ([None], "e.sources.0 is not an object and was left out."),
        (["agol2021"], "e.sources.0 is not an object and was left out."),
        ([["agol2021"]], "e.sources.0 is not an object and was left out."),
        ([{"title": "No id"}], "e.sources.0 has no id and was left out."),
        ([{"id": "  "}], "e.sources.0 has no id and was left out."),
        ([{"id": 3}], "e.sources.0 has no id and was left out."),
    ],
)
def test_an_invalid_source_is_left_out_and_noted(sources: Any, noted: str) -> None:
    notes: list[str] = []
    stars = {"e": {"id": "e", "name": "E", "sources": sources}, "f": body("F", AGOL)}
    assert [source.id for source in collect_cited_sources(stars, notes=notes)] == ["agol2021"]
    assert notes == [noted]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title", 1),
        ("venue", ["x"]),
        ("doi", {"x": 1}),
        ("arxiv", 2010.01074),
        ("year", "2021"),
        ("year", True),
        ("year", 20.5),
    ],
)
def test_a_field_of_the_wrong_kind_is_left_out_and_the_source_stays(field: str, value: Any) -> None:
    notes: list[str] = []
    (source,) = collect_cited_sources({"e": body("e", AGOL | {field: value})}, notes=notes)
    assert len(notes) == 1
    assert notes[0].startswith(f"e.sources.0.{field} is not ")
    assert not getattr(source, field)
    assert len(read(format_bibtex([source]))) == 1


@pytest.mark.parametrize("authors", ["Agol, Eric", ["Agol, Eric", 3], [["Agol, Eric"]], {"a": 1}])
def test_authors_that_are_not_a_list_of_texts_are_noted(authors: Any) -> None:
    notes: list[str] = []
    collect_cited_sources({"e": body("e", AGOL | {"authors": authors})}, notes=notes)
    assert notes == ["e.sources.0.authors is not a list of texts; items that are not text were left out."]


def test_names_are_not_taken_apart_and_et_al_stays_at_the_end() -> None:
    authors = ["Suárez Mascareño, Alejandro", "JPL Solar System Dynamics", "Barnes and Noble, Inc", ", x", "others"]
    (entry,) = read(format_bibtex([CitedSource("a", authors=authors)]))
    assert entry["author"] == (
        r"Su{\'a}rez Mascare{\~n}o, Alejandro and {JPL Solar System Dynamics} and {Barnes and Noble, Inc} "
        "and {, x} and others"
    )
    (alone,) = read(format_bibtex([CitedSource("a", authors=["others", "Agol, Eric"])]))
    assert alone["author"] == "{others} and Agol, Eric"


def test_keys_are_plain_and_no_two_are_the_same() -> None:
    ids = ["Agol 2021", "agol-2021", "AGOL 2021", "Пример", "例", "a}b,c=d", "É", "e", "", "x" * 500]
    keys = [entry["KEY"] for entry in read(format_bibtex(CitedSource(one) for one in ids))]
    assert keys == [
        "agol-2021", "agol-2021-2", "agol-2021-3", "source", "source-2", "a-b-c-d", "e", "e-2", "source-3", "x" * 60,
    ]  # fmt: skip


HOSTILE = [
    "}",
    "{",
    "}}, title = {gotcha}, note = {",
    "},\n}\n@article{evil, title={x}}",
    "@article{evil, title={x}}",
    "@comment{",
    '"quoted" # "joined"',
    "a\\",
    "\\}",
    "100% of $5 & #1 ~ ^ _",
    "line\r\nbreaks\u2028everywhere\x0b\x85",
    "\x00\x1b[31m",
    "\ud800 half",
    "%7B 日本語 é α 🪐",
]
TEXT = st.text(max_size=40) | st.sampled_from(HOSTILE) | st.text("{}@\\\"'#,=% \nab", max_size=30)


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("field", ["title", "venue", "doi", "arxiv", "authors", "name", "fields", "id", "url"])
def test_hostile_text_stays_in_its_field(field: str, text: str) -> None:
    source = dict(AGOL)
    if field not in ("name", "authors", "fields"):
        source[field] = f"https://{text}" if field == "url" else f"x{text}"
    elif field != "name":
        source[field] = [text, "Agol, Eric"]
    stars = {"e": body(text if field == "name" else "E", source), "after": body("After", AGOL | {"id": "after"})}
    entries = read(format_bibtex(collect_cited_sources(stars)))
    assert len(entries) == 2
    assert entries[1]["KEY"] == "after"
    assert set(entries[0]) - {"url"} == set(entries[1])


@given(
    st.lists(
        st.builds(
            CitedSource,
            id=TEXT,
            title=TEXT,
            authors=st.lists(TEXT, max_size=3),
            year=st.none() | st.integers(),
            venue=TEXT,
            doi=TEXT,
            arxiv=TEXT,
            url=TEXT,
            uses=st.lists(st.tuples(TEXT, st.tuples(TEXT)), max_size=2),
        ),
        max_size=3,
    )
)
@example([CitedSource("a", title="@article{x, y={z}}"), CitedSource("b", title="}")])
def test_any_sources_are_read_back_one_for_one_with_their_titles(sources: list[CitedSource]) -> None:
    entries = read(format_bibtex(sources))
    assert len(entries) == len(sources)
    assert len({entry["KEY"] for entry in entries}) == len(sources)
    for entry, source in zip(entries, sources, strict=True):
        assert entry.keys() <= {
            "KEY", "TYPE", "author", "title", "year", "journal", "doi", "url", "eprint", "archiveprefix", "note",
        }  # fmt: skip
        assert entry["TYPE"] == ("article" if "journal" in entry else "misc")
        if source.title.strip() and source.title.isprintable():
            assert decode_latex(entry["title"]) == unicodedata.normalize("NFC", " ".join(source.title.split()))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*AGOL, "x"]), inner, max_size=5),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=5), st.fixed_dictionaries({"name": JSON, "sources": JSON}), max_size=3))
def test_nothing_that_bodies_state_about_their_sources_makes_it_fail(stars: dict[str, dict[str, Any]]) -> None:
    notes: list[str] = []
    found = collect_cited_sources(stars, notes=notes)
    assert len(read(format_bibtex(found))) == len(found)


@pytest.mark.parametrize("name", systems.list_system_names())
def test_the_bibliography_of_a_real_system_reads_back_with_its_identifiers(name: str) -> None:
    notes: list[str] = []
    found = collect_cited_sources(systems.load_system(name)["stars"], notes=notes)
    assert notes == []
    entries = read(format_bibtex(found))
    assert [entry["KEY"] for entry in entries] == [source.id for source in found]
    for entry, source in zip(entries, found, strict=True):
        assert entry.get("doi", "") == source.doi
        assert entry.get("eprint", "") == source.arxiv
        assert entry["note"].startswith("Used for ")
