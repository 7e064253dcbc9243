"""References in templates: unknown names, order of nodes, and suggestions."""

from typing import Any

import pytest

from tests.pflow.domain.ir.workflows import Plain, chain, check_document, echo, find_only, list_codes
from tests.requirements import requirement


def shell_node(name: str, command: str = "ls", **more: Any) -> Plain:
    return {"id": name, "type": "shell", "params": {"command": command}, **more}


def test_references_to_inputs_and_to_outputs_of_earlier_nodes_are_fine() -> None:
    document = chain(
        shell_node("list", "ls ${folder}"),
        echo("say", "${list.stdout} ${list.exit_code} ${list.error ?? 1}"),
        inputs={"folder": {}},
        outputs={"o": {"source": "${say.echo}"}, "all": {"source": "${list}"}},
    )
    assert check_document(document).diagnostics == []


@requirement("PF-R7", "PF-E4")
def test_an_undeclared_variable_is_a_warning_with_a_declaration() -> None:
    diagnostic = find_only(
        check_document(chain(echo("init"), echo("fetch", {"url": "${api_url}"}))), "undeclared_variable"
    )
    assert (diagnostic.severity, diagnostic.path, diagnostic.node) == (
        "warning",
        "nodes[1].params.message.url",
        "fetch",
    )
    assert "${api_url}" in diagnostic.message
    assert '"inputs": {"api_url"' in diagnostic.hint
    assert diagnostic.available == ("init", "fetch")
    assert diagnostic.nearest is None


@pytest.mark.parametrize(
    ("node", "used"), [("fetch-data", "fetch_data"), ("fetch_data", "fetch-data"), ("fetchData", "fetchdata")]
)
def test_a_node_misspelt_by_a_hyphen_is_shown_as_it_would_be_right(node: str, used: str) -> None:
    diagnostic = find_only(
        check_document(chain(shell_node(node), echo("say", f"Got ${{{used}.stdout}}"))), "unknown_root"
    )
    assert (diagnostic.severity, diagnostic.nearest, diagnostic.example) == ("error", node, f"${{{node}.stdout}}")
    assert node in diagnostic.available
    assert diagnostic.hint == f"Write `${{{node}.stdout}}`."


def test_an_input_misspelt_is_shown_as_it_would_be_right() -> None:
    diagnostic = find_only(
        check_document({"inputs": {"repo_name": {}}, "nodes": [echo("a", "${repo-name} ${repo_name}")]}),
        "undeclared_variable",
    )
    assert (diagnostic.nearest, diagnostic.example) == ("repo_name", "${repo_name}")


@pytest.mark.parametrize("source", ["${fetc.stdout}", "${fetc.stdout ?? fetch.stderr}", "${fetc.stdout} it is"])
def test_an_output_of_a_node_that_does_not_exist_is_an_error(source: str) -> None:
    found = check_document({"nodes": [shell_node("fetch")], "outputs": {"o": {"source": source}}})
    diagnostic = find_only(found, "unknown_root")
    assert (diagnostic.severity, diagnostic.path, diagnostic.node, diagnostic.nearest) == (
        "error",
        "outputs.o.source",
        None,
        "fetch",
    )
    assert diagnostic.example == "${fetch.stdout}"
    assert diagnostic.available == ("fetch",)


def test_an_output_that_may_be_given_is_a_warning() -> None:
    found = check_document({"nodes": [shell_node("fetch")], "outputs": {"o": {"source": "${fetc}"}}})
    diagnostic = find_only(found, "undeclared_variable")
    assert found.errors == []
    assert (diagnostic.path, diagnostic.example) == ("outputs.o.source", "${fetch}")
    assert '"inputs": {"fetc"' in diagnostic.hint


@pytest.mark.parametrize("used", ["nodee.stdout", "nodee.stdout ?? 1", "nodee.a[0].b", "init.echo[${nodee.count}]"])
@pytest.mark.parametrize("command", [True, False])
def test_a_dotted_name_that_is_neither_an_input_nor_a_node_is_an_error(used: str, command: bool) -> None:
    text = f"x ${{{used}}}"
    last = shell_node("last", text) if command else echo("last", [text])
    found = check_document(chain(echo("init"), shell_node("node"), last))
    diagnostic = find_only(found, "unknown_root")
    assert (diagnostic.severity, diagnostic.node, diagnostic.nearest) == ("error", "last", "node")
    assert "'nodee' is neither a declared input nor a node" in diagnostic.message


