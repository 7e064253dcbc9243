"""The concept blocks of questions: words without a topic make none, and each block holds all ways to write a term."""

from datetime import UTC, datetime

import pytest

from paper_search.domain.field_profiles import get_domain
from paper_search.domain.intent.concept_blocks import (
    MAX_BLOCKS,
    MAX_VARIANTS,
    build_blocks,
    make_author_block,
    make_block,
)
from paper_search.domain.intent.vocabulary import (
    Vocabulary,
    estimate_share,
    is_generic,
    is_teachable,
    list_spellings,
    to_singular,
)
from paper_search.domain.strategies.plain_words import parse_query
from paper_search.models import ConceptBlock, ParsedIntent, QueryBuilderInput
from paper_search.skills.intent_parser import IntentParser
from paper_search.skills.query_builder import QueryBuilder
from uraniborg.kernel.clock import FrozenClock
from uraniborg.kernel.language.boolean_query import iterate_wanted_terms
from uraniborg.kernel.language.words import extract_terms

CLOCK = FrozenClock(datetime(2024, 6, 15, tzinfo=UTC))
VOCABULARY = Vocabulary(get_domain("general").synonyms)
WITHOUT_TOPIC = (
    "effectiveness association relationship role study measured reduce review systematic effects influence impact "
    "outcomes evidence prevent improve trial trials prediction determinants comparison use methods analysis factors"
)
QUESTIONS = [
    ("effectiveness of yoga for chronic back pain", {"yoga", "back pain"}),
    ("association between coffee and gout", {"coffee", "gout"}),
    ("relationship between sleep and memory in bats", {"sleep", "memory", "bats"}),
    ("the role of mycorrhiza in drought", {"mycorrhiza", "drought"}),
    ("a study of volcanic lightning", {"volcanic lightning"}),
    ("how is soil moisture measured from satellites", {"soil moisture", "satellites"}),
    ("how to reduce noise in quantum dots", {"noise", "quantum dots"}),
    ("mindfulness for teacher burnout: a systematic review", {"mindfulness", "teacher burnout"}),
    ("impact of tariffs on wine exports", {"tariffs", "wine exports"}),
    ("influence of moonlight on owl hunting", {"moonlight", "owl hunting"}),
    ("How do rocky exoplanets form", {"rocky exoplanets"}),
    ("adapt language models to dialects", {"language models", "dialects"}),
    ("Is cellular therapy beneficial for psoriasis", {"cellular therapy", "psoriasis"}),
    ("predict protein-ligand affinity", {"protein-ligand affinity"}),
    ("off-target effects prediction for CRISPR", {"off-target", "CRISPR"}),
    ("comparison of haiku and sonnets", {"haiku", "sonnets"}),
    ("determinants of voter turnout in cantons", {"voter turnout", "cantons"}),
    ("interventions to prevent bullying in schools: evidence from trials", {"bullying", "schools"}),
    ("use of lidar in archaeology", {"lidar", "archaeology"}),
    ("Can coral reefs recover after bleaching?", {"bleaching"}),
    ("art therapy for dementia", {"art therapy", "dementia"}),
    ("human resource management in hospitals", {"human resource management", "hospitals"}),
    ("additive manufacturing of titanium", {"additive manufacturing", "titanium"}),
    ("irritable bowel syndrome and fibre", {"irritable bowel syndrome", "fibre"}),
    ("sign language recognition from video", {"sign language", "recognition", "video"}),
    ("retention of primary school teachers", {"retention", "primary school", "teachers"}),
    ("How does sleep shape memory consolidation?", {"sleep", "memory consolidation"}),
    ("Can probiotics treat colic?", {"probiotics", "colic"}),
    ("How do parsers represent syntax?", {"parsers", "syntax"}),
    ("How do owls navigate forests?", {"owls", "forests"}),
    ("freshwater pearl mussel decline", {"freshwater pearl mussel decline"}),
    ("dense granular shear flow rheology of sand", {"dense granular", "shear flow rheology", "sand"}),
    ("what do farmers prescribe for ponies kept in stables", {"farmers", "prescribe", "ponies", "stables"}),
    ("smoked fish and fermented cabbage", {"smoked fish", "fermented cabbage"}),
    ("treating warts in toddlers", {"warts", "toddlers"}),
    ("a child's handwriting", {"child", "handwriting"}),
    ("violin lessons: testing and scoring", {"violin lessons"}),
    ("hepatitis A vaccines", {"hepatitis A vaccines"}),
    ("poorly insulated houses", {"poorly insulated houses"}),
    ("Einfluss der Musik auf das Gedächtnis", {"Musik", "Gedächtnis"}),
    ("Quelle est l'influence du bruit sur les grenouilles ?", {"bruit", "grenouilles"}),
    ("los efectos del ruido urbano sobre las ranas", {"ruido urbano", "ranas"}),
    ("气候变化对森林鸟类的影响", {"气候变化", "森林鸟类"}),
    ("rituximab serum levels in lupus nephritis", {"rituximab", "serum", "lupus nephritis"}),
    ("statin muscle pain", {"statin", "muscle pain"}),
    ("night predators, i.e., owls, e.g. in forests", {"night predators", "owls", "forests"}),
]


