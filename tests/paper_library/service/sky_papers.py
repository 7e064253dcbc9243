"""Papers for realistic queries: names with numbers, umlauts, years, and words like operators."""

from typing import Any, Final

ATMOSPHERES: Final = "Atmospheres of the TRAPPIST-1 planets"
TELESCOPE: Final = "The TRAPPIST telescope after one decade"
FLARES: Final = "Stellar flares of M dwarfs"
HABITABILITY: Final = "Habitability of rocky planets around M dwarfs"
VACCINES: Final = "Vaccines against COVID-19"
COUNTING: Final = "How to count in 19 ways"
WATER_WORLD: Final = "A water world: GJ-1214b"
INFLUENZA: Final = "The 1918 influenza"
SORTING: Final = "Sorting networks and the sort order of keys"
COMETS: Final = "Comets before photography"
EQUATION: Final = "Solving the Schroedinger equation"
GRAPHS: Final = "The Schrödinger equation on graphs"
NOISE: Final = "Noise on the Straße"
ADDITION: Final = "The Michael addition"
THEOREM: Final = "Michal and her theorem"
CHINESE: Final = "深度学习综述"
GATES: Final = "Logic gates in cells"

PAPERS: Final[list[dict[str, Any]]] = [
    {
        "title": ATMOSPHERES,
        "authors": ["Wei Zhang", "Ana Müller"],
        "year": 2019,
        "venue": "Astronomy Letters",
        "abstract": "JWST observes seven rocky planets of the TRAPPIST-1 system. Their atmospheres are thin.",
        "doi": "10.5555/t1.2019",
        "keywords": ["exoplanets", "planetary atmospheres"],
        "tags": ["jwst"],
    },
    {
        "title": TELESCOPE,
        "authors": ["Jan Mueller"],
        "year": 2021,
        "venue": "Astronomy Letters",
        "abstract": "A robotic telescope in Chile found 1 comet and 1 asteroid.",
        "keywords": ["telescopes"],
    },
    {
        "title": FLARES,
        "authors": ["Li Zhang"],
        "year": 2014,
        "venue": "Journal of Stars",
        "abstract": "Flares strip atmospheres from small planets.",
        "keywords": ["flares"],
    },
    {
        "title": HABITABILITY,
        "authors": ["Eva Schröder"],
        "year": 2016,
        "venue": "Journal of Stars",
        "abstract": "Whether oceans last depends on the star. Flares of stellar origin decide.",
        "keywords": ["habitability", "oceans"],
    },
    {
        "title": VACCINES,
        "authors": ["Søren Ångström"],
        "year": 2021,
        "abstract": "Trials of COVID-19 vaccines in many countries.",
        "keywords": ["vaccines"],
    },
    {"title": COUNTING, "authors": ["Otto Zahl"], "year": 2009, "abstract": "Counting is an art of its own."},
    {"title": WATER_WORLD, "authors": ["Zoé Lefèvre"], "year": 2010, "abstract": "GJ 1214b may be covered by water."},
    {"title": INFLUENZA, "authors": ["Ida Kron"], "year": 2006, "abstract": "A pandemic and its records."},
    {
        "title": SORTING,
        "authors": ["Ken Batch"],
        "year": 2011,
        "abstract": "Comparators select the larger of two keys.",
    },
    {"title": COMETS, "authors": ["Maria Kirch"], "year": 1899, "abstract": "Drawings of comets, by year."},
    {"title": EQUATION, "authors": ["Kurt Gödel"], "year": 2015, "abstract": "A numerical method."},
    {"title": GRAPHS, "authors": ["Johann Goethe"], "year": 2018, "abstract": "A method for graphs."},
    {"title": NOISE, "authors": ["Pål Ødegård"], "year": 2012, "abstract": "Traffic is loud."},
    {"title": ADDITION, "authors": ["Michael Baur"], "year": 2003, "abstract": "A reaction of enolates."},
    {"title": THEOREM, "authors": ["Michal Bauer"], "year": 2004, "abstract": "A proof of mutual kindness."},
    {"title": CHINESE, "authors": ["王伟"], "year": 2022, "abstract": "本文综述深度学习。"},
    {"title": GATES, "authors": ["Ada Bool"], "year": 2013, "abstract": "Cells compute AND, OR and NOT."},
]
