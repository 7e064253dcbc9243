"""The ladder of a plan: queries from strict to broad, composed of concept blocks, and blocks read back from queries.

A Boolean query of the ladder requires at least two blocks, or one that is specific enough to stand alone. Blocks that
were learned from papers are never required together: each is combined with the blocks of the question, and in pairs.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final, NamedTuple

from paper_search.models import ConceptBlock, SearchQuery, SearchStrategy, SynonymMap
from paper_search.query.block_words import drop_unused_words, list_block_words, list_single_words, list_words
from paper_search.query.boolean_query import AllOf, AnyOf, Node, Term, join_all, join_any, parse_query
from paper_search.query.rendering import format_query, normalise_query, parse_phrase
from paper_search.text import extract_terms, split_words

MOST_COMBINED: Final = 5
"""Combinations of fewer than all blocks use only so many of the most specific ones."""
MOST_LEARNED: Final = 12
"""The number of learned blocks that queries use, in the order of the plan."""
_LEARNED_CROSSED: Final = 8
"""The number of learned blocks that are combined with blocks of the question."""
_LEARNED_PAIRED: Final = 5
"""The number of learned blocks that are combined with one another."""
_WITH_LEARNED: Final = 3
"""The number of the question's most specific blocks that are combined with learned ones."""
_ALONE: Final = 0.0005
"""The largest share of papers with which a block can stand alone."""
_UNKNOWN_SHARE: Final = 0.01
_FEW: Final = 3
"""Blocks with more variants than this have synonyms; the strictest query uses only the names."""
_LEARNED_ALONE: Final = 3
"""Fewer learned blocks say too little to be the words of a query without those of the question."""
_LEARNED_WORDS: Final = 6
"""The number of learned blocks whose words join those of the question in one query."""


def compose_ladder(
    blocks: Sequence[ConceptBlock],
    excluded: Sequence[Node] = (),
    question_words: str = "",
    titles: Iterable[str] = (),
    blocks_before: Sequence[ConceptBlock] = (),
) -> list[SearchQuery]:
    """Return the queries for the active blocks, the strictest first; the same text never twice.

    Queries with learned blocks come first: they find what the words of the question miss. Every query excludes the
    `excluded` nodes. `question_words` are all words of the question, for ranking sources that need more papers, without
    those of concepts that are switched off or only in `blocks_before`; `keywords` of their query are all of them.
    `titles` are the words of papers' titles, for ranking sources that look for papers like these.
    """
    active = [block for block in blocks if block.active]
    asked = sorted((block for block in active if not block.learned), key=_get_share)
    learned = [block for block in active if block.learned][:MOST_LEARNED]
    rungs = [*_compose_learned_conditions(asked, learned), *_compose_conditions(asked)]
    queries: dict[tuple[str, str], SearchQuery] = {}  # by the Boolean text or the words, so that none comes twice
    for rung, combinations_of_rung in enumerate(rungs):
        for combination, is_loose in combinations_of_rung:
            query = _compose_query(combination, excluded, rung, is_loose=is_loose)
            queries.setdefault((query.boolean_query, ""), query)
    minus = " ".join(f"-{format_query(node)}" for node in excluded if isinstance(node, Term))
    for rung, lists in enumerate(_list_word_rungs(active, learned)):
        for used in lists:
            if not (words := _join_words(used)):
                continue
            names = [block.name for block in used]
            text = f"{words} {minus}".strip()
            query = SearchQuery(keywords=names, boolean_query="", words=text, rung=rung, blocks=names)
            queries.setdefault(("", " ".join(split_words(text))), query)
    for title in titles:
        text = f"{title} {minus}".strip()
        like = SearchQuery(keywords=split_words(title), boolean_query="", words=text)
        queries.setdefault(("", " ".join(split_words(text))), like)
    if parse_query(kept := drop_unused_words(question_words, [*blocks_before, *blocks], blocks)):
        last = max((query.rung for query in queries.values() if query.words), default=-1) + 1
        text = f"{kept} {minus}".strip()
        own = SearchQuery(keywords=question_words.split(), boolean_query="", words=text, rung=last)
        queries.setdefault(("", " ".join(split_words(text))), own)
    return sorted(queries.values(), key=lambda query: query.rung)


def align_blocks_and_queries(proposed: SearchStrategy, edited: SearchStrategy) -> SearchStrategy:
    """Return the edited strategy with its blocks and queries in step.

    If only the blocks were edited, the queries are composed anew, and terms that a block has are not suggested. If the
    queries were edited, they stay exactly as they are, and the blocks are read from them.
    """
    if edited.queries == proposed.queries:
        if edited.blocks == proposed.blocks:
            return edited
        excluded = list_common_exclusions(proposed.queries)
        own = (query.keywords for query in proposed.queries if query.words and query.rung and not query.blocks)
        question = " ".join(next(own, list[str]()))
        titles = list_titles(proposed.queries)
        queries = compose_ladder(edited.blocks, excluded, question, titles, proposed.blocks)
        used = _collect_stems_of_terms(edited.blocks)
        left = [one for one in edited.suggestions if tuple(extract_terms(one.term)) not in used]
        return edited.model_copy(update={"queries": queries, "suggestions": left})
    if not (edited.blocks and edited.blocks == proposed.blocks):
        return edited
    return edited.model_copy(update={"blocks": _read_blocks(edited)})


