"""Preferences: what a person would like most. A preference ranks papers and never excludes one.

A wish behind its cue runs to the end of its clause; a wish before its cue starts with its clause. A cue marked
`{clause}` counts at the start of a clause only, so that "a particularly dry summer" stays a topic.
"""

import re
from dataclasses import dataclass, field
from datetime import date

from paper_search.intent.concepts import find_concepts
from paper_search.intent.courtesy_phrases import remove_courtesies
from paper_search.intent.languages import read_language
from paper_search.intent.text_cleanup import BREAK, cut_span
from paper_search.intent.vocabulary import Vocabulary
from paper_search.intent.word_lists import FOREIGN_FUNCTION_WORDS
from paper_search.intent.years import RECENT_YEARS, describe_years, read_years
from paper_search.query.languages import to_english_name

FOLLOWED = (
    # English
    r"\b(?:i|we)\s+(?:would\s+)?(?:especially|particularly)\s+(?:like|want|need|love)\b",
    r"\b(?:i\s+am|i['’]m|we\s+are|we['’]re)\s+(?:most|mostly|mainly|particularly|especially|primarily|chiefly)\s+interested\s+in\b",
    r"(?:but\s+|and\s+)?\b(?:i|we)\s+(?:really\s+|mostly\s+|mainly\s+|only\s+|especially\s+|particularly\s+)?care\s+"
    r"(?:most(?:ly)?\s+|mainly\s+|primarily\s+|especially\s+|particularly\s+|a\s+lot\s+)?(?:about|for)\b",
    r"\bwhat\s+(?:(?:matters|counts)(?:\s+(?:the\s+)?most)?(?:\s+(?:to|for)\s+(?:me|us))?(?:\s+(?:the\s+)?most)?"
    r"|interests\s+(?:me|us)(?:\s+most)?|i\s+care\s+(?:most\s+)?about|i\s+want\s+most)\s+(?:is|are)\b",
    r"{clause}most\s+important(?:ly)?\b(?:\s+(?:to|for)\s+(?:me|us))?(?:\s+(?:is|are))?[,:]?",
    r"\b(?:and\s+)?prefer{1,2}ably\b[,:]?",
    r"(?:{clause}|\b(?:and|but|or)\s+)ideally\b[,:]?",
    r"{clause}(?:if|when(?:ever)?|where)\s+(?:at\s+all\s+)?(?:possible|available)\b[,:]?",
    r"(?<!\ba\s)(?<!\ban\s)(?<!\bthe\s)(?<!\bof\s)\b(?:and\s+|but\s+)?(?:especially|esp\.)",
    r"{clause}(?:and\s+)?(?:in\s+particular|particularly|notably|primarily|mainly|mostly|above\s+all|first\s+and\s+foremost)"
    r"\b[,:]?",
    r"\b(?:i|we)(?:\s+would|['’]d)?\s+(?:rather\s+|strongly\s+|really\s+|much\s+)?prefer(?:\s+to\s+(?:see|have|read|get))?\b",
    r"{clause}prefer(?::|(?=\s))",
    r"(?:{clause}|\b(?:and|but)\s+)(?:i|we)(?:\s+would|['’]d)\s+(?:also\s+)?love(?:\s+to\s+(?:see|have|get|read))?\b",
    r"\b(?:my|our|the)\s+(?:(?:main|primary|particular|special|chief|biggest|top|first|key)\s+)?"
    r"(?:interests?|focus|preferences?|priorit(?:y|ies)|concerns?)\s+(?:is|are|lies?|would\s+be)(?:\s+(?:in|on|with|for))?\b",
    r"{clause}(?:the\s+)?most\s+(?:relevant|important|interesting|useful|valuable)(?:\s+ones)?(?:\s+(?:to|for)\s+(?:me|us))?"
    r"\s+(?:is|are|would\s+be)\b",
    r"{clause}(?:(?:it\s+would\s+be|it['’]d\s+be)\s+)?(?:even\s+)?(?:best|better|great|good|nice|ideal|perfect)\s+(?:if|with)\b"
    r"(?:\s+(?:they|it|the\s+papers|papers|there))?(?:\s+(?:are|is|were|use|used|include|have|had|involve|cover)\b)?",
    r"\b(?:i|we)(?:\s+would|['’]d)\s+rather\s+(?:see|have|read|get)\b",
    r"\b(?:i\s+am|i['’]m|we\s+are|we['’]re)\s+(?:particularly\s+|especially\s+|very\s+)?keen\s+(?:on|to\s+see)\b",
    r"\b(?:with\s+)?(?:give|giving|a(?:\s+(?:clear|strong|slight))?)\s+(?:preference|priority)\s+(?:to|for)\b",
    r"{clause}(?:priorit(?:is|iz)(?:e|ing)|favou?r(?:ing)?)\b",
    r"{clause}(?:priorit(?:y|ies)|preferences?)\s*:",
    r"{clause}rather(?=\s)(?!\s+than\b)",
    r"{clause}(?:with\s+(?:an?\s+)?)?(?:(?:main|special|strong)\s+)?focus(?:ing|ed)?\s+(?:mainly\s+|mostly\s+|especially\s+)?on\b",
    r"{clause}(?:a\s+)?(?:bonus|extra)(?:\s+points?)?\s+(?:for|if)\b",
    r"{clause}nice\s+to\s+have\b[,:]?",
    r"\bwith\s+(?:an?\s+)?(?:(?:special|particular|strong|main|extra)\s+)?emphasis\s+on\b",
    r"\bwith\s+(?:an?\s+)?(?:special|particular|strong)\s+(?:focus|attention|interest)\s+(?:on|to|in)\b",
    # German
    r"{clause}(?:vorzugsweise|bevorzugt|am\s+liebsten|idealerweise|möglichst|besonders|insbesondere|vor\s+allem"
    r"|wenn\s+möglich)\b[,:]?",
    # French
    r"\bde\s+préférence\b[,:]?",
    r"{clause}(?:idéalement|surtout|en\s+particulier|notamment|si\s+possible|plutôt)\b[,:]?",
    # Spanish
    r"{clause}(?:preferiblemente|preferentemente|de\s+preferencia|idealmente|sobre\s+todo|especialmente|en\s+particular"
    r"|si\s+es\s+posible|a\s+ser\s+posible)\b[,:]?",
    # Portuguese
    r"\b(?:de\s+preferência|preferencialmente)\b[,:]?",
    r"{clause}(?:sobretudo|em\s+particular|se\s+possível)\b[,:]?",
    # Chinese
    r"{clause}(?:最好是?|优先(?:考虑)?|尤其是?|特别是|如果可能[,，]?|我?最关心(?:的是)?)",
    # Japanese
    r"{clause}(?:できれば|可能なら|可能であれば|特に|なるべく|とりわけ)[、,]?",
)

