"""Tests of the concepts of a text."""

from datetime import date

import pytest

from paper_search.domain.field_profiles import get_domain
from paper_search.domain.intent.concepts import find_acronyms, find_concepts
from paper_search.domain.intent.intent_reader import read_intent
from paper_search.domain.intent.text_cleanup import (
    cut_and_normalise_characters,
    remove_courtesies,
    replace_quoted_phrases,
    restore_phrases,
)
from paper_search.domain.intent.vocabulary import Vocabulary

VOCABULARY = Vocabulary(get_domain("general").synonyms)


def read_concepts(text: str) -> list[str]:
    return list(find_concepts(remove_courtesies(text), VOCABULARY))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "graph neural networks for molecular property prediction",
            ["graph neural networks", "molecular"],
        ),
        ("the effect of sleep on memory consolidation", ["sleep", "memory consolidation"]),
        ("internet of things security", ["internet of things", "security"]),
        ("transformer protein folding", ["transformer", "protein folding"]),
        ("deep reinforcement learning robotic manipulation", ["deep reinforcement learning", "robotic manipulation"]),
        ("perovskite solar cell stability", ["perovskite", "solar cell", "stability"]),
        ("alpha beta gamma delta epsilon", ["alpha beta", "gamma delta epsilon"]),
        ("E. coli growth in vitro", ["E. coli", "growth", "in vitro"]),
        ("C++ and .NET and C#", ["C++", ".NET", "C#"]),
        ("WHO guidelines on malaria", ["WHO", "malaria"]),
        ("Li-ion and Na-ion cells", ["Li-ion", "Na-ion cells"]),
        ("SARS-CoV-2 antibodies", ["SARS-CoV-2", "antibodies"]),
        ("Alzheimer's disease; tau protein", ["Alzheimer's disease", "tau protein"]),
        ("ice and Ice", ["ice"]),
        ("applications", ["applications"]),
        ("基于深度学习的图像分割", ["基于深度学习", "图像分割"]),
        ("深度学习 图像分割", ["深度学习", "图像分割"]),
        ("深度学习，图像分割", ["深度学习", "图像分割"]),
        ("딥 러닝 모델", ["딥 러닝 모델"]),
        ("أثر المناخ", ["أثر المناخ"]),
        ("World War 2 economic history", ["World War 2", "economic history"]),
        ("Blade Runner 2049 film studies", ["Blade Runner 2049", "film studies"]),
        ("Frozen Sea Waves", ["Frozen Sea Waves"]),
        ("Kyoto Protocol 1997 compliance", ["Kyoto Protocol 1997", "compliance"]),
        ("Apollo 11 lunar samples", ["Apollo 11", "lunar"]),
        ("search engines -- ranking", ["search engines", "ranking"]),
        ("urban heat island mitigation", ["urban heat island"]),
        ("2020 US presidential election misinformation", ["2020 US", "presidential election", "misinformation"]),
        ("mortality of children under 5", ["mortality", "children"]),
        ("type 3 collagen", ["type 3 collagen"]),
        ("witch trials 1500-1700", ["witch trials", "1500-1700"]),
        ("in vitro fertilization rates", ["in vitro fertilization"]),
        ("in situ hybridization of fish", ["in situ hybridization", "fish"]),
        ("de novo mutations", ["de novo mutations"]),
        ("P vs NP", ["P vs NP"]),
        ("ADHD medication", ["ADHD", "medication"]),
        ("Wirkung von Schlaf auf das Gedächtnis", ["Schlaf", "Gedächtnis"]),
        ("l'effet du sommeil sur la mémoire", ["sommeil", "mémoire"]),
        ("el sueño y la memoria de los niños", ["sueño", "memoria", "niños"]),
        ("El Niño and La Niña", ["El Niño", "La Niña"]),
        ("机器学习 用于 电池", ["机器学习", "电池"]),
        ("", []),
        ("?! ... --", []),
    ],
)
def test_concepts_are_the_terms_that_carry_a_topic(text: str, expected: list[str]) -> None:
    assert read_concepts(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "find me papers about ice",
        "Please find some papers on ice, thanks!",
        "I'm looking for ice",
        "I am looking for articles about ice please",
        "We would like to know more about ice",
        "can you help me find research on ice",
        "What is known about ice?",
        "what do we know about ice",
        "Hello, could you give me the most cited papers on ice",
        "show me literature regarding ice",
        "are there any studies on ice?",
        "ice papers",
        "how do I find papers about ice",
        "where can I find ice",
    ],
)
def test_politeness_is_not_a_concept(text: str) -> None:
    assert read_concepts(text) == ["ice"]


