"""Replies with texts as trees of blocks and pieces, which a page displays without HTML."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

Mark = Literal["emphasis", "strong", "strikethrough", "subscript", "superscript"]
Alignment = Literal["left", "center", "right"]


class Text(TypedDict):
    """Plain text."""

    type: Literal["text"]
    text: str


class MarkedText(TypedDict):
    """Text with a mark."""

    type: Mark
    children: "list[Inline]"


class Code(TypedDict):
    """Code in a line."""

    type: Literal["code"]
    text: str


class Math(TypedDict):
    """A formula in TeX."""

    type: Literal["math"]
    tex: str
    display: bool


class Link(TypedDict):
    """A link. `href` is an address of http, https or mailto."""

    type: Literal["link"]
    href: str
    children: "list[Inline]"


class FigureReference(TypedDict):
    """A figure that is elsewhere. Nothing loads it."""

    type: Literal["figure"]
    alt: str
    caption: "list[Inline]"
    href: str | None
    offset: NotRequired[int]


class LineBreak(TypedDict):
    """The end of a line."""

    type: Literal["break"]


Inline = Annotated[Text | MarkedText | Code | Math | Link | FigureReference | LineBreak, Field(discriminator="type")]


class Block(TypedDict):
    """The field of every block: the position of its first line in the text, in characters."""

    offset: int


class Heading(Block):
    """A heading."""

    type: Literal["heading"]
    level: int
    children: list[Inline]


class Paragraph(Block):
    """A paragraph."""

    type: Literal["paragraph"]
    children: list[Inline]


class ListBlock(Block):
    """A list; each item is a list of blocks."""

    type: Literal["list"]
    ordered: bool
    start: int
    items: "list[list[AnyBlock]]"


class Quote(Block):
    """A quotation."""

    type: Literal["quote"]
    children: "list[AnyBlock]"


class TableRow(TypedDict):
    """A row of a table."""

    offset: int
    cells: list[list[Inline]]


class Table(Block):
    """A table."""

    type: Literal["table"]
    align: list[Alignment]
    header: list[list[Inline]]
    rows: list[TableRow]


class CodeBlock(Block):
    """Lines of code."""

    type: Literal["code_block"]
    language: str
    text: str


class MathBlock(Block):
    """A formula in TeX on lines of its own."""

    type: Literal["math_block"]
    tex: str


class Rule(Block):
    """A line between two parts of the text."""

    type: Literal["rule"]


AnyBlock = Annotated[
    Heading | Paragraph | ListBlock | Quote | Table | CodeBlock | MathBlock | Rule | FigureReference,
    Field(discriminator="type"),
]


class TextPage(TypedDict):
    """A part of the text of a paper."""

    offset: int
    end: int
    previous_offset: int | None
    next_offset: int | None
    total_chars: int
    nodes: list[AnyBlock]


class SummarySection(TypedDict):
    """A text of a summary."""

    name: str
    nodes: list[AnyBlock]
