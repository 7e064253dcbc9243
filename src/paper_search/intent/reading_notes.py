"""Notes on the names, exclusions and preferences of a question, in sentences."""

from paper_search.models import ParsedIntent


def describe_author(name: str) -> str:
    """Return the note on an author."""
    return f"“{name}” was read as an author."


def describe_venue(name: str) -> str:
    """Return the note on a journal or conference."""
    return f"“{name}” was read as a journal or conference."


def describe_exclusion(term: str) -> str:
    """Return the note on a term that papers must not contain."""
    return f"Papers about “{term}” are excluded."


def describe_preferences(intent: ParsedIntent) -> list[str]:
    """Return a note for each preference."""
    return [
        f"“{wish}” was read as a preference: papers that meet it rank higher; the others stay in the result."
        for wish in intent.preferences
    ]