def build_block_condition(block: ConceptBlock, *, is_loose: bool = False) -> Node | None:
    """Return the block as a condition: one of its variants; in a loose one their words need not stand together."""
    nodes: list[Node | None] = []
    seen: set[tuple[str, ...]] = set()
    for variant in block.variants or [block.name]:
        phrase = parse_phrase(variant)
        words = list_words(variant)
        if is_loose and phrase and len(words) > 1 and not block.exact:
            key = tuple(sorted(extract_terms(variant)))
            if key in seen:  # variants in the plural or with a hyphen are the same words
                continue
            seen.add(key)
            nodes.append(join_all(map(parse_phrase, words)))
        else:
            nodes.append(phrase)
    return join_any(nodes)


_Combination = tuple[Sequence[ConceptBlock], bool]


def _compose_conditions(asked: Sequence[ConceptBlock]) -> Iterator[list[_Combination]]:
    """Yield the rungs for the blocks of the question, which are given with the most specific block first."""
    if not asked:
        return
    best = asked[:MOST_COMBINED]
    if len(asked) > 1:
        if any(len(block.variants) > _FEW for block in asked):
            yield [([_keep_names(block) for block in asked], False)]
        yield [(asked, False)]
    for size in range(min(len(asked), MOST_COMBINED), 2, -1):
        yield [(combination, True) for combination in combinations(best, size) if asked[0] in combination]
    if len(asked) > 1:
        yield [(pair, True) for pair in combinations(best, 2)]
        if words := _split_into_words(best):
            yield [(pair, True) for pair in combinations(words, 2) if pair[0].name != pair[1].name]
    if len(asked) == 1 or _get_share(asked[0]) <= _ALONE:
        yield [([asked[0]], False)]
        if len(asked) == 1 and len(list_block_words(asked[0])) > 1:
            yield [([asked[0]], True)]


def _keep_names(block: ConceptBlock) -> ConceptBlock:
    """Return the block with the spellings of its name only, for the strictest query."""
    own = {tuple(extract_terms(text)) for text in block.name.split(" or ")}
    named = [variant for variant in block.variants if tuple(extract_terms(variant)) in own]
    return block.model_copy(update={"variants": named or block.variants})


def _compose_learned_conditions(
    asked: Sequence[ConceptBlock], learned: Sequence[ConceptBlock]
) -> Iterator[list[_Combination]]:
    if learned:
        crossed = [((own, other), True) for own in asked[:_WITH_LEARNED] for other in learned[:_LEARNED_CROSSED]]
        yield [*crossed, *((pair, True) for pair in combinations(learned[:_LEARNED_PAIRED], 2))]


def _split_into_words(blocks: Sequence[ConceptBlock]) -> list[ConceptBlock]:
    """Return the blocks with only one of their rarest words each; [] if every block is one word already."""
    parts = [(block, [] if _is_one_word(block) else list_single_words(block)) for block in blocks]
    if not any(words for _, words in parts):
        return []
    found: dict[str, ConceptBlock] = {}
    for block, words in parts:
        if not words:
            found.setdefault(block.name, block)
        for word in words:
            if len(word) > 1 and not word.isdigit():  # "2" of "World War 2" says nothing by itself
                share = block.word_shares.get(word, _UNKNOWN_SHARE)
                found.setdefault(word, block.model_copy(update={"variants": [word], "share": share}))
    return sorted(found.values(), key=_get_share)[:MOST_COMBINED]


def _is_one_word(block: ConceptBlock) -> bool:
    return block.exact or len(list_block_words(block)) < 2


def _list_word_rungs(
    active: Sequence[ConceptBlock], learned: Sequence[ConceptBlock]
) -> Iterator[list[Sequence[ConceptBlock]]]:
    """Yield the rungs for ranking sources as lists of blocks whose words they get: with learned ones, then without."""
    asked = [block for block in active if not block.learned]
    if learned:
        parts = [learned[start : start + _LEARNED_WORDS] for start in range(0, len(learned), _LEARNED_WORDS)]
        alone = [learned[:_LEARNED_CROSSED]] if len(learned) >= _LEARNED_ALONE else []
        yield [*([*asked, *part] for part in parts), *alone]
    if asked:
        yield [asked]


def _join_words(blocks: Iterable[ConceptBlock]) -> str:
    return " ".join(dict.fromkeys(word for block in blocks for word in list_block_words(block)))


