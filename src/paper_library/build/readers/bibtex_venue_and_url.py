"""Choose the venue and the URL of a BibTeX entry."""

import re

from paper_library.build.readers.bibtex_scanner import Block
from uraniborg.kernel.bibliography.clean_text import clean_line
from uraniborg.kernel.bibliography.latex import decode_latex, unescape_identifier

_JOURNAL = ("journal", "journaltitle", "booktitle", "series")
_BOOK = ("booktitle", "journal", "journaltitle", "series", "publisher", "organization")
_SCHOOL = ("school", "institution", "publisher", "organization")
_INSTITUTION = ("institution", "organization", "publisher", "series", "howpublished")
_SERIES = ("series", "publisher", "organization", "booktitle")
_ANY = ("journal", "journaltitle", "booktitle", "howpublished", "publisher", "organization", "institution", "school")
_FIELDS = {
    "article": _JOURNAL,
    **dict.fromkeys(("inproceedings", "conference", "incollection", "inbook", "suppcollection", "inreference"), _BOOK),
    **dict.fromkeys(("phdthesis", "mastersthesis", "thesis"), _SCHOOL),
    **dict.fromkeys(("techreport", "report"), _INSTITUTION),
    **dict.fromkeys(("book", "mvbook", "collection", "mvcollection", "booklet", "manual"), _SERIES),
    **dict.fromkeys(("proceedings", "mvproceedings"), ("booktitle", *_SERIES)),
}
_LONE_MACRO = re.compile(r"\s*\{*\s*\\([a-zA-Z]+)\s*\}*\s*")
_LINK = re.compile(r"\\(?:url|href)\s*\{([^{}]*)\}")
_ADDRESS = re.compile(r"\\?(?:url|href)?\{?\s*(https?://[^\s{}]+)")

_ASTRONOMY_JOURNALS = {
    "aap": "Astronomy and Astrophysics",
    "aapr": "Astronomy and Astrophysics Reviews",
    "aaps": "Astronomy and Astrophysics Supplement",
    "actaa": "Acta Astronomica",
    "aj": "Astronomical Journal",
    "ao": "Applied Optics",
    "apj": "Astrophysical Journal",
    "apjl": "Astrophysical Journal Letters",
    "apjs": "Astrophysical Journal Supplement",
    "apss": "Astrophysics and Space Science",
    "araa": "Annual Review of Astronomy and Astrophysics",
    "gca": "Geochimica et Cosmochimica Acta",
    "grl": "Geophysical Research Letters",
    "icarus": "Icarus",
    "jcap": "Journal of Cosmology and Astroparticle Physics",
    "jcp": "Journal of Chemical Physics",
    "jgr": "Journal of Geophysical Research",
    "jqsrt": "Journal of Quantitative Spectroscopy and Radiative Transfer",
    "mnras": "Monthly Notices of the Royal Astronomical Society",
    "na": "New Astronomy",
    "nar": "New Astronomy Reviews",
    "nat": "Nature",
    "pasa": "Publications of the Astronomical Society of Australia",
    "pasj": "Publications of the Astronomical Society of Japan",
    "pasp": "Publications of the Astronomical Society of the Pacific",
    "physrep": "Physics Reports",
    "planss": "Planetary and Space Science",
    "pra": "Physical Review A",
    "prb": "Physical Review B",
    "prc": "Physical Review C",
    "prd": "Physical Review D",
    "pre": "Physical Review E",
    "prl": "Physical Review Letters",
    "procspie": "Proceedings of SPIE",
    "psj": "Planetary Science Journal",
    "qjras": "Quarterly Journal of the Royal Astronomical Society",
    "rmxaa": "Revista Mexicana de Astronomía y Astrofísica",
    "skytel": "Sky and Telescope",
    "solphys": "Solar Physics",
    "sovast": "Soviet Astronomy",
    "ssr": "Space Science Reviews",
}
"""The macros that ADS writes in place of journals; only astronomers' LaTeX classes know them."""


def find_venue(block: Block) -> str:
    """Return the journal, book, school or institution, by the type of the entry, or an empty string."""
    for field in _FIELDS.get(block.kind, _ANY):
        value = block.fields.get(field)
        if not value or _ADDRESS.match(value):
            continue
        macro = _LONE_MACRO.fullmatch(value) if "\\" in value else None
        if venue := _ASTRONOMY_JOURNALS.get(macro[1], "") if macro else "":
            return venue
        if venue := clean_line(decode_latex(value)):
            return venue
    return ""


def find_url(fields: dict[str, str]) -> str:
    """Return the URL from its own field, or from the fields where older styles put it."""
    if url := fields.get("url"):
        link = _LINK.search(url)
        return clean_line(unescape_identifier(link[1] if link else url))
    for name in ("howpublished", "note"):
        value = fields.get(name, "")
        if link := _LINK.search(value) or _ADDRESS.match(value):
            return clean_line(unescape_identifier(link[1]))
    return ""
