"""Whether what templates refer to is there by then: what is wrong, what there is, and how it would be right."""

from typing import Any

import pytest

from tests.pflow.ir.workflows import Plain, chain, checked, codes, echo, the
from tests.requirements import requirement


def shell(name: str, command: str = "ls", **more: Any) -> Plain:
    return {"id": name, "type": "shell", "params": {"command": command}, **more}


def test_references_to_inputs_and_to_outputs_of_earlier_nodes_are_fine() -> None:
    document = chain(
        shell("list", "ls ${folder}"),
        echo("say", "${list.stdout} ${list.exit_code} ${list.error ?? 1}"),
        inputs={"folder": {}},
        outputs={"o": {"source": "${say.echo}"}, "all": {"source": "${list}"}},
    )
    assert checked(document).diagnostics == []


@requirement("PF-R7", "PF-E4")
def test_a_variable_that_is_neither_declared_nor_produced_is_a_warning_and_told_how_to_declare_it() -> None:
    told = the(checked(chain(echo("init"), echo("fetch", {"url": "${api_url}"}))), "undeclared_variable")
    assert (told.severity, told.path, told.node) == ("warning", "nodes[1].params.message.url", "fetch")
    assert "${api_url}" in told.message
    assert '"inputs": {"api_url"' in told.hint
    assert told.available == ("init", "fetch")
    assert told.nearest is None


@pytest.mark.parametrize(
    ("node", "used"), [("fetch-data", "fetch_data"), ("fetch_data", "fetch-data"), ("fetchData", "fetchdata")]
)
def test_a_node_misspelt_by_a_hyphen_is_shown_as_it_would_be_right(node: str, used: str) -> None:
    told = the(checked(chain(shell(node), echo("say", f"Got ${{{used}.stdout}}"))), "unknown_root")
    assert (told.severity, told.nearest, told.example) == ("error", node, f"${{{node}.stdout}}")
    assert node in told.available
    assert told.hint == f"Write `${{{node}.stdout}}`."


def test_an_input_misspelt_is_shown_as_it_would_be_right() -> None:
    told = the(
        checked({"inputs": {"repo_name": {}}, "nodes": [echo("a", "${repo-name} ${repo_name}")]}), "undeclared_variable"
    )
    assert (told.nearest, told.example) == ("repo_name", "${repo_name}")


@pytest.mark.parametrize("source", ["${fetc.stdout}", "${fetc.stdout ?? fetch.stderr}", "${fetc.stdout} it is"])
def test_an_output_of_a_node_that_does_not_exist_is_an_error(source: str) -> None:
    found = checked({"nodes": [shell("fetch")], "outputs": {"o": {"source": source}}})
    told = the(found, "unknown_root")
    assert (told.severity, told.path, told.node, told.nearest) == ("error", "outputs.o.source", None, "fetch")
    assert told.example == "${fetch.stdout}"
    assert told.available == ("fetch",)


def test_an_output_that_may_be_given_is_a_warning() -> None:
    found = checked({"nodes": [shell("fetch")], "outputs": {"o": {"source": "${fetc}"}}})
    told = the(found, "undeclared_variable")
    assert found.errors == []
    assert (told.path, told.example) == ("outputs.o.source", "${fetch}")
    assert '"inputs": {"fetc"' in told.hint


@pytest.mark.parametrize("used", ["nodee.stdout", "nodee.stdout ?? 1", "nodee.a[0].b", "init.echo[${nodee.count}]"])
@pytest.mark.parametrize("command", [True, False])
def test_a_dotted_name_that_is_neither_an_input_nor_a_node_is_an_error(used: str, command: bool) -> None:
    text = f"x ${{{used}}}"
    last = shell("last", text) if command else echo("last", [text])
    found = checked(chain(echo("init"), shell("node"), last))
    told = the(found, "unknown_root")
    assert (told.severity, told.node, told.nearest) == ("error", "last", "node")
    assert "'nodee' is neither a declared input nor a node" in told.message


def test_a_dotted_name_that_resembles_nothing_is_shown_with_how_to_declare_it() -> None:
    told = the(checked({"nodes": [echo("a", "${settings.url}")]}), "unknown_root")
    assert (told.nearest, told.example) == (None, None)
    assert '"inputs": {"settings": {"type": "object"}}' in told.hint
    assert checked({"inputs": {"settings": {"type": "object"}}, "nodes": [echo("a", "${settings.url}")]}).errors == []