async def read_intent(query: str) -> ParsedIntent:
    return await IntentParser(domain="general", clock=CLOCK).parse(query)


async def list_blocks(query: str) -> list[ConceptBlock]:
    return build_blocks(await read_intent(query), VOCABULARY)


def list_numberless(names: set[str]) -> set[tuple[str, ...]]:
    return {tuple(extract_terms(name)) for name in names}


@pytest.mark.parametrize(("question", "expected"), QUESTIONS)
async def test_only_terms_with_a_topic_are_blocks_and_conditions(question: str, expected: set[str]) -> None:
    names = {block.name for block in await list_blocks(question)}
    assert list_numberless(expected) <= list_numberless(names)
    generic = {stem for word in WITHOUT_TOPIC.split() for stem in extract_terms(word)}
    plan = await QueryBuilder(None, "general", ["crossref"], CLOCK).build(
        QueryBuilderInput(intent=await read_intent(question))
    )
    for query in plan.queries:
        if tree := parse_query(query.boolean_query):
            alone = {tuple(extract_terms(term.text)) for term in iterate_wanted_terms(tree)}
            assert not {terms[0] for terms in alone if len(terms) == 1} & generic, query.boolean_query
    glued = (
        "exoplanets form",
        "predict protein",
        "adapt language",
        "therapy beneficial",
        "target effect",
        "prediction",
    )
    assert not any(part in " ".join(names) for part in glued)
    assert not names & {"i.e", "e.g", "i.e.", "e.g."}


@pytest.mark.parametrize(
    ("question", "words"),
    [("risk perception of nuclear power", {"risk"}), ("decision making in chess", {"decision", "make"})],
)
async def test_a_word_without_a_topic_is_required_only_beside_the_words_of_its_term(
    question: str, words: set[str]
) -> None:
    plan = await QueryBuilder(None, "general", ["crossref"], CLOCK).build(
        QueryBuilderInput(intent=await read_intent(question))
    )
    term = set(extract_terms(" ".join(question.split()[:2])))
    for query in plan.queries:
        required = set(extract_terms(query.boolean_query))
        assert not required & words or term <= required, query.boolean_query


@pytest.mark.parametrize("word", WITHOUT_TOPIC.split())
def test_a_word_without_a_topic_is_recognised_in_any_inflection(word: str) -> None:
    assert is_generic(word)
    assert is_generic(word.capitalize())


def test_a_verb_makes_no_block_but_papers_may_teach_it() -> None:
    assert is_generic("inhibited")
    assert is_teachable("inhibited")


@pytest.mark.parametrize("word", ["graphene", "sleep", "malaria", "tariff", "sonnet", "COVID-19", "coral"])
def test_words_with_a_topic_are_not_generic(word: str) -> None:
    assert not is_generic(word)


@pytest.mark.parametrize(
    ("question", "name", "variants"),
    [
        ("tumour growth", "tumour growth", {"tumor growth"}),
        ("anemia in horses", "anemia", {"anaemia"}),
        ("colour vision", "colour vision", {"color vision"}),
        ("medical student", "medical student", {"medical students"}),
        ("solar cells", "solar cells", {"solar cell"}),
        ("protein-ligand docking", "protein-ligand docking", {"protein ligand docking"}),
        ("quantum frobnication theory (QFT)", "quantum frobnication theory", {"QFT"}),
        ("GNN for traffic", "GNN", {"graph neural network"}),
        ("COVID-19 vaccines", "COVID-19", {"SARS-CoV-2"}),
        ("heart attack", "heart attack", {"myocardial infarction"}),
        ("electric buses", "electric buses", {"electric bus"}),
        ("tele-nursing", "tele-nursing", {"tele nursing", "telenursing"}),
        ("plant viruses", "plant viruses", {"plant virus"}),
        ("screen time of toddlers", "screen time", {"screen use"}),
        ("birth control among migrants", "birth control", {"contraception"}),
    ],
)
async def test_a_block_holds_spellings_numbers_acronyms_and_synonyms(
    question: str, name: str, variants: set[str]
) -> None:
    block = next(block for block in await list_blocks(question) if block.name == name)
    assert block.variants[0] == name
    assert variants <= set(block.variants)
    assert len(block.variants) <= MAX_VARIANTS
    assert len({one.casefold() for one in block.variants}) == len(block.variants)


@pytest.mark.parametrize(
    ("broad", "narrow"), [("pesticides", "herbicide"), ("rodents", "rat"), ("public transport", "transit")]
)
async def test_a_broader_term_is_searched_with_its_narrower_ones_and_not_the_other_way_round(
    broad: str, narrow: str
) -> None:
    (asked,), (other,) = await list_blocks(broad), await list_blocks(narrow)
    assert narrow in asked.variants
    assert not {"insecticide", "pesticide", "mouse", "public transport"} & set(other.variants)


