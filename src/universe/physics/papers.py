"""The papers of computed quantities: which quantity is computed by the formula of which paper."""

from collections.abc import Iterable
from typing import Any, Final

PAPERS: Final[dict[str, dict[str, Any]]] = {
    "kopparapu2014": {
        "title": "Habitable Zones around Main-sequence Stars: Dependence on Planetary Mass",
        "authors": [
            "Kopparapu, Ravi Kumar",
            "Ramirez, Ramses M.",
            "SchottelKotte, James",
            "Kasting, James F.",
            "Domagal-Goldman, Shawn",
            "Eymet, Vincent",
        ],
        "year": 2014,
        "venue": "The Astrophysical Journal Letters 787, L29",
        "doi": "10.1088/2041-8205/787/2/L29",
        "arxiv": "1404.5292",
    },
    "mendez2017": {
        "title": "The Equilibrium Temperature of Planets in Elliptical Orbits",
        "authors": ["Méndez, Abel", "Rivera-Valentín, Edgard G."],
        "year": 2017,
        "venue": "The Astrophysical Journal Letters 837, L1",
        "arxiv": "1702.07314",
    },
    "prsa2016": {
        "title": "Nominal Values for Selected Solar and Planetary Quantities: IAU 2015 Resolution B3",
        "authors": ["Prša, Andrej", "Harmanec, Petr", "Torres, Guillermo", "others"],
        "year": 2016,
        "venue": "The Astronomical Journal 152, 41",
        "doi": "10.3847/0004-6256/152/2/41",
        "arxiv": "1605.09788",
    },
    "hamilton1992": {
        "title": "Orbital stability zones about asteroids: II. The destabilizing effects of eccentric orbits and of "
        "solar radiation",
        "authors": ["Hamilton, Douglas P.", "Burns, Joseph A."],
        "year": 1992,
        "venue": "Icarus 96, 43",
        "doi": "10.1016/0019-1035(92)90005-R",
    },
    "winn2010": {
        "title": "Exoplanet Transits and Occultations",
        "authors": ["Winn, Joshua N."],
        "year": 2010,
        "venue": "Exoplanets, ed. S. Seager, University of Arizona Press, 55",
        "arxiv": "1001.2010",
    },
    "lovis2010": {
        "title": "Radial Velocity Techniques for Exoplanets",
        "authors": ["Lovis, Christophe", "Fischer, Debra A."],
        "year": 2010,
        "venue": "Exoplanets, ed. S. Seager, University of Arizona Press, 27",
    },
}


def collect_papers(quantities: Iterable[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return the papers of pairs of a paper's id and a quantity, each once, with the quantities as its fields."""
    fields: dict[str, dict[str, None]] = {}
    for paper, quantity in quantities:
        fields.setdefault(paper, {})[quantity] = None
    return [{"id": paper, **PAPERS[paper], "fields": list(named)} for paper, named in fields.items()]