@pytest.mark.parametrize("used", ["names", "names[0]", "names[0].first", "names ?? 1"])
def test_a_name_without_a_dot_may_be_given_with_the_call(used: str) -> None:
    found = checked({"nodes": [echo("a", f"${{{used}}}")]})
    assert (found.errors, codes(found)) == ([], ["undeclared_variable"])


@pytest.mark.parametrize("used", ["item.name", "it.name", "__index__.x"])
def test_fields_of_an_item_are_fine_in_a_batch_and_an_error_outside(used: str) -> None:
    batch: Plain = {"items": [{}], "as": "it" if used.startswith("it.") else "item"}
    assert checked({"nodes": [echo("a", f"${{{used}}}", batch=batch)]}).errors == []
    told = the(checked({"nodes": [echo("a", f"${{{used}}}")]}), "unknown_root")
    assert "batch" in told.hint or used.startswith("it.")


def test_the_item_is_not_there_in_an_output() -> None:
    document = {"nodes": [shell("a")], "outputs": {"o": {"source": "${item}"}}}
    assert "batch" in the(checked(document), "undeclared_variable").hint


def test_an_input_that_is_used_nowhere_is_only_a_warning() -> None:
    told = the(checked({"inputs": {"x": {}, "y": {}}, "nodes": [echo("a", "${y}")]}), "unused_input")
    assert (told.severity, told.path) == ("warning", "inputs.x")


@pytest.mark.parametrize("used", ["${b.echo}", "${first[${b.echo}]}", "${b.echo ?? 1}"])
def test_a_node_that_runs_later_cannot_be_used(used: str) -> None:
    told = the(checked(chain(echo("first"), echo("a", used), echo("b"), inputs={})), "not_before")
    assert (told.severity, told.path, told.node) == ("error", "nodes[1].params.message", "a")
    assert told.available == ("first",)
    assert told.example == {"from": "b", "to": "a"}


def test_a_node_beside_cannot_be_used() -> None:
    edges = [{"from": "start", "to": side} for side in ("left", "right")]
    found = checked({"nodes": [echo("start"), echo("left"), echo("right", "${left.echo}")], "edges": edges})
    assert the(found, "not_before").available == ("start",)


def test_a_node_cannot_use_itself() -> None:
    told = the(checked({"nodes": [echo("a", "${a.echo}")]}), "not_before")
    assert "itself" in told.message
    assert told.example is None


def test_nodes_many_steps_before_can_be_used() -> None:
    nodes = [echo(f"n{number}") for number in range(50)]
    assert checked(chain(*nodes, echo("last", "${n0.echo} ${n49.echo}"))).diagnostics == []


@pytest.mark.parametrize(
    ("used", "meant"), [("stdot", "stdout"), ("exitcode", "exit_code"), ("zzz", None), ("0", None)]
)
def test_an_output_that_a_node_does_not_give_is_told_with_those_it_gives(used: str, meant: str | None) -> None:
    told = the(checked(chain(shell("run"), echo("say", f"${{run.{used}}}"))), "unknown_output")
    assert (told.severity, told.path, told.nearest) == ("error", "nodes[1].params.message", meant)
    assert told.available == ("${run.stdout}", "${run.stderr}", "${run.exit_code}")
    assert told.example == (f"${{run.{meant}}}" if meant else "${run.stdout}")


def test_a_batch_gives_results_and_its_shape_is_told() -> None:
    document = chain(shell("each", "cat ${item}", batch={"items": ["a"]}), echo("say", "${each.stdout}"))
    told = the(checked(document), "unknown_output")
    assert "batch" in told.message
    assert {"${each.results}", "${each.count}", "${each.errors}"} <= set(told.available)
    fine = chain(
        shell("each", "cat ${item}", batch={"items": ["a"]}), echo("say", "${each.results[0].stdout} ${each.count}")
    )
    assert checked(fine).diagnostics == []


@pytest.mark.parametrize(
    ("used", "meant"),
    [
        ("log.commits[0].shaa", "${log.commits[0].sha}"),
        ("log.commits[-1].author.nam", "${log.commits[-1].author.name}"),
        ("log.commits[${n}].authr", "${log.commits[${n}].author}"),
    ],
)
def test_a_field_that_is_not_in_a_known_structure_is_a_warning(used: str, meant: str) -> None:
    document = chain({"id": "log", "type": "git-log"}, echo("say", f"${{{used}}}"), inputs={"n": {"default": 0}})
    told = next(one for one in checked(document).diagnostics if one.code != "unused_input")
    assert (told.severity, told.code, told.example) == ("warning", "unknown_field", meant)
    assert meant in told.available


