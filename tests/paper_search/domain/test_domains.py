"""Tests of the lookup of domains by name."""

import dataclasses

import pytest

from paper_search.domain.field_profiles import get_domain, list_domains
from paper_search.domain.intent.vocabulary import Vocabulary, make_term_key, read_synonym_groups
from paper_search.errors import UnknownDomain
from paper_search.sources.registry import list_source_names


def test_the_two_domains_are_listed() -> None:
    assert list_domains() == ["general", "materials_science"]
    assert [get_domain(name).name for name in list_domains()] == list_domains()


@pytest.mark.parametrize("name", ["materials_science", "Materials Science", "materials-science", " MATERIALS_SCIENCE "])
def test_case_spaces_and_hyphens_do_not_matter(name: str) -> None:
    assert get_domain(name).name == "materials_science"


def test_an_unknown_domain_is_refused_by_naming_the_known_and_the_nearest() -> None:
    with pytest.raises(UnknownDomain) as caught:
        get_domain("material_sciences")
    assert "general, materials_science" in caught.value.message
    assert "Did you mean 'materials_science'?" in caught.value.hint
    assert caught.value.ids["allowed"] == list_domains()


@pytest.mark.parametrize("name", ["", "   ", "x" * 10_000, "general\x00", "../general"])
def test_odd_names_are_unknown_domains_with_a_short_message(name: str) -> None:
    with pytest.raises(UnknownDomain) as caught:
        get_domain(name)
    assert len(caught.value.message) < 300


@pytest.mark.parametrize("name", ["MY_DOMAIN_SECRET", "my_domain_secret"])
def test_a_domain_is_never_looked_up_in_the_environment(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_DOMAIN_SECRET", "sk-from-the-environment")
    with pytest.raises(UnknownDomain) as caught:
        get_domain(name)
    assert "sk-from-the-environment" not in str(caught.value.body())


def test_a_domain_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        get_domain("general").name = "mine"  # pyright: ignore[reportAttributeAccessIssue] - that it fails is the point


def test_materials_science_knows_every_term_that_general_knows() -> None:
    assert get_domain("general").synonyms.keys() <= get_domain("materials_science").synonyms.keys()


def test_an_acronym_has_its_meaning_in_the_field() -> None:
    assert "generative adversarial network" in Vocabulary(get_domain("general").synonyms).find_synonyms("GAN")
    assert Vocabulary(get_domain("materials_science").synonyms).find_synonyms("GaN") == ["gallium nitride"]


@pytest.mark.parametrize("name", list_domains())
def test_priority_sources_exist(name: str) -> None:
    assert set(get_domain(name).priority_sources) <= set(list_source_names())


@pytest.mark.parametrize("name", list_domains())
def test_no_term_of_a_field_is_in_two_groups(name: str) -> None:
    general = read_synonym_groups()
    group_of: dict[tuple[str, ...], str] = {}
    for term, others in get_domain(name).synonyms.items():
        for spelling in (term, *others) if general.get(term) != others else ():
            assert group_of.setdefault(make_term_key(spelling), term) == term


@pytest.mark.parametrize("name", list_domains())
def test_no_term_is_twice_in_a_group_and_each_first_term_leads_to_its_own_group(name: str) -> None:
    synonyms = get_domain(name).synonyms
    vocabulary = Vocabulary(synonyms)
    for term, others in synonyms.items():
        assert len({term.casefold(), *map(str.casefold, others)}) == 1 + len(others)
        assert vocabulary.find_synonyms(term) == list(others)


def test_every_spelling_leads_to_the_others() -> None:
    vocabulary = Vocabulary(get_domain("materials_science").synonyms)
    assert "metal-organic framework" in vocabulary.find_synonyms("MOFs")
    assert "MOF" in vocabulary.find_synonyms("Metal-Organic Frameworks")
    assert vocabulary.find_synonyms("unheard-of thing") == []
