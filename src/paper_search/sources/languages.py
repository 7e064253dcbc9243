"""The languages of papers under the names that sources use for them."""

# Two letters (ISO 639-1), then the bibliographic and further three-letter codes, then the English name.
_TABLE = """
af afr afrikaans|sq alb sqi albanian|ar ara arabic|hy arm hye armenian|az aze azerbaijani|eu baq eus basque
be bel belarusian|bs bos bosnian|bg bul bulgarian|ca cat catalan|zh chi zho chinese|hr hrv croatian|cs cze ces czech
da dan danish|nl dut nld dutch|en eng english|eo epo esperanto|et est estonian|fi fin finnish|fr fre fra french
gl glg galician|ka geo kat georgian|de ger deu german|el gre ell greek|he heb hebrew|hi hin hindi|hu hun hungarian
is ice isl icelandic|id ind indonesian|ga gle irish|it ita italian|ja jpn japanese|kk kaz kazakh|ko kor korean
ky kir kyrgyz|la lat latin|lv lav latvian|lt lit lithuanian|mk mac mkd macedonian|ms may msa malay|mn mon mongolian
no nor norwegian|fa per fas persian|pl pol polish|pt por portuguese|ro rum ron romanian|ru rus russian|sr srp serbian
sk slo slk slovak|sl slv slovenian|es spa spanish|sw swa swahili|sv swe swedish|ta tam tamil|te tel telugu|th tha thai
tr tur turkish|uk ukr ukrainian|ur urd urdu|uz uzb uzbek|vi vie vietnamese|cy wel cym welsh
"""
_LANGUAGES = [entry.split() for line in _TABLE.split("\n") for entry in line.split("|") if entry]
_BY_ANY_NAME = {name: language[0] for language in _LANGUAGES for name in language}
_THREE_LETTERS = {language[0]: language[1] for language in _LANGUAGES}
_ENGLISH_NAMES = {language[0]: language[-1] for language in _LANGUAGES}


def language_of(value: object) -> str | None:
    """The two-letter code of a language given as a code of two or three letters, a locale or an English name."""
    if not isinstance(value, str):
        return None
    name = value.strip().lower()
    found = _BY_ANY_NAME.get(name) or _BY_ANY_NAME.get(name.replace("_", "-").split("-")[0])
    return found or (name if len(name) == 2 and name.isascii() and name.isalpha() else None)


def bibliographic_code(language: str) -> str:
    """The three-letter code that libraries use for a two-letter one; itself when there is none."""
    return _THREE_LETTERS.get(language, language)


def english_name(language: str) -> str:
    """The English name of a two-letter code; itself when there is none."""
    return _ENGLISH_NAMES.get(language, language)
