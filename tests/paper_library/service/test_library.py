"""All operations of `Library`, and its errors."""

# pyright: reportGeneralTypeIssues=false, reportTypedDictNotRequiredAccess=false

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paper_library.domain.query import SORTS
from paper_library.errors import (
    AssetFetchFailed,
    AssetInvalid,
    PaperNotFound,
    ShelfNotFound,
    SourceNotAvailable,
    TemplateNotAvailable,
    TranslationNotAvailable,
)
from paper_library.service.build.builder import build_shelf
from paper_library.service.library import Library
from paper_library.store.layout import FACET_KINDS
from tests.paper_library.service.libraries import list_titles, make_library
from tests.requirements import requirement
from uraniborg.kernel.errors import InvalidInput, NotFound, UraniborgError

BIB = """
@article{fish2019, title={Deep Fish of the North}, author={Lovelace, Ada and G{\\"o}del, Kurt}, year={2019},
  journal={Journal of the Sea}, doi={10.1000/XYZ}, keywords={Cold Water, fish}}
@article{bird2020, title={High Birds of the South}, author={Noether, Emmy and Lovelace, Ada}, year={2020},
  journal={Journal of the Air}, eprint={2301.00001}, archiveprefix={arXiv}, keywords={FISH; Flight}}
@misc{bare, title={High Birds of the South: A Reply}}
"""
SOURCE = "# Fish\n\nDeep fish of the north swim where no light at all comes down to them.\n\n## More\n\nThey sleep."
Ask = Callable[[Library], Any]
FISH, BIRD = "Deep Fish of the North", "High Birds of the South"


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library")
    (folder / "in").mkdir()
    (folder / "in" / "refs.bib").write_text(BIB, encoding="utf-8")
    (folder / "in" / "fish2019.md").write_text(SOURCE, encoding="utf-8")
    (folder / "in" / "fish2019.zh.md").write_text("# 鱼\n\n它们游泳。", encoding="utf-8")
    (folder / "in" / "more.jsonl").write_text(
        json.dumps({"title": "Tagged", "tags": ["cold  water"], "institutions": ["Uni Uppsala"]}), encoding="utf-8"
    )
    (folder / "sums" / "deep_read").mkdir(parents=True)
    (folder / "sums" / "deep_read" / "fish2019.json").write_text('{"text": "In depth."}', encoding="utf-8")
    build_shelf([folder / "in"], folder / "shelf", summaries=folder / "sums")
    return folder / "shelf"


@pytest.fixture(scope="module")
def library(shelf: Path) -> Iterator[Library]:
    opened = Library.open(shelf)
    yield opened
    opened.close()


@requirement("PL-10")
@pytest.mark.parametrize(
    "name", ["10.1000/XYZ", "https://doi.org/10.1000/xyz", "doi:10.1000/xyz", "fish2019", "bib:fish2019", " fish2019 "]
)
def test_a_paper_is_found_by_each_of_its_identifiers(library: Library, name: str) -> None:
    paper_metadata = library.metadata(name)
    assert (paper_metadata["title"], paper_metadata["authors"]) == (FISH, ["Ada Lovelace", "Kurt Gödel"])
    assert library.metadata(paper_metadata["paper_id"]) == paper_metadata
    assert json.loads(library.metadata_json(name)) == paper_metadata


@pytest.mark.parametrize("blanks", [" {} ", "\t{}\n", "\u00a0{}\u3000", "\ufeff{}\u200b", "{}\r\n"])
def test_blanks_around_an_id_do_not_matter(library: Library, blanks: str) -> None:
    paper_id = library.metadata("fish2019")["paper_id"]
    for name in (paper_id, "10.1000/xyz", "fish2019"):
        padded = blanks.format(name)
        assert library.metadata(padded)["paper_id"] == paper_id
        assert library.source(padded) == SOURCE
        assert library.summary(padded)
        assert library.bibtex(padded)
        assert library.find_similar(padded)["total"] >= 0


def test_a_paper_is_found_by_any_version_of_its_arxiv_id(library: Library) -> None:
    for name in ("2301.00001", "arXiv:2301.00001v7", "https://arxiv.org/abs/2301.00001", "10.48550/arXiv.2301.00001"):
        assert library.metadata(name)["title"] == BIRD


@requirement("PL-10")
def test_the_metadata_lists_the_available_summaries(library: Library) -> None:
    paper_metadata = library.metadata("fish2019")
    assert paper_metadata["preferred_summary_template"] == "deep_read"
    assert paper_metadata["available_summary_templates"] == ["default", "deep_read"]
    assert paper_metadata["translations"] == ["zh"]


