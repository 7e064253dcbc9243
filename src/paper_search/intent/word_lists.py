"""Word lists of the rules, in lower case; `data/words.txt` says what each is for."""

from typing import Final

from uraniborg.kernel.phrase_files import PhraseFile, read_function_words

_WORDS: Final = PhraseFile("paper_search.intent", "data/words.txt")
JOINING: Final = _WORDS.read_words("joining")
FILLER: Final = _WORDS.read_words("filler")
NOUNS_LIKE_ADJECTIVES: Final = _WORDS.read_words("nouns like adjectives")
NOT_SECOND: Final = _WORDS.read_words("not second")
NOT_FIRST: Final = _WORDS.read_words("not first")
MEDICINE_ENDINGS: Final = tuple(_WORDS.read_words("endings of medicines"))
MODIFIER_ENDINGS: Final = _WORDS.read_words("endings of modifiers")
PREFIXES: Final = _WORDS.read_words("prefixes")
ENDINGS_WITHOUT_PLURAL: Final = tuple(_WORDS.read_words("endings without plural"))
FOREIGN_FUNCTION_WORDS: Final = read_function_words()
