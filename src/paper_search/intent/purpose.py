"""The purpose of a search: an overview, a dataset, a baseline to compare with, or a method."""

from typing import Final

from paper_search.intent.text_cleanup import BREAK
from paper_search.intent.wishes import WISHES
from paper_search.models import IntentType

_PURPOSES: Final = {
    IntentType.SURVEY: "surveys and reviews",
    IntentType.DATASET: "datasets and benchmarks",
    IntentType.BASELINE: "baselines and comparisons",
}


def read_intent_type(text: str) -> tuple[IntentType, str, list[str]]:
    """Return the purpose of the papers, the text without the words that state it, and notes."""
    frame = rf"(?<![\w-]){WISHES.names['not_subject']}{{}}(?![\w-])"
    for purpose, meaning in _PURPOSES.items():
        pattern = WISHES.compile(purpose.value, frame)
        if match := pattern.search(text):
            note = f"“{' '.join(match[0].split())}” was read as a wish for {meaning}."
            return purpose, pattern.sub(BREAK, text), [note]
    return IntentType.METHOD, text, []
