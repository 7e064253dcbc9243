"""Languages of papers: their two-letter codes, three-letter codes and English names."""

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


def parse_language(value: object) -> str | None:
    """Return the two-letter code of a language given as a code, a locale or an English name; else None."""
    if not isinstance(value, str):
        return None
    name = value.strip().lower()
    found = _BY_ANY_NAME.get(name) or _BY_ANY_NAME.get(name.replace("_", "-").split("-")[0])
    return found or (name if len(name) == 2 and name.isascii() and name.isalpha() else None)


def to_bibliographic_code(language: str) -> str:
    """Return the three-letter code that libraries use for a two-letter code, or the code itself if unknown."""
    return _THREE_LETTERS.get(language, language)


def to_english_name(language: str) -> str:
    """Return the English name of a two-letter code, or the code itself if unknown."""
    return _ENGLISH_NAMES.get(language, language)
