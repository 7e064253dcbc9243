"""Compile Boolean queries into index queries: the papers that match, the best first.

A wanted term is compared with the title, abstract, keywords, tags, authors, venue and identifiers of a paper, an
excluded term with title, abstract, keywords and tags. Full texts are not compared, so that the metadata of a paper
shows why it matches. Words match in any inflection; phrases and words that end in `*` match as they are written.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from tantivy import Occur
from tantivy import Query as IndexQuery

from paper_library.errors import OutOfBounds
from paper_library.limits import WORDS_OF_PREFIX
from paper_library.search.compiler import Compiler
from paper_library.search.field_names_and_spellings import split_words_with_spellings
from paper_library.search.index_terms import make_any_query
from paper_library.search.query import Query, Unit
from paper_library.store import index as fields
from paper_library.store.shelf import Shelf
from uraniborg.kernel.boolean_query import AllOf, AnyOf, Node, Term, iterate_wanted_terms
from uraniborg.kernel.words import fold_text, stem_word

_NAMES: Final = (fields.AUTHOR, fields.VENUE, fields.IDENTIFIER)
"""The fields beside title, abstract, keywords and tags with which wanted terms are compared."""


def compile_boolean_query(shelf: Shelf, node: Node, years: tuple[int | None, int | None]) -> IndexQuery:
    """Return the query for the papers that match `node`, scored by its wanted words as in any search of the shelf.

    Papers without a year are within all `years`. Raise OutOfBounds if too many words begin with a part of a phrase.
    """
    compiler = Compiler(shelf.searcher, shelf.schema)
    matching = _BooleanCompiler(shelf, compiler).compile_node(node, _NAMES)
    clauses = [(Occur.Must, IndexQuery.const_score_query(matching, 0.0))]
    if years != (None, None):
        undated = IndexQuery.term_query(shelf.schema, fields.YEAR, 0)
        dated = make_any_query([compiler.terms.make_years_query(*years), undated])
        clauses.append((Occur.Must, IndexQuery.const_score_query(dated, 0.0)))
    return IndexQuery.boolean_query([*clauses, (Occur.Should, compiler.compile_query(_make_ranking_query(node)).query)])


def _make_ranking_query(node: Node) -> Query:
    """Return the wanted words as a query whose scores rank the papers; phrases raise the score."""
    query = Query()
    for term in dict.fromkeys(iterate_wanted_terms(node)):
        pieces = [(word, piece) for word in term.words for piece, _ in split_words_with_spellings(word)]
        query.wanted += ([Unit("prefix" if word.endswith("*") else "word", piece)] for word, piece in pieces)
        if len(pieces) > 1:
            query.boosting.append(Unit("phrase", " ".join(piece for _, piece in pieces)))
    return query


class _BooleanCompiler:
    def __init__(self, shelf: Shelf, compiler: Compiler) -> None:
        self._shelf = shelf
        self._terms = compiler.terms

    def compile_node(self, node: Node, names: Sequence[str]) -> IndexQuery:
        match node:
            case Term():
                return make_any_query(list(self._compile_term(node, names)))
            case AnyOf(parts):
                return make_any_query([self.compile_node(part, names) for part in parts])
            case AllOf(parts, excluded):
                # As in any search of the shelf, papers need not contain the stop words between other words.
                needed = [part for part in parts if not _is_stop_word(part)] or parts
                return IndexQuery.boolean_query(
                    [
                        *((Occur.Must, self.compile_node(part, names)) for part in needed),
                        *((Occur.MustNot, self.compile_node(part, ())) for part in excluded),
                    ]
                )

    def _compile_term(self, term: Term, names: Sequence[str]) -> Iterator[IndexQuery]:
        for words in _list_spellings(term):
            if len(words) == 1 and not words[0].endswith("*") and (stem := stem_word(words[0])):
                yield self._terms.make_phrase_query(fields.ABOUT, [stem])
            else:
                yield self._compile_words(fields.EXACT, words)
            yield from (self._compile_words(name, words) for name in names)

    def _compile_words(self, field_name: str, words: list[str]) -> IndexQuery:
        """Return the query for papers with these consecutive words in a field, of which some may end in `*`."""
        if not any(word.endswith("*") for word in words):
            return self._terms.make_phrase_query(field_name, words)
        if len(words) == 1:
            known = self._list_known_words(field_name, words[0])
            return IndexQuery.term_set_query(self._shelf.schema, field_name, known)
        for word in words:
            if word.endswith("*") and len(self._list_known_words(field_name, word)) > WORDS_OF_PREFIX:
                raise OutOfBounds(
                    f"{word} in a phrase",
                    f"the beginning of at most {WORDS_OF_PREFIX:,} words of the shelf",
                    hint=f"Write more letters before the *, or search for {word} outside of the phrase.",
                )
        patterns = [re.escape(word.removesuffix("*")) + ".*" * word.endswith("*") for word in words]
        return IndexQuery.regex_phrase_query(self._shelf.schema, field_name, list(patterns))

    def _list_known_words(self, field_name: str, prefix: str) -> list[str]:
        return [word for word, _ in self._shelf.searcher.terms_with_prefix(field_name, prefix.removesuffix("*"))]


def _list_spellings(term: Term) -> list[list[str]]:
    """Return the words of a term as the index has them, and in other spellings, such as `mueller` for `müller`."""
    spelled: list[Sequence[str]] = []
    for word in term.words:
        pieces: list[Sequence[str]] = [(piece, *others) for piece, others in split_words_with_spellings(word)]
        if pieces and word.endswith("*"):
            pieces[-1] = tuple(f"{spelling}*" for spelling in pieces[-1])
        spelled += pieces
    most = max(map(len, spelled), default=0)
    return [[spellings[min(rank, len(spellings) - 1)] for spellings in spelled] for rank in range(most)]


def _is_stop_word(node: Node) -> bool:
    return isinstance(node, Term) and len(node.words) == 1 and not stem_word(fold_text(node.text))
