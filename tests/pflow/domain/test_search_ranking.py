"""Ranking of nodes and workflows for a query."""

import random
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pflow.domain.search_ranking import RankedDocument, make_document, rank_documents
from tests.requirements import requirement

SHOP = [
    make_document("github-create-pr", description="Open a pull request.", keys=["title", "repo"], tags=["review"]),
    make_document("github-list-issues", description="The issues of a repository.", keys=["repo", "state", "issues"]),
    make_document(
        "read-file", description="Read a text file.", keys=["file_path", "encoding", "content"], tags=["disk"]
    ),
    make_document("write-file", description="Write text to a file.", keys=["content", "file_path"], tags=["disk"]),
    make_document("shell", description="Run a command.", keys=["command", "stdin", "stdout"], tags=["bash", "process"]),
    make_document("llm", description="Ask a language model.", keys=["prompt", "model", "response"], tags=["ai"]),
    make_document("http", description="Send a request to an address.", keys=["url", "method", "timeout"]),
    make_document("mcp-slack-postMessage", description="Say something in a channel.", keys=["channelId", "text"]),
]


TREES = [
    "alder",
    "birch",
    "cedar",
    "dogwood",
    "elder",
    "fir",
    "ginkgo",
    "hazel",
    "ironwood",
    "juniper",
    "kapok",
    "larch",
    "maple",
    "neem",
    "oak",
    "pine",
    "quince",
    "rowan",
    "spruce",
    "teak",
    "umbrella",
    "viburnum",
    "willow",
    "yew",
    "zelkova",
]


def keys(query: str, documents: list[RankedDocument] = SHOP, limit: int | None = None) -> list[str]:
    return [hit.key for hit in rank_documents(query, documents, limit=limit)]


def get_first_key(query: str) -> str:
    return keys(query)[0]


def test_a_name_is_worth_more_than_a_description_and_so_on_down_to_the_tags() -> None:
    twins = [
        make_document("in-tags", tags=["quark"]),
        make_document("in-keys", keys=["quark"]),
        make_document("in-description", description="Has a quark."),
        make_document("quark-here"),
        make_document("nowhere", uses=1_000_000),
    ]
    assert keys("quark", twins) == ["quark-here", "in-description", "in-keys", "in-tags"]


def test_use_never_outweighs_where_a_word_is_found() -> None:
    pair = [make_document("in-description", description="A quark.", uses=1_000_000), make_document("quark-here")]
    assert keys("quark", pair) == ["quark-here", "in-description"]


def test_the_exact_name_is_first_however_it_is_written() -> None:
    for query in ("read-file", "read_file", "Read File", "readfile", "readFile"):
        assert get_first_key(query) == "read-file"


def test_words_are_compared_by_their_stems() -> None:
    assert get_first_key("reading files") == "read-file"
    assert get_first_key("repositories") == "github-list-issues"
    assert rank_documents("repositories", SHOP)[0].matched == ("repositories",)


def test_names_in_camel_case_are_split_into_words() -> None:
    assert get_first_key("post message") == "mcp-slack-postMessage"
    assert get_first_key("channel id") == "mcp-slack-postMessage"


def test_a_document_with_more_of_the_words_comes_first() -> None:
    assert get_first_key("write text to a file") == "write-file"
    assert get_first_key("read text from a file") == "read-file"


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        ("download a web page", "http"),
        ("run bash in a terminal", "shell"),
        ("ai summary", "llm"),
        ("open tickets of a repo", "github-list-issues"),
        ("save text", "write-file"),
        ("PR", "github-create-pr"),
    ],
)
def test_synonyms_find_a_document(query: str, meant: str) -> None:
    assert get_first_key(query) == meant


@pytest.mark.parametrize(
    ("query", "meant"),
    [("githb", "github-create-pr"), ("gihtub issues", "github-list-issues"), ("shel", "shell"), ("comand", "shell")],
)
def test_a_misspelt_word_finds_the_intended_document(query: str, meant: str) -> None:
    assert get_first_key(query) == meant


def test_a_misspelt_word_counts_only_where_the_word_itself_is_nowhere() -> None:
    pair = [make_document("paper-find"), make_document("pager-send")]
    assert keys("paper", pair) == ["paper-find"]
    assert keys("paqer", pair) == ["pager-send", "paper-find"]


def test_the_beginning_of_a_word_finds_it_but_the_word_itself_comes_first() -> None:
    pair = [make_document("gitlab-sync"), make_document("git-sync")]
    assert keys("git", pair) == ["git-sync", "gitlab-sync"]
    assert keys("ab", pair) == []


def test_a_sentence_finds_something() -> None:
    sentence = (
        "Please, I want to get all the open issues of my repository and let a model write me something about them"
    )
    found = keys(sentence)
    assert found[0] == "github-list-issues"
    assert "llm" in found


def test_documents_that_share_only_common_words_with_a_long_query_are_left_out() -> None:
    crowd = [make_document(f"thing-{number}", description="Does it with a value.") for number in range(200)]
    crowd.append(make_document("comet-finder", description="Finds comets in images of the sky."))
    assert keys("find comets in images of the sky by their value", crowd) == ["comet-finder"]


