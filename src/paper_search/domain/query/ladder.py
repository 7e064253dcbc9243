"""Compose queries from strict to broad of the words of concept blocks, and read the blocks back from queries.

A Boolean query of the ladder requires at least two blocks, or one that is specific enough to stand alone. Blocks that
were learned from papers are never required together: each is combined with the blocks of the question, and in pairs.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Final

from paper_search.domain.query.query_texts import format_query, normalise_query, parse_phrase
from paper_search.domain.strategies.plain_words import parse_query
from paper_search.models import ConceptBlock, SearchQuery, SearchStrategy, SynonymMap
from uraniborg.kernel.language.boolean_query import AllOf, AnyOf, Node, Term, iterate_wanted_terms, join_all, join_any
from uraniborg.kernel.language.words import extract_terms, split_words

MOST_LEARNED: Final = 12
"""The number of learned blocks that queries use, in the order of the plan."""
_MOST_COMBINED: Final = 5  # the first blocks, in combinations of fewer than all and in pairs of learned ones
_ASKED_CROSSED, _LEARNED_CROSSED = 3, 8  # the first blocks of the question and learned ones, in pairs of both
_LEARNED_ALONE: Final = 3  # fewer learned blocks say too little to be a query without the words of the question
_LEARNED_WORDS: Final = 6  # learned blocks whose words join those of the question in one query
_ALONE: Final = 0.0005  # the largest share of papers with which a block can stand alone
_UNKNOWN_SHARE: Final = 0.01


def compose_ladder(
    blocks: Sequence[ConceptBlock],
    excluded: Sequence[Node] = (),
    question_words: str = "",
    titles: Iterable[str] = (),
    blocks_before: Sequence[ConceptBlock] = (),
) -> list[SearchQuery]:
    """Return the queries for the active blocks, the strictest first, each with the exclusions and each text once.

    Queries with learned blocks come first: they find what the words of the question miss. Ranking sources that need
    more papers receive the words of `titles`, and those of the question without the concepts that are switched off or
    only in `blocks_before`; the `keywords` of that query are all `question_words`.
    """
    asked = [block for block in blocks if block.active and not block.learned]
    learned = [block for block in blocks if block.active and block.learned][:MOST_LEARNED]
    composed = [
        _compose_query(required, excluded, rung, is_loose)
        for rung, (conditions, is_loose) in enumerate(_iterate_rungs(sorted(asked, key=_get_share), learned))
        for required in conditions
    ]
    worded = list(_compose_word_queries(asked, learned))
    worded += [SearchQuery(keywords=split_words(title), boolean_query="", words=title) for title in titles]
    if parse_query(kept := drop_unused_words(question_words, [*blocks_before, *blocks], blocks)):
        last = max((query.rung for query in worded), default=-1) + 1
        worded.append(SearchQuery(keywords=question_words.split(), boolean_query="", words=kept, rung=last))
    minus = " ".join(f"-{format_query(node)}" for node in excluded if isinstance(node, Term))
    worded = [query.model_copy(update={"words": f"{query.words} {minus}".strip()}) for query in worded]
    queries: dict[tuple[str, ...], SearchQuery] = {}
    for query in (*composed, *worded):
        queries.setdefault((query.boolean_query, *split_words(query.words)), query)
    return sorted(queries.values(), key=lambda query: query.rung)


def build_block_condition(block: ConceptBlock, *, is_loose: bool = False) -> Node | None:
    """Return the block as a condition: one of its variants; in a loose one their words need not stand together."""
    nodes: dict[tuple[str, ...], Node | None] = {}
    for variant in block.variants or [block.name]:
        words = list_words(variant)
        if is_loose and len(words) > 1 and not block.exact:
            # Variants in the plural or with a hyphen are the same words.
            nodes.setdefault(("", *sorted(get_stems(variant))), join_all(map(parse_phrase, words)))
        else:
            nodes[(variant,)] = parse_phrase(variant)
    return join_any(nodes.values())


def _iterate_rungs(
    asked: Sequence[ConceptBlock], learned: Sequence[ConceptBlock]
) -> Iterator[tuple[Iterable[Sequence[ConceptBlock]], bool]]:
    """Yield for each rung what its queries require, and whether words may stand apart. The most specific come first."""
    if learned:
        crossed = [(own, other) for own in asked[:_ASKED_CROSSED] for other in learned[:_LEARNED_CROSSED]]
        yield [*crossed, *combinations(learned[:_MOST_COMBINED], 2)], True
    best = asked[:_MOST_COMBINED]
    if len(asked) > 1:
        yield [asked], False
        for size in range(len(best) - 1, 1, -1):
            yield [(best[0], *others) for others in combinations(best[1:], size)], True
        yield combinations(best, 2), True
        if (words := _split_into_words(best)) != best:
            yield [pair for pair in combinations(words, 2) if pair[0].name != pair[1].name], True
    if len(asked) == 1 or (asked and _get_share(asked[0]) <= _ALONE):
        yield [asked[:1]], False
    if len(asked) == 1 and len(list_block_words(asked[0])) > 1:
        yield [asked], True


def _split_into_words(blocks: Sequence[ConceptBlock]) -> list[ConceptBlock]:
    """Return the blocks with only one of their rarest words each."""
    found: dict[str, ConceptBlock] = {}
    for block in blocks:
        if block.exact or len(list_block_words(block)) < 2:
            found.setdefault(block.name, block)
            continue
        for word in list_single_words(block):
            if len(word) > 1 and not word.isdigit():  # "2" of "World War 2" says nothing by itself
                share = block.word_shares.get(word, _UNKNOWN_SHARE)
                found.setdefault(word, block.model_copy(update={"variants": [word], "share": share}))
    return sorted(found.values(), key=_get_share)[:_MOST_COMBINED]


def _compose_query(blocks: Sequence[ConceptBlock], excluded: Sequence[Node], rung: int, is_loose: bool) -> SearchQuery:
    ordered = sorted(blocks, key=_get_share)
    names = [block.name for block in ordered]
    synonyms = {block.name: block.variants[1:] for block in ordered if block.variants[1:]}
    node = join_all((build_block_condition(block, is_loose=is_loose) for block in ordered), excluded)
    return SearchQuery(
        keywords=names,
        synonym_map=[SynonymMap(keyword=name, synonyms=others) for name, others in synonyms.items()],
        boolean_query=normalise_query(format_query(node)) if node else "",
        rung=rung,
        blocks=names,
    )


def _compose_word_queries(asked: Sequence[ConceptBlock], learned: Sequence[ConceptBlock]) -> Iterator[SearchQuery]:
    """Yield the queries for ranking sources: a rung with learned blocks if there are any, and one without."""
    parts = [learned[start : start + _LEARNED_WORDS] for start in range(0, len(learned), _LEARNED_WORDS)]
    alone = [learned[:_LEARNED_CROSSED]] if len(learned) >= _LEARNED_ALONE else []
    taught = [[*([*asked, *part] for part in parts), *alone]] if learned else []
    for rung, lists in enumerate([*taught, [asked]]):
        for used in lists:
            names = [block.name for block in used]
            if words := " ".join(dict.fromkeys(word for block in used for word in list_block_words(block))):
                yield SearchQuery(keywords=names, boolean_query="", words=words, rung=rung, blocks=names)


def _get_share(block: ConceptBlock) -> float:
    return _UNKNOWN_SHARE if block.share is None else block.share


def align_blocks_and_queries(proposed: SearchStrategy, edited: SearchStrategy) -> SearchStrategy:
    """Return the edited strategy with its blocks and queries in step: edited queries stay, and the blocks are read.

    If only the blocks were edited, the queries are composed anew, and terms that a block has are not suggested.
    """
    if edited.queries != proposed.queries:
        is_read = edited.blocks and edited.blocks == proposed.blocks
        return edited.model_copy(update={"blocks": read_blocks(edited)}) if is_read else edited
    if edited.blocks == proposed.blocks:
        return edited
    own = (query.keywords for query in proposed.queries if query.words and query.rung and not query.blocks)
    excluded, question = list_common_exclusions(proposed.queries), " ".join(next(own, ()))
    queries = compose_ladder(edited.blocks, excluded, question, list_titles(proposed.queries), proposed.blocks)
    used = {get_stems(text) for block in edited.blocks for text in (block.name, *block.variants)}
    left = [one for one in edited.suggestions if get_stems(one.term) not in used]
    return edited.model_copy(update={"queries": queries, "suggestions": left})


def list_common_exclusions(queries: Sequence[SearchQuery]) -> list[Node]:
    trees = [tree for query in queries if (tree := parse_query(query.boolean_query))]
    found = [tree.excluded if isinstance(tree, AllOf) else () for tree in trees]
    return [node for node in found[0] if all(node in other for other in found)] if found else []


def list_titles(queries: Sequence[SearchQuery]) -> list[str]:
    """Return the titles whose words the queries send to ranking sources."""
    sent = (parse_query(query.words) for query in queries if query.words and not query.blocks and not query.rung)
    return [join_wanted_terms(tree) for tree in sent if tree]


def read_blocks(edited: SearchStrategy) -> list[ConceptBlock]:
    """Return the blocks as edited queries use them: other variants, new blocks, and those without a query switched off.

    A condition belongs to the block with which it shares most variants. Single words of a block's name, as the broadest
    queries require them, use the block; they replace its variants if no query has all words of the name.
    """
    blocks = {block.name: block for block in edited.blocks}
    variants: defaultdict[str, list[str]] = defaultdict(list)
    words: defaultdict[str, list[str]] = defaultdict(list)
    trees = [tree for query in edited.queries if (tree := parse_query(query.boolean_query))]
    conditions = (alternatives for tree in trees for alternatives in list_conditions(tree))
    for condition in (list(map(join_wanted_terms, alternatives)) for alternatives in conditions):
        texts, word = set(map(get_stems, condition)), set(get_stems(condition[0]))
        shared = {name: len(texts.intersection(map(get_stems, block.variants))) for name, block in blocks.items()}
        named = [name for name in blocks if len(condition) == 1 and word.issubset(get_stems(name))]
        if any(shared.values()):
            variants[max(shared, key=lambda name: shared[name])] += condition
        elif named:
            words[named[0]] += condition
        else:
            blocks[condition[0]] = ConceptBlock(name=condition[0], variants=condition, reason="written in a query")
            variants[condition[0]] = condition
    for name, own in words.items():
        if set(get_stems(" ".join(own))) < set(get_stems(name)):
            variants.setdefault(name, own)
    for name, block in blocks.items():
        used = list(dict.fromkeys(variants.get(name, block.variants)))
        blocks[name] = block.model_copy(update={"active": name in words or name in variants, "variants": used})
    return list(blocks.values())


def list_conditions(tree: Node) -> list[Sequence[Node]]:
    parts = tree.parts if isinstance(tree, AllOf) else (tree,)
    return [part.parts if isinstance(part, AnyOf) else (part,) for part in parts]


def join_wanted_terms(node: Node) -> str:
    return " ".join(term.text for term in iterate_wanted_terms(node))


@lru_cache(maxsize=4096)
def get_stems(text: str) -> tuple[str, ...]:
    """Return the stems of the words of a text that say anything: equal for its plural and its other spellings."""
    return tuple(extract_terms(text))


def list_words(text: str) -> list[str]:
    """Return the words of a text that say anything. Chinese and Japanese text has no spaces and stays whole."""
    words = split_words(text) if text.isascii() else text.casefold().split()
    return [word for word in words if get_stems(word)]


def list_block_words(block: ConceptBlock) -> list[str]:
    """Return the words of a block's name, or of its first variant if the name is no longer a variant."""
    return list_words(_get_searched_name(block))


def list_single_words(block: ConceptBlock) -> list[str]:
    """Return the words of a block that may stand for it alone, the ones with a known share if there are any."""
    wanted = set(get_stems(_get_searched_name(block)))
    return [word for word in block.word_shares if wanted.issuperset(get_stems(word))] or list_block_words(block)


def drop_unused_words(question: str, before: Sequence[ConceptBlock], now: Sequence[ConceptBlock]) -> str:
    """Return the words of a question without those of the blocks `before` that no active block of `now` has."""
    used = {text for block in now if block.active for text in (*block.variants, _get_searched_name(block))}
    known = {text for block in before for text in (block.name, *block.variants)}
    unused = {stem for text in known for stem in get_stems(text)} - {stem for text in used for stem in get_stems(text)}
    return " ".join(word for word in question.split() if not get_stems(word) or set(get_stems(word)) - unused)


def _get_searched_name(block: ConceptBlock) -> str:
    """Return what is left of the name of a block ("a or b" names several variants), or else its first variant."""
    searched = set(map(get_stems, block.variants))
    names = [block.name] if get_stems(block.name) in searched else block.name.split(" or ")
    return " or ".join(name for name in names if get_stems(name) in searched) or next(iter(block.variants), block.name)