def _compose_query(
    blocks: Sequence[ConceptBlock], excluded: Sequence[Node], rung: int, *, is_loose: bool
) -> SearchQuery:
    ordered = sorted(blocks, key=_get_share)
    node = join_all((build_block_condition(block, is_loose=is_loose) for block in ordered), excluded)
    return SearchQuery(
        keywords=[block.name for block in ordered],
        synonym_map=[
            SynonymMap(keyword=block.name, synonyms=block.variants[1:]) for block in ordered if block.variants[1:]
        ],
        boolean_query=normalise_query(format_query(node)) if node else "",
        rung=rung,
        blocks=[block.name for block in ordered],
    )


def _get_share(block: ConceptBlock) -> float:
    return _UNKNOWN_SHARE if block.share is None else block.share


def list_common_exclusions(queries: Sequence[SearchQuery]) -> list[Node]:
    """Return the nodes that every Boolean query excludes."""
    trees = [tree for query in queries if query.boolean_query and (tree := parse_query(query.boolean_query))]
    found = [list(tree.excluded) if isinstance(tree, AllOf) else [] for tree in trees]
    return [node for node in found[0] if all(node in other for other in found)] if found else []


def list_titles(queries: Sequence[SearchQuery]) -> list[str]:
    """Return the titles whose words the queries send to ranking sources."""
    return [_drop_exclusions(query.words) for query in queries if query.words and not query.blocks and not query.rung]


def _drop_exclusions(words: str) -> str:
    tree = parse_query(words)
    parts = tree.parts if isinstance(tree, AllOf) else ((tree,) if tree else ())
    return " ".join(part.text for part in parts if isinstance(part, Term))


def _read_blocks(edited: SearchStrategy) -> list[ConceptBlock]:
    """Return the blocks as edited queries use them: other variants, new blocks, and those without a query switched off.

    A condition belongs to the block with which it shares a variant. Single words of a block's name, as the broadest
    queries require them, use the block; they replace its variants if no query has all words of the name.
    """
    blocks = {block.name: block for block in edited.blocks}
    stems = {block.name: _extract_stems(block) for block in edited.blocks}
    variants: dict[str, dict[str, None]] = {}
    words: dict[str, dict[str, None]] = {}
    for condition in (condition for query in edited.queries for condition in _list_conditions(query)):
        if found := _find_block_of_variants(condition, stems):
            variants.setdefault(found, {}).update(dict.fromkeys(condition))
        elif found := _find_block_of_word(condition, stems):
            words.setdefault(found, {})[condition[0]] = None
        else:
            name = condition[0]
            blocks[name] = ConceptBlock(name=name, variants=condition, reason="written in a query")
            stems[name] = _extract_stems(blocks[name])
            variants[name] = dict.fromkeys(condition)
    for name, own in words.items():
        if _collect_stems(own) < stems[name].name:
            variants.setdefault(name, own)
    return [
        block.model_copy(
            update={
                "active": block.name in words or block.name in variants,
                "variants": list(variants.get(block.name, block.variants)),
            }
        )
        for block in blocks.values()
    ]


def _list_conditions(query: SearchQuery) -> list[list[str]]:
    """Return for each condition of a Boolean query its alternatives as texts; words joined by AND make one text."""
    tree = parse_query(query.boolean_query)
    if tree is None:
        return []
    parts = tree.parts if isinstance(tree, AllOf) else (tree,)
    return [
        [_format_alternative(one) for one in (part.parts if isinstance(part, AnyOf) else (part,))] for part in parts
    ]


def _format_alternative(node: Node) -> str:
    if isinstance(node, Term):
        return node.text
    terms = [part.text for part in node.parts if isinstance(part, Term)]
    return " ".join(terms) if isinstance(node, AllOf) and len(terms) == len(node.parts) else format_query(node)


class _Stems(NamedTuple):
    """The stems of a block, which a plan with many queries compares often."""

    variants: set[tuple[str, ...]]
    name: set[str]


def _collect_stems(texts: Iterable[str]) -> set[str]:
    return {stem for text in texts for stem in extract_terms(text)}


def _collect_stems_of_terms(blocks: Iterable[ConceptBlock]) -> set[tuple[str, ...]]:
    return {tuple(extract_terms(text)) for block in blocks for text in (block.name, *block.variants)}


def _extract_stems(block: ConceptBlock) -> _Stems:
    return _Stems({tuple(extract_terms(text)) for text in block.variants}, set(extract_terms(block.name)))


def _find_block_of_variants(condition: Sequence[str], blocks: Mapping[str, _Stems]) -> str | None:
    """Return the name of the block that shares most variants with the condition; None if no block shares one."""
    wanted = {tuple(extract_terms(text)) for text in condition}
    shared = ((len(wanted & stems.variants), name) for name, stems in blocks.items())
    count, name = max(shared, key=lambda pair: pair[0], default=(0, ""))
    return name if count else None


def _find_block_of_word(condition: Sequence[str], blocks: Mapping[str, _Stems]) -> str | None:
    if len(condition) != 1:
        return None
    wanted = set(extract_terms(condition[0]))
    return next((name for name, stems in blocks.items() if wanted <= stems.name), None)