DISLIKED = (
    r"\b(?:i\s+am|i['’]m|we\s+are|we['’]re)\s+(?:less|not\s+(?:so|very|that|really|particularly|especially))\s+interested\s+in\b",
    r"\b(?:i|we)\s+(?:do\s+not|don['’]t)\s+(?:particularly|especially|really)\s+(?:care\s+(?:about|for)|need|want)\b",
)
"""Cues for dislikes."""

PRECEDED = (
    r"\s+(?:(?:is|are)\s+)?(?:strongly\s+|much\s+)?preferred\b{end}",
    r"\s+(?:would\s+be|is|are)\s+(?:(?:especially|most|very|particularly)\s+)?(?:nice|great|ideal|preferable|welcome|best"
    r"|perfect|appreciated|helpful|a\s+(?:plus|bonus)|(?:the\s+)?most\s+important(?:\s+(?:to|for)\s+(?:me|us))?)\b{end}",
    r"\s+if\s+(?:at\s+all\s+)?possible\b{end}",
    r"\s+(?:is|are)\s+(?:(?:very|most|more|particularly|especially)\s+)?important(?:\s+(?:to|for)\s+(?:me|us))?\b{end}",
    r"\s+(?:matters?|counts?)\s+(?:the\s+)?most(?:\s+(?:to|for)\s+(?:me|us))?\b{end}",
    r"\s+bevorzugt\b{end}",
    r"を?優先(?:して(?:ください)?)?{end}",
    r"优先{end}",
)

RECENT = (
    r"\bthe\s+(?:more\s+recent|newer|later|younger)\s*,?\s+the\s+better\b",
    r"\bje\s+(?:neuer|aktueller)\s*,?\s+desto\s+besser\b",
)
"""Wishes for new papers."""