@pytest.mark.parametrize(
    ("word", "wrong"),
    [("academic", "acadaemic"), ("leukaemia", "leukaaemia"), ("epidemic", "epidaemic"), ("y", "yies")],
)
def test_a_spelling_is_never_invented(word: str, wrong: str) -> None:
    assert wrong not in list_spellings(word)


@pytest.mark.parametrize(
    ("plural", "singular"),
    [
        *(("buses", "bus"), ("viruses", "virus"), ("campuses", "campus"), ("sinuses", "sinus"), ("houses", "house")),
        *(("causes", "cause"), ("abuses", "abuse"), ("uses", "use"), ("fuses", "fuse"), ("nurses", "nurse")),
    ],
)
def test_a_plural_in_uses_has_the_singular_of_its_word(plural: str, singular: str) -> None:
    assert to_singular(plural) == singular


async def test_a_verb_before_a_noun_is_no_part_of_its_term() -> None:
    assert [block.name for block in await list_blocks("how to monitor wildlife")] == ["monitor", "wildlife"]


def test_each_spelling_leads_to_the_other() -> None:
    assert "leukemia" in list_spellings("leukaemia")
    assert "leukaemia" in list_spellings("leukemia")


@pytest.mark.parametrize(
    ("question", "name", "alternatives"),
    [
        ("infliximab or etanercept in psoriasis", "infliximab or etanercept", ["infliximab", "etanercept"]),
        ("trust, privacy and fairness of robots", "trust or privacy or fairness", ["trust", "privacy", "fairness"]),
    ],
)
async def test_the_terms_of_a_list_are_one_block(question: str, name: str, alternatives: list[str]) -> None:
    listed, other = await list_blocks(question)
    assert listed.name == name
    assert listed.variants[: len(alternatives)] == alternatives
    assert other.name not in alternatives


async def test_terms_in_brackets_are_alternatives_and_terms_in_a_relation_are_not() -> None:
    names = [block.name for block in await list_blocks("mussels of rivers (Danube, Rhine)")]
    assert names == ["mussels", "rivers", "Danube or Rhine"]
    names = [block.name for block in await list_blocks("relation between humour, boredom and violin practice")]
    assert names[:2] == ["humour", "boredom"]


async def test_no_block_has_the_name_of_another_as_its_variant() -> None:
    first, second = await list_blocks("pesticides and herbicides")
    assert "herbicide" not in first.variants
    assert "herbicides" in second.variants


@pytest.mark.parametrize(
    ("word", "spellings"),
    [
        ("caries", []),
        ("teeth", ["tooth"]),
        ("diabetes", []),
        ("fungus", ["fungi"]),
        ("species", []),
        ("mice", ["mouse"]),
    ],
)
def test_a_noun_with_an_irregular_plural_or_none_is_spelled_as_papers_write_it(word: str, spellings: list[str]) -> None:
    assert list_spellings(word) == [word, *spellings]


async def test_a_word_that_needs_its_noun_keeps_it_and_is_searched_without_it_too() -> None:
    (block, _) = await list_blocks("school-based programmes for stutterers")
    assert block.name == "school-based programmes"
    assert "school" in block.variants


async def test_two_terms_joined_by_and_are_two_blocks() -> None:
    assert [block.name for block in await list_blocks("coffee and gout")] == ["coffee", "gout"]


async def test_a_quoted_phrase_is_an_exact_block_without_variants() -> None:
    first, other = await list_blocks('"working memory" in ravens')
    assert (first.name, first.variants, first.exact) == ("working memory", ["working memory"], True)
    assert (other.name, other.exact) == ("ravens", False)


async def test_an_author_inside_a_block_is_not_required_again() -> None:
    assert [block.name for block in await list_blocks("papers by Jane Doe")] == ["Jane Doe"]


async def test_the_people_of_a_question_are_a_block() -> None:
    assert [block.name for block in await list_blocks("adolescent mental health")] == ["adolescent", "mental health"]


async def test_a_question_of_words_without_a_topic_still_has_blocks() -> None:
    assert await list_blocks("effects of treatment") != []


def test_a_learned_block_keeps_its_reason_and_the_rarest_term_has_the_smallest_share() -> None:
    block = make_block("obliquity", VOCABULARY, reason="in 3 of 4 papers", learned=True)
    assert (block.learned, block.reason, block.active) == (True, "in 3 of 4 papers", True)
    assert estimate_share("sleep quality") <= estimate_share("sleep") < estimate_share("language")
    assert estimate_share("the of") == 1.0


async def test_a_quoted_phrase_takes_the_place_of_the_last_of_too_many_blocks() -> None:
    words = ["coffee", "gout", "yoga", "lidar", "titanium", "dementia", "wine", "moonlight", "owls"]
    named = [block.name for block in await list_blocks(" and ".join(words))]
    assert named == words[:MAX_BLOCKS]
    quoted = [block.name for block in await list_blocks(f'"sign language" in {" and ".join(words)}')]
    assert quoted == ["sign language", *words[: MAX_BLOCKS - 1]]


def test_the_block_of_several_authors_has_each_once() -> None:
    assert make_author_block(["Kim", "Lee", "Kim"]).variants == ["Kim", "Lee"]
