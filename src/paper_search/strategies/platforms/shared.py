"""What the syntaxes of several databases share."""

from collections.abc import Collection

from paper_search.strategies.fields import Field
from paper_search.strategies.rendering import NO_FIELD, Changes
from paper_search.strategies.terms import FieldTerm


def quote_words(term: FieldTerm, sign: str = '"') -> str:
    """Return the words of a term in the order of a text, in quotation marks if there are several."""
    text = term.natural_words if term.is_heading else term.bare.replace('"', " ").strip("/ ")
    text = text.lstrip("*")
    return f"{sign}{text}{sign}" if not text.rstrip("*").replace("-", "").isalnum() else text


def note_lost_field(term: FieldTerm, changes: Changes, own: Collection[Field] = ()) -> None:
    """Add the change of a term whose field the database does not have; `own` are fields that it has."""
    if term.field not in own and (change := NO_FIELD.get(term.field)):
        changes.add(change, term)
    if term.is_heading and term.heading[1]:
        changes.add("Subheadings of headings are left out", term)


def note_years(term: FieldTerm, changes: Changes) -> None:
    """Add a change if the dates of a term have months or days, which are lost."""
    if any(len(date) > len("2010") for date in term.dates or ()):
        changes.add("Only the years of dates are kept", term)
