"""The phrases by which requests say what papers they want, for the readers of authors, venues, languages and limits."""

from typing import Final

from uraniborg.kernel.phrase_files import PhraseFile
from uraniborg.kernel.years.numbers import get_number_pattern

WISHES: Final = PhraseFile("paper_search.intent", "data/wishes.txt", lambda: {"number": get_number_pattern(exact=True)})