@pytest.mark.parametrize("query", ["zzzzzz", "量子力学", "12345", "c++ qqqq"])
def test_a_query_without_matches_finds_nothing(query: str) -> None:
    assert keys(query) == []


@pytest.mark.parametrize("query", ["", "   ", "?!", "what is there to do", "\x00"])
def test_a_query_without_words_returns_everything_in_one_order(query: str) -> None:
    used = [make_document("b", uses=1), make_document("a", uses=1), make_document("c", uses=7), make_document("d")]
    assert keys(query, used) == ["c", "a", "b", "d"]
    assert [hit.score for hit in rank_documents(query, used)] == [0.0] * 4


def test_a_name_of_common_words_is_first_for_its_own_query() -> None:
    assert keys("what", [make_document("a", uses=9), make_document("what")]) == ["what", "a"]


def test_words_of_any_script_are_found() -> None:
    pages = [
        make_document("a", description="Читает файл"),
        make_document("b", description="读取文件的内容"),
        make_document("c"),
    ]
    assert keys("файл", pages) == ["a"]
    assert keys("读取文件", pages) == ["b"]
    assert keys("CAFÉ", [make_document("x", description="A cafe.")]) == ["x"]


def test_equals_are_ordered_by_use_and_then_by_name() -> None:
    pairs = [make_document(f"twin-{letter}", uses=uses) for letter, uses in [("b", 0), ("c", 3), ("a", 0)]]
    assert keys("twin", pairs) == ["twin-c", "twin-a", "twin-b"]


_texts = st.text(max_size=30) | st.sampled_from(["file", "read file", "github", "a-b_c", "newYork", "naïve", "c#"])


@given(query=_texts, names=st.lists(_texts, max_size=8, unique=True), notes=_texts, seed=st.integers())
def test_any_text_can_be_asked_for_and_the_order_of_documents_does_not_matter(
    query: str, names: list[str], notes: str, seed: int
) -> None:
    documents = [make_document(name, description=notes, keys=[notes], tags=[name]) for name in names]
    shuffled = documents[:]
    random.Random(seed).shuffle(shuffled)
    hits = rank_documents(query, documents)
    assert hits == rank_documents(query, shuffled)
    assert hits[:2] == rank_documents(query, documents, limit=2)
    assert all(one.score >= other.score for one, other in pairwise(hits))
    assert {hit.key for hit in hits} <= set(names)


@given(name=st.from_regex(r"[a-z]{4,12}(-[a-z]{4,12}){0,2}", fullmatch=True))
def test_every_document_is_first_for_its_own_name(name: str) -> None:
    assert keys(name, [*SHOP, make_document(name)])[0] == name


def test_a_text_without_end_is_cut_and_not_waited_for() -> None:
    endless = "word " * 400_000
    started = time.process_time()
    assert keys(endless, [make_document("a", description=endless, keys=[endless], tags=[endless])]) == ["a"]
    assert time.process_time() - started < 2


def test_the_first_twenty_four_words_of_the_first_thousand_characters_are_searched() -> None:
    report = [make_document(f"n{number}", description=tree) for number, tree in enumerate(TREES)]
    assert sorted(keys(" ".join(TREES), report)) == sorted(f"n{number}" for number in range(24))
    assert keys(f"alder {'-' * 988} birch", report) == ["n0", "n1"]
    assert keys(f"alder {'-' * 994} birch", report) == ["n0"]


@requirement("PF-N1")
def test_a_thousand_nodes_and_a_thousand_workflows_are_ranked_within_the_limit() -> None:
    choose = random.Random(4)
    verbs = ["create", "read", "update", "delete", "list", "send", "copy", "merge"]
    things = ["issue", "file", "page", "row", "user", "card"]
    crowd = [
        make_document(
            f"{verb}-{thing}-{number}",
            description=f"{verb} a {thing} and give it back with all its fields, if it has changed since then. " * 2,
            keys=["repo", "title", "body", "labels", "state", "result"],
        )
        for number in range(2_000)
        for verb, thing in [(choose.choice(verbs), choose.choice(things))]
    ]
    for query in ("github", "create an issue, then send a message to the users of the page", "isue"):
        times: list[float] = []
        for _ in range(5):
            started = time.process_time()
            rank_documents(query, crowd)
            times.append(time.process_time() - started)
        assert min(times) < 0.2


def test_a_word_of_the_query_is_not_counted_again_as_a_synonym_of_another() -> None:
    (hit,) = rank_documents("read open", [make_document("open")])
    assert hit.matched == ("open",)
    (hit,) = rank_documents("read", [make_document("open")])
    assert hit.matched == ("read",)


def test_words_of_asking_are_searched_if_there_are_no_others() -> None:
    documents = [make_document("help"), make_document("other")]
    assert [hit.key for hit in rank_documents("please help", documents)] == ["help"]
