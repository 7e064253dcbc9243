"""`diff` lists exactly the differences between two shelves."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from paper_library.service.build.builder import build_shelf
from paper_library.store.verification import DifferingPaper, compare_shelves


def build_keyed_shelf(folder: Path, name: str, papers: dict[int, str]) -> Path:
    """Build a shelf of papers with numbers as keys and one-word abstracts."""
    source = folder / f"{name}.bib"
    source.write_text(
        "\n".join(
            f"@article{{p{key}, title={{Paper {key} of {key}}}, doi={{10.1000/{key}}}, abstract={{{reply}}}}}"
            for key, reply in papers.items()
        )
    )
    build_shelf([source], folder / name)
    return folder / name


Papers = st.dictionaries(st.integers(0, 9), st.sampled_from(["angles", "lines", "arcs"]), min_size=1, max_size=8)


@settings(max_examples=10)
@given(old=Papers, new=Papers)
def test_exactly_the_added_removed_and_changed_papers_are_listed(old: dict[int, str], new: dict[int, str]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        before = build_keyed_shelf(Path(folder), "before", old)
        after = build_keyed_shelf(Path(folder), "after", new)
        difference = compare_shelves(before, after)
    assert list_numbers(difference.added) == new.keys() - old.keys()
    assert list_numbers(difference.removed) == old.keys() - new.keys()
    both = new.keys() & old.keys()
    assert list_numbers(difference.changed) == {key for key in both if old[key] != new[key]}
    assert difference.unchanged == len(both) - len(difference.changed)
    assert all(change.fields == ("abstract",) for change in difference.changed)


def list_numbers(changes: list[DifferingPaper]) -> set[int]:
    return {int(change.title.split()[1]) for change in changes}


def test_a_change_of_the_text_only_is_reported(tmp_path: Path) -> None:
    shelves: list[Path] = []
    for name, text in (("before", "Angles."), ("after", "Arches.")):
        source = tmp_path / f"{name}-texts"
        source.mkdir()
        (source / "star.md").write_text(f"---\ntitle: A star\n---\n{text}\n")
        build_shelf([source], tmp_path / name)
        shelves.append(tmp_path / name)
    (change,) = compare_shelves(*shelves).changed
    assert (change.title, change.fields) == ("A star", ("content",))
