"""Numbers that people write as figures or as words."""

_UP_TO_TWENTY = """
one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen twenty
"""
_EXACT = {word: value for value, word in enumerate(_UP_TO_TWENTY.split(), start=1)} | {
    "dozen": 12,
    "a dozen": 12,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "hundred": 100,
    "a hundred": 100,
    "one hundred": 100,
}
_VAGUE = {"couple of": 2, "a couple of": 2, "few": 3, "a few": 3, "several": 5}
_FOREIGN_WORDS = """
2 两 zwei deux dos dois duas      3 drei trois tres três          4 vier quatre cuatro quatro
5 fünf cinq cinco                 6 sechs six seis                7 sieben sept siete sete
8 acht huit ocho oito             9 neun neuf nueve nove          10 zehn dix diez dez
12 zwölf douze doce doze          15 十五 fünfzehn quinze quince  20 二十 zwanzig vingt veinte vinte
30 三十 dreißig trente treinta trinta                             50 五十 fünfzig cinquante cincuenta cinquenta
"""


def _read_foreign_words() -> dict[str, int]:
    values = dict(zip("一二三四五六七八九十", range(1, 11), strict=True))
    value = 1
    for word in _FOREIGN_WORDS.split():
        if word.isascii() and word.isdigit():
            value = int(word)
        else:
            values[word] = value
    return values


def _join_longest_first(words: dict[str, int]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_FOREIGN = _read_foreign_words()
_ENGLISH = _EXACT | _VAGUE
_FIGURE = r"[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,9}"
_ENGLISH_NUMBER = rf"(?:{_FIGURE}|{_join_longest_first(_ENGLISH)})".replace(" ", r"\s+")
NUMBER = rf"(?:{_ENGLISH_NUMBER}|{_join_longest_first(_FOREIGN)})"
"""A pattern for every number that `parse_number` reads, in all languages; compile it with IGNORECASE."""
EXACT_NUMBER = rf"(?:{_FIGURE}|{_join_longest_first(_EXACT)})".replace(" ", r"\s+")
"""A pattern for English numbers without "a few" and the like."""


def parse_number(text: str) -> int:
    """Return the value of a text that `NUMBER` or `EXACT_NUMBER` matched."""
    folded = text.casefold()
    if folded in _FOREIGN:
        return _FOREIGN[folded]
    plain = " ".join(text.lower().split())
    return _ENGLISH[plain] if plain in _ENGLISH else int(plain.replace(",", ""))
