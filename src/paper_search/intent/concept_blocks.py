"""The concept blocks of a question: its terms, each with the other ways to write it.

Words without a topic make no block. Neighbouring words make one block if they are a term: a known one, a pair that
papers often use, or a noun with the word before it. Verbs, and adjectives behind a noun, stay words of their own.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from paper_search.intent.concepts import (
    count_name_words,
    find_acronyms,
    find_alternatives,
    find_concepts,
    is_function_word,
    split_into_chunks,
)
from paper_search.intent.text_cleanup import replace_quoted_phrases
from paper_search.intent.topic_words import estimate_share, is_counted_pair, is_generic, is_weak, list_spellings
from paper_search.intent.vocabulary import Vocabulary, make_term_key
from paper_search.intent.wishes import is_title_case
from paper_search.intent.word_lists import MEDICINE_ENDINGS, NOT_FIRST, NOT_SECOND, NOUNS_LIKE_ADJECTIVES
from paper_search.models import ConceptBlock, ParsedIntent
from paper_search.query.rendering import parse_phrase
from paper_search.text import extract_terms, split_words

MAX_BLOCKS: Final = 8
MAX_VARIANTS: Final = 12
_LONGEST_TERM: Final = 4
_NAME_SHARE: Final = 0.001
_VENUE_SHARE: Final = 0.05
_LEAST_SHARE: Final = 0.0001
"""The smallest share: the counts say no more about rarer terms, and JSON writes smaller numbers with an exponent."""
_ADJECTIVE: Final = re.compile(r".{3,}(?:al|ic|ive|ous|able|ible|ful|less|ary)", re.IGNORECASE)
_INITIAL: Final = re.compile(r"[A-Z]\.")
_MODIFIER: Final = re.compile(
    r"(\w{3,})-(?:based|driven|led|oriented|related|induced|associated|assisted)", re.IGNORECASE
)
"""Words that say little without the noun behind them, whatever it is: "school-based programmes"."""
_BETWEEN: Final = re.compile(r"\b(?:between|among) $")
_LINKS: Final = frozenset({",", "and", "or", ", and", ", or", "and/or"})
_EITHER: Final = frozenset({"or", ", or", "and/or"})
_PARTICIPLE: Final = re.compile(r"(?!watershed|seabed|riverbed|infrared).{2,}[^e]ed", re.IGNORECASE)
_ADVERB: Final = re.compile(
    r"(?!family|assembly|anomaly|butterfly|supply|monopoly|jelly|italy|elderly)\w{4,}ly", re.IGNORECASE
)
_NOT_FIRST: Final = re.compile(rf"{_ADVERB.pattern}|[A-Z]{{2,}}s?|[^A-Z].*['’]s?")
"""Words that seldom begin a term: adverbs and possessives; an acronym is a term of its own."""


def build_blocks(intent: ParsedIntent, vocabulary: Vocabulary) -> list[ConceptBlock]:
    """Return the blocks of a question in its order; authors and venues that it names come last."""
    terms = _list_terms(intent, vocabulary)
    lists = _find_lists(intent.topic, terms)
    texts = [term for term in terms if not any(term in others for others in lists.values())]
    spelled_out = {make_term_key(words): acronym for words, acronym in find_acronyms(intent.topic).items()}
    groups = find_alternatives(intent.topic, vocabulary)
    second_names = {make_term_key(name) for group in groups for name in group[1:]}
    second_names |= {make_term_key(acronym) for acronym in spelled_out.values()}
    blocks: dict[tuple[str, ...], ConceptBlock] = {}
    for text in texts:
        key = make_term_key(text)
        if key in blocks or (key in second_names and len(texts) > 1) or not parse_phrase(text):
            continue
        others = [spelled_out[key]] if key in spelled_out else []
        others += [name for group in groups if make_term_key(group[0]) == key for name in group[1:]]
        blocks[key] = make_block(text, vocabulary, others, alternatives=lists.get(text, ()), reason="from the question")
    for key, block in blocks.items():  # a term in two blocks would make their combination ask for that term alone
        kept = [text for text in block.variants if (other := make_term_key(text)) == key or other not in blocks]
        blocks[key] = block.model_copy(update={"variants": kept})
    quoted = {make_term_key(phrase): phrase for phrase in intent.phrases if parse_phrase(phrase)}
    exact = [make_exact_block(phrase) for phrase in quoted.values()]
    asked = [block for key, block in blocks.items() if not any(_contains(whole, key) for whole in quoted)]
    return [*exact, *asked[: max(1, MAX_BLOCKS - len(exact))], *_make_name_blocks(intent, [*quoted, *blocks])]


def make_block(
    text: str,
    vocabulary: Vocabulary,
    others: Iterable[str] = (),
    *,
    alternatives: Sequence[str] = (),
    reason: str,
    learned: bool = False,
) -> ConceptBlock:
    """Return the block of a term with its spellings, synonyms and the other names given.

    `alternatives` are terms beside it in a list, such as "infliximab or etanercept": a paper needs one of them.
    """
    own = [text, *alternatives]
    names = [*own, *others]
    for term in own:
        for spelling in [term] if learned else list_spellings(term):
            names += vocabulary.find_synonyms(spelling)
        if (modifier := _MODIFIER.fullmatch(term.split()[0])) and is_generic(term.split()[-1]):
            names += [modifier[1]] * (not (is_generic(modifier[1]) or is_weak(modifier[1])))
    spelled = [*own, *others, *(one for name in own for one in list_spellings(name)), *names]
    distinct: dict[str, str] = {}
    for one in spelled:
        if parse_phrase(one):
            distinct.setdefault(one.casefold(), one)
    name = " or ".join(own)
    words = [word for word in split_words(name) if extract_terms(word)]
    parts = [word for word in words if not is_generic(word)] or [name]
    return ConceptBlock(
        name=name,
        variants=list(distinct.values())[:MAX_VARIANTS],
        learned=learned,
        share=_round_share(sum({tuple(extract_terms(one)): estimate_share(one) for one in names}.values())),
        word_shares={part: _round_share(estimate_share(part)) for part in parts} if len(words) > 1 else {},
        reason=reason,
    )


def make_exact_block(phrase: str) -> ConceptBlock:
    """Return the block of a quoted phrase, which has no variants."""
    share = _round_share(estimate_share(phrase))
    return ConceptBlock(name=phrase, variants=[phrase], exact=True, share=share, reason="quoted in the question")


def _round_share(share: float) -> float:
    return round(min(1.0, max(_LEAST_SHARE, share)), 6)


def _list_terms(intent: ParsedIntent, vocabulary: Vocabulary) -> list[str]:
    """Return the terms of the topic, or its concepts if no word of it carries a topic."""
    topic, _ = replace_quoted_phrases(intent.topic)
    chunks = [chunk for chunk in split_into_chunks(topic, vocabulary) if chunk]
    capitals_name = not is_title_case(intent.topic)
    known = {make_term_key(words) for words in find_acronyms(intent.topic)}
    found = [
        term
        for chunk in chunks
        for term in _split_into_terms(_join_parts(chunk), vocabulary, known, capitals_name=capitals_name)
    ]
    found = [term for term in found if not (is_weak(term) or _ADVERB.fullmatch(term))] or found
    return found or intent.concepts or find_concepts(intent.topic, vocabulary)


def _find_lists(topic: str, terms: Sequence[str]) -> dict[str, list[str]]:
    """Return the terms that stand in one list, by its first term: "a or b", and lists of three or more with commas."""
    folded, position = topic.casefold(), 0
    runs: list[list[str]] = []
    links: list[set[str]] = []
    for term in terms:
        start = folded.find(term.casefold(), position)
        between = folded[position:start].strip() if start >= 0 else " "
        if runs and between in _LINKS:
            runs[-1].append(term)
            is_bracketed = folded.count("(", 0, start) > folded.count(")", 0, start)
            links[-1].add("or" if is_bracketed else between)  # terms in brackets are examples
        else:
            runs.append([term])
            links.append(set())
        position = start + len(term) if start >= 0 else position
        if len(runs[-1]) == 1 and _BETWEEN.search(folded[:start]):
            links[-1].add(" ")  # "the relation between A, B and C" needs all of them
    return {
        run[0]: run[1:]
        for run, used in zip(runs, links, strict=True)
        if " " not in used and (used & _EITHER or (len(run) > 2 and any("," in link for link in used)))
    }


def _join_parts(chunk: Sequence[str]) -> list[str]:
    """Return the words with "phase 3", "vitamin D" and "E. coli" as one."""
    joined: list[str] = []
    for word in chunk:
        is_suffix = (word.isdigit() and len(word) < 4) or (len(word) == 1 and "A" <= word <= "Z")
        if joined and (_INITIAL.fullmatch(joined[-1]) or (is_suffix and joined[-1].isalpha())):
            joined[-1] += f" {word}"
        else:
            joined.append(word)
    return joined


def _split_into_terms(
    chunk: Sequence[str], vocabulary: Vocabulary, known: set[tuple[str, ...]], *, capitals_name: bool
) -> Iterator[str]:
    """Yield the terms of a run of words; words without a topic separate terms, except within known ones."""
    run: list[str] = []
    position = 0
    while position < len(chunk):
        size = vocabulary.count_matching_tokens(chunk, position) or _count_known_words(chunk, position, known)
        if size == 1 and _is_written_as_name(chunk[position]):  # "COVID-19" in "COVID-19 vaccines" has synonyms
            yield from _divide_run(run)
            yield chunk[position]
            run = []
            position += 1
            continue
        if capitals_name and not size:
            size = count_name_words(list(chunk), position)
        if size > 1:
            yield from _divide_run(run)
            yield " ".join(chunk[position : position + size])
            run = []
        elif position + 1 < len(chunk) and is_counted_pair(chunk[position], chunk[position + 1]):
            yield from _divide_run(run)
            yield " ".join(chunk[position : position + 2])
            run, size = [], 2
        elif _separates(chunk[position]):
            if run and _MODIFIER.fullmatch(run[-1]) and not is_function_word(chunk[position]):
                run.append(chunk[position])
            yield from _divide_run(run)
            run = []
        else:
            run.append(chunk[position])
        position += max(1, size)
    yield from _divide_run(run)


def _count_known_words(chunk: Sequence[str], start: int, known: set[tuple[str, ...]]) -> int:
    """Return the number of words of the longest term at `start` that the question itself explains by an acronym."""
    longest = max(map(len, known), default=0)
    sizes = range(min(len(chunk) - start, longest), 1, -1)
    return next((size for size in sizes if make_term_key(" ".join(chunk[start : start + size])) in known), 0)


def _separates(word: str) -> bool:
    is_short_number = word.isdigit() and len(word) < 4
    return (is_generic(word) and not _is_written_as_name(word)) or is_function_word(word) or is_short_number


def _is_written_as_name(word: str) -> bool:
    return any(character.isupper() for character in word[1:]) or any(map(str.isdigit, word))


def _divide_run(words: Sequence[str]) -> Iterator[str]:
    """Yield the terms of a run of words: neighbours that make a term stay together, longer ones in two halves."""
    start = 0
    for end in range(1, len(words) + 1):
        if end < len(words) and _makes_term(words, end):
            continue
        middle = end if end - start <= _LONGEST_TERM else (start + end) // 2
        yield from (
            _drop_possessive(words[one:other]) for one, other in ((start, middle), (middle, end)) if one < other
        )
        start = end


def _makes_term(words: Sequence[str], position: int) -> bool:
    """Return True if the word at a position of a run belongs to the term of the word before it."""
    first, second = words[position - 1], words[position]
    is_adjective = _ADJECTIVE.fullmatch(second) and second.casefold() not in NOUNS_LIKE_ADJECTIVES
    return (
        not is_adjective
        and (not _is_verb(second) or first.endswith("ly"))
        and (position == 1 or words[position - 2].endswith("ly") or not _is_verb(first))
        and first.casefold() not in NOT_FIRST
        and not first.casefold().endswith(MEDICINE_ENDINGS)
        and "-" not in second  # mostly an adjective: off-target, long-term
        and not _INITIAL.match(first)
        and (not _NOT_FIRST.fullmatch(first) or (first.endswith("ly") and bool(_PARTICIPLE.fullmatch(second))))
    )


def _is_verb(word: str) -> bool:
    """Return True for a word that mostly is a verb behind a noun: "foods fermented", but not in "fermented foods"."""
    return word.casefold() in NOT_SECOND or bool(_PARTICIPLE.fullmatch(word))


def _drop_possessive(words: Sequence[str]) -> str:
    return re.sub(r"['’]s?$", "", " ".join(words))


def _make_name_blocks(intent: ParsedIntent, known: Sequence[tuple[str, ...]]) -> Iterator[ConceptBlock]:
    """Yield a block for all authors, and one for all venues, that no other block names."""
    authors = [name for name in map(extract_family_name, intent.authors) if not _is_known(name, known)]
    venues = [name for name in intent.venues if not _is_known(name, known)]
    for names, share, reason in (
        (authors, _NAME_SHARE, "named as an author"),
        (venues, _VENUE_SHARE, "named as a journal or conference"),
    ):
        if names:
            yield ConceptBlock(
                name=names[0], variants=list(dict.fromkeys(names)), exact=True, share=share, reason=reason
            )


def _is_known(name: str, known: Sequence[tuple[str, ...]]) -> bool:
    return any(_contains(key, make_term_key(name)) for key in known)


def extract_family_name(author: str) -> str:
    """Return the family name: sources write given names in many ways."""
    names = [word for word in author.partition(",")[0].split() if not re.fullmatch(r"(?:\w\.-?)+", word)]
    return names[-1] if names else author


def _contains(whole: Sequence[str], part: Sequence[str]) -> bool:
    return any(tuple(whole[start : start + len(part)]) == tuple(part) for start in range(len(whole)))
