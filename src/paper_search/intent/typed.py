"""Tells a boolean query that a person typed from a sentence, and reads it as it stands."""

import re

from paper_search.intent.cleaning import STAND_IN, restored, set_phrases_aside
from paper_search.intent.concepts import concepts_in, is_function_word
from paper_search.intent.vocabulary import Vocabulary
from paper_search.sources.boolean import Node, parse

_OPERATOR = re.compile(r"(?<=[\w)*\ue000-\ue0ff])\s+(?:AND|OR)\s+(?=[\w(\ue000-\ue0ff])")
_SIGNS = re.compile(rf"(\b(?:AND|OR|NOT)\b|[()]|{STAND_IN})")
_FIELD = re.compile(r"\b\w+:")


def is_boolean(text: str) -> bool:
    """Whether a text whose phrases were set aside is a boolean query: operators, and no words of a sentence."""
    operands = (word for piece in _SIGNS.split(text) if not _SIGNS.fullmatch(piece) for word in piece.split())
    return bool(_OPERATOR.search(text)) and not _FIELD.search(text) and not any(map(is_function_word, operands))


def typed_query(text: str, vocabulary: Vocabulary) -> Node | None:
    """The tree of a boolean query, None for any other text. Words side by side make the phrases they do elsewhere."""
    bare, phrases = set_phrases_aside(text)
    if not is_boolean(bare):
        return None
    pieces = (_operand(piece, vocabulary) for piece in _SIGNS.split(bare))
    return parse(restored("".join(pieces), [f'"{phrase}"' for phrase in phrases]))


def _operand(piece: str, vocabulary: Vocabulary) -> str:
    if _SIGNS.fullmatch(piece) or len(piece.split()) < 2:
        return piece
    phrases = " ".join(f'"{concept}"' for concept in concepts_in(piece, vocabulary))
    return f" {phrases or piece} "
