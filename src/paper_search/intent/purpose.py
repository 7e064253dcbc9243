"""The purpose of a search: an overview, a dataset, a baseline to compare with, or a method."""

import re

from paper_search.intent.text_cleanup import BREAK, PLACEHOLDER
from paper_search.models import IntentType
from paper_search.text import STOP_WORDS

# "Survey of X" asks for a survey, "survey sampling" is about one: the word must stand where its phrase ends.
_ENDS_PHRASE = (
    rf"(?=\s*(?:$|[\n,;:.!?)\]]|{PLACEHOLDER}|(?:papers?|articles?|publications?|stud(?:y|ies)|literature|datasets?|surveys?"
    rf"|reviews?|{'|'.join(sorted(STOP_WORDS))})\b))"
)
# The same words as a subject of research: the survey of a sky, the review of a product.
_NOT_AFTER = (
    r"(?<!peer\s)(?<!code\s)(?<!product\s)(?<!online\s)(?<!movie\s)(?<!film\s)(?<!customer\s)(?<!user\s)(?<!app\s)"
    r"(?<!sky\s)(?<!household\s)(?<!health\s)(?<!galaxy\s)(?<!geological\s)(?<!social\s)(?<!cross-sectional\s)"
)
_WANTED = (
    (
        IntentType.SURVEY,
        r"(?:(?:systematic|literature|scoping|narrative|comprehensive|critical)\s+)*(?:surveys?|reviews?|overviews?|tutorials?"
        rf"|meta-?\s?analys[ei]s){_ENDS_PHRASE}",
    ),
    (
        IntentType.DATASET,
        r"(?:(?:public|open|large-scale|annotated|benchmark)\s+)*(?:data\s?sets?|benchmarks?|corpus|corpora|test\s?beds?)"
        rf"{_ENDS_PHRASE}",
    ),
    (
        IntentType.BASELINE,
        rf"(?:(?:strong\s+)?baselines?|comparisons?|comparative\s+(?:evaluations?|analys[ei]s|study)){_ENDS_PHRASE}"
        r"|state[\s-]of[\s-]the[\s-]art|sota|compar(?:e|ing)",
    ),
)
_PATTERNS = tuple(
    (intent, re.compile(rf"(?<![\w-]){_NOT_AFTER}(?:{wanted})(?![\w-])", re.IGNORECASE)) for intent, wanted in _WANTED
)

MARKERS: dict[IntentType, tuple[str, ...]] = {
    IntentType.SURVEY: ("survey", "review", "overview", "meta-analysis"),
    IntentType.DATASET: ("dataset", "benchmark", "corpus"),
    IntentType.BASELINE: ("baseline", "benchmark", "comparison", "state of the art"),
}
"""Words that papers of each kind use for themselves."""


def read_intent_type(text: str) -> tuple[IntentType, str, list[str]]:
    """Return the purpose of the papers, the text without the words that state it, and notes."""
    for intent, pattern in _PATTERNS:
        if match := pattern.search(text):
            note = f"“{' '.join(match[0].split())}” was read as a wish for {_MEANING[intent]}."
            return intent, pattern.sub(BREAK, text), [note]
    return IntentType.METHOD, text, []


_MEANING = {
    IntentType.SURVEY: "surveys and reviews",
    IntentType.DATASET: "datasets and benchmarks",
    IntentType.BASELINE: "baselines and comparisons",
}