def test_a_dotted_name_that_resembles_nothing_is_shown_with_how_to_declare_it() -> None:
    diagnostic = find_only(check_document({"nodes": [echo("a", "${settings.url}")]}), "unknown_root")
    assert (diagnostic.nearest, diagnostic.example) == (None, None)
    assert '"inputs": {"settings": {"type": "object"}}' in diagnostic.hint
    assert (
        check_document({"inputs": {"settings": {"type": "object"}}, "nodes": [echo("a", "${settings.url}")]}).errors
        == []
    )


@pytest.mark.parametrize("used", ["names", "names[0]", "names[0].first", "names ?? 1"])
def test_a_name_without_a_dot_may_be_given_with_the_call(used: str) -> None:
    found = check_document({"nodes": [echo("a", f"${{{used}}}")]})
    assert (found.errors, list_codes(found)) == ([], ["undeclared_variable"])


@pytest.mark.parametrize("used", ["item.name", "it.name", "__index__.x"])
def test_fields_of_an_item_are_fine_in_a_batch_and_an_error_outside(used: str) -> None:
    batch: Plain = {"items": [{}], "as": "it" if used.startswith("it.") else "item"}
    assert check_document({"nodes": [echo("a", f"${{{used}}}", batch=batch)]}).errors == []
    diagnostic = find_only(check_document({"nodes": [echo("a", f"${{{used}}}")]}), "unknown_root")
    assert "batch" in diagnostic.hint or used.startswith("it.")


def test_the_item_is_not_there_in_an_output() -> None:
    document = {"nodes": [shell_node("a")], "outputs": {"o": {"source": "${item}"}}}
    assert "batch" in find_only(check_document(document), "undeclared_variable").hint


def test_an_input_that_is_used_nowhere_is_only_a_warning() -> None:
    diagnostic = find_only(check_document({"inputs": {"x": {}, "y": {}}, "nodes": [echo("a", "${y}")]}), "unused_input")
    assert (diagnostic.severity, diagnostic.path) == ("warning", "inputs.x")


@pytest.mark.parametrize("used", ["${b.echo}", "${first[${b.echo}]}", "${b.echo ?? 1}"])
def test_a_node_that_runs_later_cannot_be_used(used: str) -> None:
    diagnostic = find_only(check_document(chain(echo("first"), echo("a", used), echo("b"), inputs={})), "not_before")
    assert (diagnostic.severity, diagnostic.path, diagnostic.node) == ("error", "nodes[1].params.message", "a")
    assert diagnostic.available == ("first",)
    assert diagnostic.example == {"from": "b", "to": "a"}


def test_a_node_beside_cannot_be_used() -> None:
    edges = [{"from": "start", "to": side} for side in ("left", "right")]
    found = check_document({"nodes": [echo("start"), echo("left"), echo("right", "${left.echo}")], "edges": edges})
    assert find_only(found, "not_before").available == ("start",)


def test_a_node_cannot_use_itself() -> None:
    diagnostic = find_only(check_document({"nodes": [echo("a", "${a.echo}")]}), "not_before")
    assert "itself" in diagnostic.message
    assert diagnostic.example is None


def test_nodes_many_steps_before_can_be_used() -> None:
    nodes = [echo(f"n{number}") for number in range(50)]
    assert check_document(chain(*nodes, echo("last", "${n0.echo} ${n49.echo}"))).diagnostics == []


@pytest.mark.parametrize(
    ("used", "meant"), [("stdot", "stdout"), ("exitcode", "exit_code"), ("zzz", None), ("0", None)]
)
def test_an_unknown_output_of_a_node_is_reported_with_the_known_ones(used: str, meant: str | None) -> None:
    diagnostic = find_only(check_document(chain(shell_node("run"), echo("say", f"${{run.{used}}}"))), "unknown_output")
    assert (diagnostic.severity, diagnostic.path, diagnostic.nearest) == ("error", "nodes[1].params.message", meant)
    assert diagnostic.available == ("${run.stdout}", "${run.stderr}", "${run.exit_code}")
    assert diagnostic.example == (f"${{run.{meant}}}" if meant else "${run.stdout}")


def test_a_batch_has_results_and_its_outputs_are_listed() -> None:
    document = chain(shell_node("each", "cat ${item}", batch={"items": ["a"]}), echo("say", "${each.stdout}"))
    diagnostic = find_only(check_document(document), "unknown_output")
    assert "batch" in diagnostic.message
    assert {"${each.results}", "${each.count}", "${each.errors}"} <= set(diagnostic.available)
    fine = chain(
        shell_node("each", "cat ${item}", batch={"items": ["a"]}),
        echo("say", "${each.results[0].stdout} ${each.count}"),
    )
    assert check_document(fine).diagnostics == []


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
    diagnostic = next(one for one in check_document(document).diagnostics if one.code != "unused_input")
    assert (diagnostic.severity, diagnostic.code, diagnostic.example) == ("warning", "unknown_field", meant)
    assert meant in diagnostic.available


