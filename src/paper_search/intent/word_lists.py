"""Word lists of the rules, in lower case; `data/words.txt` says what each is for."""

from typing import Final

from uraniborg.kernel.phrase_files import PhraseFile, read_function_words

_WORDS: Final = PhraseFile("paper_search.intent", "data/words.txt")
JOINING: Final = _WORDS.read_words("joining")
BEFORE_HELPING: Final = _WORDS.read_words("before helping")
FILLER: Final = _WORDS.read_words("filler")
LEADING_FILLER: Final = _WORDS.read_words("leading filler")
NOUNS_LIKE_ADJECTIVES: Final = _WORDS.read_words("nouns like adjectives")
NOT_SECOND: Final = _WORDS.read_words("not second")
NOT_FIRST: Final = _WORDS.read_words("not first")
MEDICINE_ENDINGS: Final = tuple(_WORDS.read_words("endings of medicines"))
FOREIGN_FUNCTION_WORDS: Final = read_function_words()