@requirement("PL-11")
def test_a_summary_is_the_preferred_one_unless_another_is_named(library: Library) -> None:
    assert json.loads(library.summary("fish2019")) == {"text": "In depth."}
    default = json.loads(library.summary("fish2019", "default"))
    assert default["outline"] == ["Fish", "More"]
    assert default["key_sentences"] == ["Deep fish of the north swim where no light at all comes down to them."]


@requirement("PL-12")
def test_the_source_and_its_translations_are_returned_unchanged(library: Library) -> None:
    assert library.source("fish2019") == SOURCE
    assert library.translation("fish2019", "zh") == library.translation("fish2019", "ZH") == "# 鱼\n\n它们游泳。"


def test_bibtex_is_returned_as_its_owner_wrote_it(library: Library) -> None:
    assert library.bibtex("10.1000/xyz") == BIB.strip().split("\n@")[0]


MISSING: list[tuple[Ask, type[UraniborgError], set[str]]] = [
    (lambda library: library.metadata("nobody"), PaperNotFound, {"paper_id"}),
    (lambda library: library.summary("nobody"), PaperNotFound, {"paper_id"}),
    (lambda library: library.summary("nobody", "poem"), PaperNotFound, {"paper_id", "template"}),
    (lambda library: library.find_similar("nobody"), PaperNotFound, {"paper_id"}),
    (
        lambda library: library.summary("fish2019", "poem"),
        TemplateNotAvailable,
        {"paper_id", "template", "available_summary_templates"},
    ),
    (lambda library: library.source("bird2020"), SourceNotAvailable, {"paper_id"}),
    (
        lambda library: library.translation("fish2019", "de"),
        TranslationNotAvailable,
        {"paper_id", "lang", "available_translations"},
    ),
]


@requirement("PL-16")
@pytest.mark.parametrize(("ask", "error", "ids"), MISSING)
def test_missing_papers_and_texts_are_reported_with_their_ids(
    library: Library, ask: Ask, error: type[UraniborgError], ids: set[str]
) -> None:
    with pytest.raises(error) as caught:
        ask(library)
    assert caught.value.ids.keys() == ids
    assert caught.value.hint
    assert caught.value.status == 404


@pytest.mark.parametrize(
    "name", ["", " ", "/", "..", "../../etc/passwd", "\0", "a\0b", "x" * 10_000, "%", "' OR 1=1 --"]
)
def test_any_odd_identifier_is_reported_as_not_found(library: Library, name: str) -> None:
    with pytest.raises(PaperNotFound) as caught:
        library.metadata(name)
    assert len(str(caught.value)) < 200


HALVES: list[Ask] = [
    lambda library: library.metadata("\ud800"),
    lambda library: library.search_by_keyword("\ud800"),
    lambda library: library.find_ids_by_title("\ud800"),
    lambda library: library.search("", filters={"author": "\ud800"}),
]


@pytest.mark.parametrize("ask", HALVES)
def test_half_a_character_is_refused(ask: Ask, library: Library) -> None:
    with pytest.raises(InvalidInput, match="half a character"):
        ask(library)


BEYOND: list[tuple[Ask, str]] = [
    (lambda library: library.search("x" * 501), "query"),
    (lambda library: library.search("x", limit=0), "limit"),
    (lambda library: library.search("x", limit=101), "limit"),
    (lambda library: library.search("x", offset=-1), "offset"),
    (lambda library: library.search("x", offset=10_001), "offset"),
    (lambda library: library.search("x", sort="random"), "sort"),
    (lambda library: library.search("x", filters={"colour": "red"}), "facet"),
    (lambda library: library.search("x", filters={"author": " "}), "author"),
    (lambda library: library.search("x", filters={"author": "x" * 501}), "author"),
    (lambda library: library.search("x", filters={"year": "soon"}), "year"),
    (lambda library: library.search("x", facets=["colour"]), "facet"),
    (lambda library: library.search_by_keyword("x", limit=101), "limit"),
    (lambda library: library.search_by_keyword("", limit=10), "keyword"),
    (lambda library: library.search_by_keyword("x" * 501), "keyword"),
    (lambda library: library.find_similar("fish2019", limit=0), "limit"),
    (lambda library: library.find_ids_by_title(""), "title"),
    (lambda library: library.top_facets("colour"), "category"),
    (lambda library: library.top_facets("author", limit=0), "limit"),
    (lambda library: library.top_facets("author", limit=101), "limit"),
    (lambda library: library.top_facets("author", offset=-1), "offset"),
]