@pytest.mark.parametrize(
    "used", ["log.commits[0].sha", "log.commits[0].author.name", "log.commits", "log", "log.error", "log[${k}]"]
)
def test_a_path_through_a_known_structure_is_valid(used: str) -> None:
    document = chain({"id": "log", "type": "git-log"}, echo("say", f"${{{used}}} ${{k}}"), inputs={"k": {}})
    assert check_document(document).diagnostics == []


def test_any_path_below_an_output_of_unknown_structure_is_valid() -> None:
    assert (
        check_document(
            chain(shell_node("a"), echo("b", "${a.stdout.some[0].thing}"), {"id": "c", "type": "choose"})
        ).diagnostics
        == []
    )


def test_outputs_of_a_nested_workflow_are_not_checked() -> None:
    nested = {"id": "w", "type": "workflow", "params": {"workflow_ir": {"nodes": [echo("x")]}}}
    assert check_document(chain(nested, echo("b", "${w.anything.at.all}"))).diagnostics == []


@pytest.mark.parametrize("used", ["${item}", "${__index__}"])
def test_the_item_outside_of_a_batch_is_reported_with_a_hint(used: str) -> None:
    assert "batch" in find_only(check_document({"nodes": [echo("a", used)]}), "undeclared_variable").hint


def test_the_item_is_not_there_in_the_items_themselves() -> None:
    document = {"nodes": [echo("a", "${item}", batch={"items": "${item}"})]}
    assert find_only(check_document(document), "undeclared_variable").path == "nodes[0].batch.items"


def test_a_malformed_template_is_reported_with_its_start() -> None:
    found = check_document(
        {"nodes": [echo("a", {"x": ["see ${HOME:-x} and ${", "$${fine}"]})], "outputs": {"o": {"source": "x ${1}"}}}
    )
    diagnostic = [one for one in found.errors if one.code == "malformed_template"]
    assert [(one.path, one.node) for one in diagnostic] == [
        ("nodes[0].params.message.x[0]", "a"),
        ("nodes[0].params.message.x[0]", "a"),
        ("outputs.o.source", None),
    ]
    assert "${HOME:-x}" in diagnostic[0].message
    assert "$${" in diagnostic[0].hint


def test_syntax_of_the_shell_is_not_malformed_in_a_command() -> None:
    assert (
        check_document({"nodes": [shell_node("a", "echo ${HOME:-x} ${#y} ${z%.*} ${arr[@]} ${1}")]}).diagnostics == []
    )


def test_a_repeated_reference_in_a_text_is_reported_once() -> None:
    found = check_document({"nodes": [echo("a", "${gone} ${gone} ${gone.x} ${gone.x}")]})
    assert list_codes(found) == ["undeclared_variable", "unknown_root"]


def test_many_malformed_templates_are_summarised() -> None:
    found = check_document({"nodes": [echo("a", "${ " * 100_000)]})
    assert 1 < len(found.errors) < 20
    assert "99,988" in found.errors[-1].message


def test_nodes_in_a_cycle_are_not_reported_twice() -> None:
    document = chain(echo("a"), echo("b", "${a.echo}"), echo("c", "${b.echo} ${a.echo}"), echo("d", "${c.echo}"))
    document["edges"].append({"from": "c", "to": "b"})
    assert list_codes(check_document(document)) == ["circle"]


def test_a_name_of_a_million_characters_is_shortened() -> None:
    long = "x" * 1_000_000
    document: Plain = {
        "inputs": {"y": {}},
        "nodes": [shell_node("run"), echo("a", f"${{{long}}} ${{run.{long}}} ${{y}}"), {"id": "g", "type": "git-log"}],
        "edges": [{"from": "run", "to": "a"}, {"from": "run", "to": "g"}],
        "outputs": {"o": {"source": f"${{{long}.x}}"}, "p": {"source": f"${{g.commits.{long}}}"}},
    }
    found = check_document(document).diagnostics
    assert {one.code for one in found} == {"undeclared_variable", "unknown_root", "unknown_output", "unknown_field"}
    for one in found:
        assert all(len(str(value)) < 1000 for value in one.to_dict().values())