@pytest.mark.parametrize(
    "used", ["log.commits[0].sha", "log.commits[0].author.name", "log.commits", "log", "log.error", "log[${k}]"]
)
def test_a_way_through_a_known_structure_is_fine(used: str) -> None:
    document = chain({"id": "log", "type": "git-log"}, echo("say", f"${{{used}}} ${{k}}"), inputs={"k": {}})
    assert checked(document).diagnostics == []


def test_below_an_output_of_unknown_structure_anything_may_be() -> None:
    assert (
        checked(chain(shell("a"), echo("b", "${a.stdout.some[0].thing}"), {"id": "c", "type": "choose"})).diagnostics
        == []
    )


def test_what_another_workflow_gives_is_not_known() -> None:
    nested = {"id": "w", "type": "workflow", "params": {"workflow_ir": {"nodes": [echo("x")]}}}
    assert checked(chain(nested, echo("b", "${w.anything.at.all}"))).diagnostics == []


@pytest.mark.parametrize("used", ["${item}", "${__index__}"])
def test_the_item_outside_of_a_batch_is_told_to_be_there_in_batches_only(used: str) -> None:
    assert "batch" in the(checked({"nodes": [echo("a", used)]}), "undeclared_variable").hint


def test_the_item_is_not_there_in_the_items_themselves() -> None:
    document = {"nodes": [echo("a", "${item}", batch={"items": "${item}"})]}
    assert the(checked(document), "undeclared_variable").path == "nodes[0].batch.items"


def test_a_template_that_is_none_is_told_where_it_begins() -> None:
    found = checked(
        {"nodes": [echo("a", {"x": ["see ${HOME:-x} and ${", "$${fine}"]})], "outputs": {"o": {"source": "x ${1}"}}}
    )
    told = [one for one in found.errors if one.code == "malformed_template"]
    assert [(one.path, one.node) for one in told] == [
        ("nodes[0].params.message.x[0]", "a"),
        ("nodes[0].params.message.x[0]", "a"),
        ("outputs.o.source", None),
    ]
    assert "${HOME:-x}" in told[0].message
    assert "$${" in told[0].hint


def test_what_the_shell_understands_is_not_malformed_in_a_command() -> None:
    assert checked({"nodes": [shell("a", "echo ${HOME:-x} ${#y} ${z%.*} ${arr[@]} ${1}")]}).diagnostics == []


def test_a_reference_used_many_times_in_a_text_is_told_once() -> None:
    found = checked({"nodes": [echo("a", "${gone} ${gone} ${gone.x} ${gone.x}")]})
    assert codes(found) == ["undeclared_variable", "unknown_root"]


def test_many_malformed_beginnings_are_told_in_short() -> None:
    found = checked({"nodes": [echo("a", "${ " * 100_000)]})
    assert 1 < len(found.errors) < 20
    assert "99,988" in found.errors[-1].message


def test_nodes_in_a_circle_are_not_told_a_second_time() -> None:
    document = chain(echo("a"), echo("b", "${a.echo}"), echo("c", "${b.echo} ${a.echo}"), echo("d", "${c.echo}"))
    document["edges"].append({"from": "c", "to": "b"})
    assert codes(checked(document)) == ["circle"]


def test_a_name_of_a_million_characters_is_told_in_short() -> None:
    long = "x" * 1_000_000
    document: Plain = {
        "inputs": {"y": {}},
        "nodes": [shell("run"), echo("a", f"${{{long}}} ${{run.{long}}} ${{y}}"), {"id": "g", "type": "git-log"}],
        "edges": [{"from": "run", "to": "a"}, {"from": "run", "to": "g"}],
        "outputs": {"o": {"source": f"${{{long}.x}}"}, "p": {"source": f"${{g.commits.{long}}}"}},
    }
    found = checked(document).diagnostics
    assert {one.code for one in found} == {"undeclared_variable", "unknown_root", "unknown_output", "unknown_field"}
    for one in found:
        assert all(len(str(value)) < 1000 for value in one.to_dict().values())
