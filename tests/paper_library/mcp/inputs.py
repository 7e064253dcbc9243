"""The inputs of the test shelf: a realistic folder with all content that is difficult to serve."""

import json
from pathlib import Path
from typing import Any, Final

from paper_library.service.build.builder import build_shelf

BIBLIOGRAPHY: Final = r"""
@inproceedings{oztuerk2021attention,
  title     = {Attention for Weather: Transformers on Rain Radar},
  author    = {{\"O}zt{\"u}rk, Ada and Nguyễn, Thị Minh and Smith, John},
  booktitle = {Conference on Learned Weather},
  year      = {2021},
  doi       = {10.5555/Weather.2021.17},
  keywords  = {transformer, rain radar},
}

@article{silent1999,
  title    = {Silent Orbits of Tidally Locked Moons},
  author   = {Smith, John and Kovács, Éva},
  journal  = {Annals of Small Bodies},
  year     = {1999},
  abstract = {We follow moons that always show one face. Their orbits are silent.},
  keywords = {moons, Résumé},
}

@misc{preprint2301,
  title         = {Sparse Graphs Remember},
  author        = {Lindqvist, Bo},
  year          = {2023},
  eprint        = {2301.04242},
  archiveprefix = {arXiv},
  keywords      = {graphs},
}

@article{bracket2010,
  title   = {A Trial with a Bracketed Identifier},
  author  = {Brand, Uwe},
  journal = {Annals of Small Bodies},
  year    = {2010},
  doi     = {10.1016/S0140-6736(10)00123-4},
}

@book{clang,
  title  = {The C Language at Forty},
  author = {Old, Timer},
  year   = {2012},
}
"""

ATTENTION: Final = """---
title: "Attention for Weather: Transformers on Rain Radar"
bibkey: oztuerk2021attention
doi: 10.5555/weather.2021.17
tags: [nowcasting, Transformer]
affiliations:
  - name: Institute of Sky
  - name: University of Hven
abstract: A transformer reads rain radar and says where it will rain in the next hour.
---
# Introduction

Rain moves. A transformer with local attention predicts the next radar image better than optical flow.

## Data

Ten years of radar over one island, 😀 included: 𝒜 ≠ A.

# Results

The model is right about drizzle.
"""

ATTENTION_ZH: Final = """# 引言

雨在移动。带有局部注意力的变换器预测下一张雷达图像。
"""

LANGUAGES: Final = """---
title: "Porting C++ and C# kernels to .NET: an O(n²) story"
author: Grace Portage
year: 2018
journal: Journal of Porting
keywords: [C++, C#, .NET]
---
# Porting

Templates of C++ and generics of C# meet in .NET. The naive port needs O(n²) copies.
Codes for rain radar were ported first.
"""

CAROTENE: Final = """---
title: Photobleaching of β-carotene in olive oil
author: [Íñigo Márquez, Ada Öztürk]
year: 2015
journal: Lipids & Light
doi: 10.5555/bcarotene.9
keywords: [β-carotene, photobleaching]
tags: [food]
---
# Bleaching

β-carotene loses its colour within hours; *chlorophyll* and <script>alert(1)</script> do not help.
"""

CHINESE: Final = """---
title: 深度学习在天气预报中的应用
author: 王小明
year: 2022
venue: 气象学报
keywords: [深度学习, 天气预报]
---
# 摘要

本文研究深度学习模型如何改进短期天气预报。
"""

LONG_PARAGRAPHS: Final = 1_100
FILLERS: Final = 23

DEEP_READ: Final[dict[str, Any]] = {
    "question": "Can attention predict rain?",
    "answer": "Yes, for an hour. 是的 😀",
    "steps": [{"n": 1, "what": "read radar"}, {"n": 2, "what": "attend"}],
    "score": 0.75,
}
BRIEF: Final[dict[str, Any]] = {"one_line": "Attention beats optical flow on drizzle."}

SOURCES: Final = {
    "oztuerk2021attention.md": ATTENTION,
    "oztuerk2021attention.zh.md": ATTENTION_ZH,
    "porting.md": LANGUAGES,
    "carotene.md": CAROTENE,
    "chinese.md": CHINESE,
}

ATTENTION_DOI: Final = "10.5555/weather.2021.17"
SOURCELESS: Final = "silent1999"
"""The BibTeX key of a paper of which only the entry is there."""
LONG: Final = "longread"
WINTER_FRONT: Final = f"""---
title: Annals of a Long Winter
bibkey: {LONG}
author: Ada Öztürk
year: 2020
keywords: [annals]
---
"""


def strip_front_matter(markdown: str) -> str:
    """Return the text of a file without its front matter."""
    return markdown.split("---\n", 2)[2].strip() if markdown.startswith("---\n") else markdown.strip()


def make_long_text() -> str:
    """Return a text longer than one reply, with characters of one, two, three and four bytes."""
    paragraphs = [f"Paragraph {n} of the annals: é, 雨, 😀 and the comet {n * 37}." for n in range(LONG_PARAGRAPHS)]
    sections = [f"# Part {n // 100}\n\n{text}" if n % 100 == 0 else text for n, text in enumerate(paragraphs)]
    return "\n\n".join(sections)


def write_inputs(folder: Path) -> None:
    """Write papers to `folder/papers` and summaries of two of them to `folder/summaries`."""
    papers = folder / "papers"
    papers.mkdir(parents=True)
    for name, text in SOURCES.items():
        (papers / name).write_text(text, encoding="utf-8")
    (papers / "winter.md").write_text(WINTER_FRONT + make_long_text(), encoding="utf-8")
    (papers / "library.bib").write_text(
        BIBLIOGRAPHY + "\n".join(map(_make_filler_entry, range(FILLERS))), encoding="utf-8"
    )
    for template, value in (("deep_read", DEEP_READ), ("brief", BRIEF)):
        summary = folder / "summaries" / template / "oztuerk2021attention.json"
        summary.parent.mkdir(parents=True)
        summary.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")


def build_rich_shelf(folder: Path) -> Path:
    """Build the shelf of these inputs below `folder` and return its path."""
    write_inputs(folder)
    report = build_shelf([folder / "papers"], folder / "shelf", summaries=folder / "summaries")
    assert not report.problems, report.problems
    return folder / "shelf"


def _make_filler_entry(number: int) -> str:
    return (
        f"@article{{filler{number:02}, title = {{Gravel Study Number {number}}}, author = {{Stone, Peter}}, "
        f"journal = {{Gravel Letters}}, year = {{{1980 + number}}}, keywords = {{gravel}}}}"
    )
