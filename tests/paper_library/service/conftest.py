"""A small shelf that the tests of this folder share and do not change."""

from typing import Any

import pytest

from paper_library.service.library import Library
from tests.paper_library.service import sky_papers
from tests.paper_library.service.libraries import make_library

PAPERS: list[dict[str, Any]] = [
    {
        "title": "Templates in C++ and generics in C#",
        "authors": ["Ada Lovelace", "Kurt Gödel"],
        "year": 2019,
        "venue": "Journal of Code",
        "abstract": "We compare the generics of .NET with templates. Compilers of both languages are measured.",
        "doi": "10.1000/xyz",
        "keywords": ["Generics", "Compilers"],
    },
    {
        "title": "β-carotene in carrots",
        "authors": ["Emmy Noether"],
        "year": 2020,
        "venue": "Journal of Roots",
        "abstract": "The roles of β-carotene in the colour of carrots and of other roots.",
        "keywords": ["Carotenoids"],
        "tags": ["plants"],
    },
    {
        "title": "An O(n²) lower bound",
        "authors": ["Erwin Schrödinger", "Ada Lovelace"],
        "year": 2021,
        "venue": "Journal of Code",
        "abstract": "Sorting takes O(n log n) comparisons; the well-known proof is made shorter.",
        "arxiv": "2301.00001",
        "keywords": ["sorting"],
    },
    {"title": "深度学习方法综述", "authors": ["王伟"], "year": 2022, "abstract": "本文综述深度学习。"},
    {"title": "한국어 자연어 처리", "authors": ["김철수"], "year": 2022},
    {"title": "التعلم العميق للغة", "authors": ["محمد علي"], "year": 2018},
    {"title": "การเรียนรู้ เชิงลึก", "year": 2017},
    {
        "title": "Growing roots in the dark",
        "authors": ["Ada Noether"],
        "year": 2020,
        "venue": "Journal of Roots",
        "abstract": "Plants grow roots without light. A template for further trials is given.",
        "tags": ["plants"],
    },
    {
        "title": "A paper of no year",
        "authors": ["Nobody Known"],
        "abstract": "Nothing is known of when it was written.",
    },
]


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return make_library(tmp_path_factory.mktemp("small"), *PAPERS)


@pytest.fixture(scope="session")
def sky(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return make_library(tmp_path_factory.mktemp("sky"), *sky_papers.PAPERS)