@pytest.mark.parametrize(
    "text", ["search engines", "list decoding", "paper recycling", "A* search", "all-optical switching"]
)
def test_subjects_that_look_like_politeness_stay(text: str) -> None:
    assert read_concepts(text) == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("convolutional neural network (CNN)", {"convolutional neural network": "CNN"}),
        ("fast convolutional neural networks (CNNs) win", {"convolutional neural networks": "CNNs"}),
        ("CNN (convolutional neural network)", {"convolutional neural network": "CNN"}),
        ("density of states (DOS)", {"density of states": "DOS"}),
        ("metal-organic framework (MOF)", {"metal-organic framework": "MOF"}),
        ("ice (frozen water)", {}),
        ("ice (XYZ)", {}),
        ("ice ()", {}),
    ],
)
def test_an_acronym_is_paired_with_the_words_it_abbreviates(text: str, expected: dict[str, str]) -> None:
    assert find_acronyms(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "cats OR dogs AND (bread OR butter OR jam)",
            {"cats": ["dogs"], "bread": ["butter", "jam"]},
        ),
        ("cats or dogs", {"cats": ["dogs"]}),
        ("cats and dogs", {"cats": [], "dogs": []}),
        ("convolutional neural network (CNN) for images", {"convolutional neural network": [], "images": []}),
    ],
)
def test_terms_joined_by_or_are_alternatives_and_explained_acronyms_are_no_terms(
    text: str, expected: dict[str, list[str]]
) -> None:
    assert find_concepts(text, VOCABULARY) == expected


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ('"black ice" on roads', ["black ice"]),
        ("“black ice” and „dry ice“ and «sea ice»", ["black ice", "dry ice", "sea ice"]),
        ("'black ice' on Mars' roads", ["black ice"]),
        ("‘black ice’ on roads", ["black ice"]),
        ("「黒氷」の研究", ["黒氷"]),
        ("the ice's edge and the sea's edge", []),
        ('an unclosed "quote', []),
        ('"" and " "', []),
    ],
)
def test_quoted_phrases_are_replaced_for_every_kind_of_quotes(text: str, phrases: list[str]) -> None:
    assert replace_quoted_phrases(cut_and_normalise_characters(text))[1] == phrases


def test_the_phrases_of_a_text_can_be_restored() -> None:
    text, phrases = replace_quoted_phrases('roads with "black ice" in winter')
    assert "black" not in text
    assert restore_phrases(text, phrases) == "roads with black ice in winter"


def test_normalising_removes_control_and_private_characters() -> None:
    assert cut_and_normalise_characters("CO₂\x00 soft\u00adhyphen\u202e \ue000x\n２０２０") == "CO2 softhyphen x 2020"


@pytest.mark.parametrize(
    ("query", "concepts"),
    [
        ("Find me papers on help seeking behaviour", ["help seeking", "behaviour"]),
        ("barriers to help seeking", ["help seeking"]),
        ("help me find papers on ice", ["ice"]),
        ("please help find papers on ice", ["ice"]),
        ("can mindfulness help patients", ["mindfulness"]),
        ("must be about glaciers", ["glaciers"]),
        ("ideally open data, must be about glaciers", ["glaciers"]),
    ],
)
def test_courtesies_are_distinguished_from_topics(query: str, concepts: list[str]) -> None:
    assert read_intent(query, VOCABULARY, date(2024, 6, 15)).concepts == concepts
