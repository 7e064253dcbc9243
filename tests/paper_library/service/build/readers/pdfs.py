"""Small PDFs for tests."""

# pypdf has no public way to add a stream to a document.
# pyright: reportPrivateUsage=false

from io import BytesIO
from pathlib import Path

from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

Line = tuple[float, str]
"""The size of the letters, and the text."""


def write_pdf(path: Path, *pages: list[Line], password: str = "", **info: str) -> Path:
    writer = PdfWriter()
    for lines in pages:
        page = writer.add_blank_page(width=595, height=842)
        font = DictionaryObject(
            {
                NameObject("/Type"): NameObject("/Font"),
                NameObject("/Subtype"): NameObject("/Type1"),
                NameObject("/BaseFont"): NameObject("/Helvetica"),
            }
        )
        page[NameObject("/Resources")] = DictionaryObject(
            {NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})}
        )
        stream = DecodedStreamObject()
        stream.set_data(_make_content(lines))
        page[NameObject("/Contents")] = writer._add_object(stream)
    if info:
        writer.add_metadata({f"/{name}": value for name, value in info.items()})
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    data = BytesIO()
    writer.write(data)
    path.write_bytes(data.getvalue())
    return path


def _make_content(lines: list[Line]) -> bytes:
    height = 800.0
    parts: list[str] = []
    for size, text in lines:
        escaped = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        parts.append(f"BT /F1 {size} Tf 1 0 0 1 50 {height} Tm ({escaped}) Tj ET")
        height -= size * 1.3
    return "\n".join(parts).encode("cp1252")