@requirement("PL-18")
@pytest.mark.parametrize(("ask", "argument"), BEYOND)
def test_arguments_out_of_range_are_refused_with_the_allowed_range(library: Library, ask: Ask, argument: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        ask(library)
    assert (caught.value.code, caught.value.ids["argument"]) == ("invalid_argument", argument)
    assert caught.value.ids["allowed"]


@pytest.mark.parametrize("most", [-5, 1 << 40])
def test_a_number_of_facets_beyond_its_bounds_is_refused(library: Library, most: int) -> None:
    with pytest.raises(InvalidInput):
        library.search("", facets=["author"], facet_limit=most)


@requirement("PL-18")
def test_the_bounds_themselves_are_allowed(library: Library) -> None:
    assert library.search("x" * 500)["total"] == 0
    assert library.search("", limit=100, offset=10_000)["results"] == []
    for sort in SORTS:
        assert library.search("", sort=sort)["total"] == 4


@requirement("PL-9")
@pytest.mark.parametrize(
    ("keyword", "expected"),
    [
        ("fish", [BIRD, FISH]),
        ("FISH", [BIRD, FISH]),
        ("cold water", [FISH, "Tagged"]),
        ("  Cold   WATER ", [FISH, "Tagged"]),
        ("flight", [BIRD]),
        ("cold", [FISH, "Tagged"]),
        ("fis", [BIRD, FISH]),
        ("ish", []),
        ("100%", []),
    ],
)
def test_keywords_are_found_whole_or_by_a_beginning_of_their_words_newest_first(
    library: Library, keyword: str, expected: list[str]
) -> None:
    page = library.search_by_keyword(keyword)
    assert (list_titles(page), page["total"]) == (expected, len(expected))


def test_keywords_are_paged(library: Library) -> None:
    pages = [library.search_by_keyword("fish", limit=1, offset=offset) for offset in (0, 1)]
    assert [list_titles(page) for page in pages] == [[BIRD], [FISH]]
    assert [page["next_offset"] for page in pages] == [1, None]


@pytest.mark.parametrize("title", [BIRD, BIRD.upper(), "high birds of the south"])
def test_a_title_is_looked_up_exactly_in_any_case(library: Library, title: str) -> None:
    assert [library.metadata(paper)["title"] for paper in library.find_ids_by_title(title)] == [BIRD]
    assert library.find_ids_by_title("High Birds") == []


def test_a_title_is_looked_up_with_any_blanks(library: Library) -> None:
    assert library.find_ids_by_title(" High  Birds of the\nSouth ") == library.find_ids_by_title(BIRD) != []


@requirement("PL-13")
def test_the_most_frequent_values_come_first_in_their_original_spelling(library: Library) -> None:
    values = library.top_facets("author")
    assert values["result"] == [
        {"value": "Ada Lovelace", "paper_count": 2},
        {"value": "Emmy Noether", "paper_count": 1},
        {"value": "Kurt Gödel", "paper_count": 1},
    ]
    assert (values["category"], values["total"]) == ("author", 3)
    assert library.top_facets("keyword")["result"][0]["paper_count"] == 2
    assert library.top_facets("author", limit=1, offset=1)["result"] == values["result"][1:2]


def test_a_value_is_counted_once_for_a_paper_that_repeats_it_in_other_spellings(tmp_path: Path) -> None:
    repeated = {"authors": ["Ada Lovelace", "ADA  Lovelace"], "keywords": ["Comets", "comets", "COMETS"]}
    library = make_library(
        tmp_path, {"title": "One", **repeated}, {"title": "Two", "authors": ["ada lovelace"], "keywords": ["comets"]}
    )
    assert library.top_facets("author")["result"] == [{"value": "Ada Lovelace", "paper_count": 2}]
    assert library.top_facets("keyword")["result"] == [{"value": "Comets", "paper_count": 2}]


@pytest.mark.parametrize("kind", FACET_KINDS)
def test_facets_of_the_whole_shelf_are_those_of_a_search_for_everything(library: Library, kind: str) -> None:
    if kind == "institution":
        assert library.top_facets(kind)["result"] == [{"value": "Uni Uppsala", "paper_count": 1}]
    assert library.search("", facets=[kind], facet_limit=100)["facets"][kind] == library.top_facets(kind)["result"]


def test_the_stats_equal_the_counts_of_the_papers(library: Library) -> None:
    stats = library.stats()
    assert (stats["papers"], stats["with_source"], stats["years"]) == (4, 1, {"first": 2019, "last": 2020})
    assert stats["summaries"] == {"default": 4, "deep_read": 1}
    assert stats["translations"] == {"zh": 1}
    assert (stats["missing"]["doi"], stats["missing"]["source"]) == (3, 3)
    assert stats["build_id"] == library.build_id


def test_no_reply_contains_a_local_path_or_a_server_address(library: Library, shelf: Path) -> None:
    paper_metadata = [
        library.stats(),
        library.search("fish"),
        library.metadata("fish2019"),
        library.summary("fish2019"),
    ]
    assert str(shelf.parent) not in json.dumps(paper_metadata)
    assert "static" not in json.dumps(paper_metadata)


@requirement("PL-16")
def test_a_missing_or_changed_asset_is_reported_without_its_path(shelf: Path, tmp_path: Path) -> None:
    import shutil

    copy = Path(shutil.copytree(shelf, tmp_path / "copy"))
    library = Library.open(copy)
    (source,) = (copy / "static" / "source").rglob("*.md")
    source.write_text("# Changed", encoding="utf-8")
    with pytest.raises(AssetInvalid) as changed:
        library.source("fish2019")
    source.unlink()
    with pytest.raises(AssetFetchFailed) as lost:
        library.source("fish2019")
    assert lost.value.ids["reason"] == "missing"
    for caught in (changed, lost):
        assert caught.value.ids["paper_id"]
        assert str(tmp_path) not in json.dumps(caught.value.body())


def test_a_text_names_the_cited_papers_of_its_own_folder(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / "in" / folder).mkdir(parents=True)
        text = f"# Citing {folder}\n\nAs [@fish2019; @bird2020] show in {folder}."
        (tmp_path / "in" / folder / f"{folder}.md").write_text(text, encoding="utf-8")
    (tmp_path / "in" / "a" / "more.bib").write_text(BIB, encoding="utf-8")
    build_shelf([tmp_path / "in", tmp_path / "in" / "a" / "more.bib"], tmp_path / "shelf")
    with contextlib.closing(Library.open(tmp_path / "shelf")) as library:
        shown = {}
        for folder in ("a", "b"):
            (paper,) = library.find_ids_by_title(f"Citing {folder}")
            shown[folder] = library.text_page(paper)["nodes"][1]["children"][0]["text"]
    assert shown == {
        "a": "As [Lovelace and Gödel 2019; Noether and Lovelace 2020] show in a.",
        "b": "As [fish2019; bird2020] show in b.",
    }


def test_a_library_without_a_shelf_is_not_opened(tmp_path: Path) -> None:
    with pytest.raises(ShelfNotFound):
        Library.open(tmp_path / "nowhere")


@settings(max_examples=60)
@given(st.text(max_size=30))
def test_any_text_is_accepted_by_every_interface(library: Library, text: str) -> None:
    doors: list[Callable[[], Any]] = [
        lambda: library.search(text),
        lambda: library.search("", filters={"author": text}),
        lambda: library.search_by_keyword(text),
        lambda: library.find_ids_by_title(text),
        lambda: library.metadata(text),
        lambda: library.summary("fish2019", text),
        lambda: library.translation("fish2019", text),
        lambda: library.find_similar(text),
    ]
    for door in doors:
        with contextlib.suppress(NotFound, InvalidInput):
            door()


def test_the_text_is_read_in_its_own_language_and_in_others(library: Library) -> None:
    assert library.source("fish2019", "zh") == library.translation("fish2019", "zh")
    with pytest.raises(TranslationNotAvailable):
        library.source("fish2019", "de")


def test_a_paper_in_the_requested_language_is_not_translated(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "fisch.md").write_text("---\ntitle: Fische\nlanguage: de\n---\nTiefe Fische.", encoding="utf-8")
    build_shelf([tmp_path / "in"], tmp_path / "shelf")
    with contextlib.closing(Library.open(tmp_path / "shelf")) as opened:
        (paper_id,) = opened.find_ids_by_title("Fische")
        assert opened.source(paper_id, "DE") == "Tiefe Fische."
        with pytest.raises(TranslationNotAvailable):
            opened.source(paper_id, "en")


def test_a_section_is_read_by_its_heading_in_any_language(library: Library) -> None:
    assert library.section("fish2019", "more") == "## More\n\nThey sleep."
    assert library.section("fish2019", "鱼", lang="zh").endswith("它们游泳。")
    with pytest.raises(SourceNotAvailable):
        library.section("bird2020", "More")


def test_citations_name_each_paper_once_and_refuse_other_formats(library: Library) -> None:
    assert library.citations(["fish2019", "10.1000/xyz"]).count("@article") == 1
    assert [item["id"] for item in json.loads(library.citations(["fish2019", "bare"], "csl-json"))] == [
        "fish2019",
        "bare",
    ]
    with pytest.raises(InvalidInput):
        library.citations(["fish2019"], "apa")
    with pytest.raises(PaperNotFound):
        library.citations(["fish2019", "nobody"])