MAX_PREFERENCES = 10
_CLAUSE = r"(?:^|(?<=[,;:.!?()\n、。])|(?<=\s-)|\b(?:but|and)(?=\s))\s*"
_CLAUSE_END = r"(?=\s*(?:$|[,;.!?)\n、。]))"
# A full stop ends a clause only before a space: "3.5" and "E. coli" do not end one.
_ENDS = re.compile(r"[;!?()\n。]|,|、|(?<!\b[A-Z])\.(?=\s|$)|\s-\s|\s(?:but|however|aber|mais|pero|mas)\s")
_LIST_GOES_ON = re.compile(
    r"(?:\s*,\s*(?!(?:and|or|no|not|but|since|after|before|from|in|on|skip|exclude|excluding|without|i|we)\b)"
    r"[\w-]+(?:\s+[\w-]+){0,2}){0,5}\s*,?\s+(?:and|or)\s+[\w-]+(?:\s+[\w-]+){0,2}(?=\s*(?:$|[;.!?)\n]))",
    re.IGNORECASE,
)
_OVER = re.compile(
    r"\s+(?:over|rather\s+than|(?<!er\s)(?<!more\s)(?<!less\s)(?<!recent\s)than|instead\s+of)\s+(?P<less>.+)$",
    re.IGNORECASE,
)
_PAPERS_ABOUT = re.compile(
    r"\b(?:papers?|articles?|publications?|stud(?:y|ies)|works?|research|preprints?|literature)\s+"
    r"(?:on|about|regarding|concerning|related\s+to|of|in)\s+(?=\S)",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"\s*(?:not|no|without|nicht|keine?|pas|sans|no|sin|não|sem)\s+(?:any\s+|about\s+|on\s+|de\s+)?", re.IGNORECASE
)
_PREPOSITION = re.compile(rf"^(?:(?:{'|'.join(sorted({w for words in FOREIGN_FUNCTION_WORDS for w in words}))})\s+)+")
_PAPERS_BEHIND = re.compile(
    r"(?<=\w)\s+(?:papers?|articles?|stud(?:y|ies)|works?|research|publications?)$", re.IGNORECASE
)
_FOLLOWED = tuple(
    (re.compile(cue.replace("{clause}", _CLAUSE), re.IGNORECASE), sign)
    for cues, sign in ((DISLIKED, "not "), (FOLLOWED, ""))
    for cue in cues
)
_PRECEDED = tuple(re.compile(cue.replace("{end}", _CLAUSE_END), re.IGNORECASE) for cue in PRECEDED)
_RECENT = tuple(re.compile(cue, re.IGNORECASE) for cue in RECENT)


@dataclass(slots=True)
class PreferenceReading:
    """The rest of the text, the wishes as written, and the preferences read from them."""

    rest: str
    wishes: list[str] = field(default_factory=list)
    preferences: list[str] = field(default_factory=list)


def read_preferences(text: str, vocabulary: Vocabulary, today: date) -> PreferenceReading:
    """Read the preferences of a text: "preferably …", "I care most about …", "… would be nice".

    A wish about years or a language is normalised ("published in 2020 or later", "written in English"), and a dislike
    starts with "not". Quoted phrases stay placeholders.
    """
    reading = PreferenceReading(rest=text)
    for pattern in _RECENT:
        if match := pattern.search(reading.rest):
            reading.rest = cut_span(reading.rest, match.start(), match.end())
            reading.preferences.append(describe_years(today.year - RECENT_YEARS, None))
    for pattern, sign in _FOLLOWED:
        while len(reading.wishes) < MAX_PREFERENCES and (match := pattern.search(reading.rest)):
            end = _find_clause_end(reading.rest, match.end())
            _remove_wish(reading, sign + reading.rest[match.end() : end], match.start(), end)
    for pattern in _PRECEDED:
        while len(reading.wishes) < MAX_PREFERENCES and (match := pattern.search(reading.rest)):
            start = max((found.end() for found in _ENDS.finditer(reading.rest, 0, match.start())), default=0)
            _remove_wish(reading, reading.rest[start : match.start()], start, match.end())
    for wish in reading.wishes:
        # A wish without a concept stays as written, so that no wish is lost silently.
        reading.preferences += _parse_wish(wish, vocabulary, today) or [wish]
    reading.preferences = list(dict.fromkeys(reading.preferences))[:MAX_PREFERENCES]
    return reading


def _remove_wish(reading: PreferenceReading, wish: str, start: int, end: int) -> None:
    """Cut a wish out of the text of `reading`; a topic behind "papers on" stays in the text."""
    if about := _PAPERS_ABOUT.search(wish):
        end -= len(wish) - about.end()
        wish = wish[: about.start()]
    if wish.strip():
        reading.wishes.append(wish.strip())
    reading.rest = cut_span(reading.rest, start, end)


def _find_clause_end(text: str, start: int) -> int:
    end = _ENDS.search(text, start)
    if end and (listed := _LIST_GOES_ON.match(text, end.start())):
        return listed.end()
    return end.start() if end else len(text)


def _parse_wish(wish: str, vocabulary: Vocabulary, today: date) -> list[str]:
    wish = _OVER.sub("", wish)
    years = read_years(wish, today)
    if denied := _NOT.match(years.rest):
        return [f"not {concept}" for concept in find_concepts(years.rest[denied.end() :], vocabulary)]
    language = read_language(years.rest)
    found: list[str] = []
    if years.year_from is not None or years.year_to is not None:
        found.append(describe_years(years.year_from, years.year_to))
    if language.language:
        found.append(f"written in {to_english_name(language.language).title()}")
    rest = remove_courtesies(language.rest)
    if not found and not rest.strip(f"{BREAK} "):
        rest = language.rest  # "preferably review articles": here the noun for papers is the wish
    bare = (_PAPERS_BEHIND.sub("", _PREPOSITION.sub("", raw)) for raw in find_concepts(rest, vocabulary))
    return found + [concept for concept in bare if concept]
