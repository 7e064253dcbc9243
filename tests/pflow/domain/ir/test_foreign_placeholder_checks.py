"""Placeholders of other languages: reported where a template was meant, and only there."""

from typing import Any

import pytest

from pflow.domain.diagnostics import CheckerDiagnostic
from tests.pflow.domain.ir.workflows import Plain, chain, check_document, echo, find_only

CODE = "foreign_placeholder"
WHO: Plain = {"who": {"type": "string"}}


def shell_node(name: str, command: str, **params: Any) -> Plain:
    return {"id": name, "type": "shell", "params": {"command": command, **params}}


def check_syntax(document: Plain) -> list[CheckerDiagnostic]:
    return [one for one in check_document(document).diagnostics if one.code == CODE]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Hello {{who}}!", "{{who}}"),
        ("Hello {{ who }}", "{{ who }}"),
        ("Hello $who", "$who"),
        ("Hello $who, how are you", "$who"),
        ("$who.txt", "$who"),
        ("$who-2", "$who"),
        ("Hello <who>!", "<who>"),
        (["deep", {"down": "Hello <who>"}], "<who>"),
    ],
)
def test_an_input_that_nothing_uses_but_a_placeholder_is_an_error_that_shows_the_template(
    text: Any, shown: str
) -> None:
    (diagnostic,) = check_syntax({"inputs": WHO, "nodes": [echo("a", text)]})
    assert (diagnostic.severity, diagnostic.node, diagnostic.example) == ("error", "a", "${who}")
    assert diagnostic.path.startswith("nodes[0].params.message")
    assert diagnostic.message == f"`{shown}` is not a template and is not replaced. Write `${{who}}`."
    assert "remove the unused input 'who'" in diagnostic.hint


@pytest.mark.parametrize("command", ["echo $who", 'echo "Hello $who"', "greet {{who}}", "cat $who.txt"])
def test_the_same_is_an_error_in_a_command(command: str) -> None:
    (diagnostic,) = check_syntax({"inputs": WHO, "nodes": [shell_node("a", command)]})
    assert (diagnostic.severity, diagnostic.example) == ("error", "${who}")


@pytest.mark.parametrize("text", ["Hello {{who}}", "Hello $who", "Hello <who>"])
def test_an_input_that_another_node_uses_is_a_warning(text: str) -> None:
    document = chain(echo("a", text), echo("b", "${who}"), inputs=WHO)
    (diagnostic,) = check_syntax(document)
    assert (diagnostic.severity, diagnostic.node, diagnostic.example) == ("warning", "a", "${who}")
    assert check_document(document).errors == []


@pytest.mark.parametrize(
    ("text", "template"),
    [
        ("{{run.stdout}}", "${run.stdout}"),
        ("$run.stdout", "${run.stdout}"),
        ("<run.stdout>", "${run.stdout}"),
        ("see {{ run.exit_code }}", "${run.exit_code}"),
    ],
)
def test_the_output_of_a_node_is_an_error(text: str, template: str) -> None:
    for last in (echo("say", text), shell_node("say", f"echo {text}")):
        (diagnostic,) = check_syntax(chain(shell_node("run", "ls"), last))
        assert (diagnostic.severity, diagnostic.node, diagnostic.example) == ("error", "say", template)


def test_the_source_of_an_output_is_checked_as_well() -> None:
    document: Plain = {"nodes": [shell_node("run", "ls")], "outputs": {"o": {"source": "It is {{run.stdout}}"}}}
    (diagnostic,) = check_syntax(document)
    assert (diagnostic.severity, diagnostic.path, diagnostic.example) == ("error", "outputs.o.source", "${run.stdout}")


@pytest.mark.parametrize("text", ["{{item}}", "$item", "<item>", "{{item.name}}"])
def test_the_item_of_a_batch_is_an_error(text: str) -> None:
    (diagnostic,) = check_syntax({"nodes": [echo("a", text, batch={"items": [1]})]})
    assert diagnostic.severity == "error"
    assert str(diagnostic.example).startswith("${item")


@pytest.mark.parametrize("text", ["Hello {{name}}", "Hello $name", "Hello <name>", "Hello <your-name>"])
def test_without_inputs_and_templates_any_placeholder_is_a_warning(text: str) -> None:
    (diagnostic,) = check_syntax({"nodes": [echo("a", text)]})
    assert diagnostic.severity == "warning"
    assert diagnostic.example in ("${name}", "${your-name}")
    assert '"inputs": {' in diagnostic.hint


@pytest.mark.parametrize(
    "command",
    [
        *(
            "echo $HOME $1 $@ $? $$ $#",
            "cd $PWD && ls $TMPDIR",
            "echo \\$who",
            "echo $$who",
            "awk '{print $1}' ${file}",
        ),
        *("who=ada; echo $who", "export who=ada && greet $who", "for who in a b; do echo $who; done"),
        *("while read -r who; do echo $who; done < ${file}", "jq --arg who x '.a == $who' ${file}", "echo ${who} $who"),
        *("awk -v who=1 '{print $who}' ${file}", "docker ps --format '{{.Names}}'", "sort < in > out", "grep '<b>' x"),
        *("cat <<EOF\n<html><p>x\nEOF", "git log --format='%an <%ae>'", "echo a<b>c", "echo x${#who}"),
    ],
)
def test_syntax_of_the_shell_is_not_reported(command: str) -> None:
    document = chain(shell_node("a", command), echo("b", "${who} ${file}"), inputs={"who": {"default": ""}, "file": {}})
    assert check_syntax(document) == []
    assert check_document(document).errors == []


def test_a_variable_of_the_environment_is_not_reported() -> None:
    document = {"inputs": WHO, "nodes": [shell_node("a", "sh -c 'echo \"$who\"'", env={"who": "${who}"})]}
    assert check_syntax(document) == []
    assert check_syntax({"inputs": WHO, "nodes": [shell_node("a", "echo $who", env={"who": "ada"})]}) == []
    assert check_syntax({"inputs": {"USER": {}}, "nodes": [shell_node("a", "echo $USER"), echo("b")]}) == []


@pytest.mark.parametrize(
    "text",
    [
        "<html><title>${title}</title><body>Dear $customer, {{ title }}</body></html>",
        "<title>Report</title><p>Text<br>more<ul><li>one</ul>",
        "Summarise <document>${title}</document> in <language>.",
        "Render {{ page.title }}, {{# each }}, {{> partial }}, {% if x %} and {{{ raw }}} with Jinja",
        '{"$ref": "#/definitions/x"} $.store.book[0] ^title$ costs $5 or $USD',
        "vector<title> a; map<int, title> b; List<title>()",
        "#!/bin/sh\ntitle=x\necho $title",
        "<?php $title = 1; echo $title;",
        "Ada <ada@example.org>, see <https://example.org/title>",
        "a <b and title> c, 1<2>3, <<title>>, << EOF",
        "\\$title and $$title and $${title}",
        "{{title", "{title}", "{{ title | upper }}", "$ title", "< title >", "%title%",
    ],
)  # fmt: skip
def test_text_for_other_languages_is_not_reported(text: str) -> None:
    if "<title>Report" not in text and "title=x" not in text and "$title = 1" not in text:
        text += " ${title}"  # its author knows how templates are written
    document = chain(echo("a", text), echo("b", "${title}"), inputs={"title": {}})
    assert check_document(document).diagnostics == []


def test_variables_of_a_query_that_the_same_node_fills_in_are_not_reported() -> None:
    query = "query($owner: String!) { repository(owner: $owner) { name } }"
    document: Plain = {
        "inputs": {"owner": {}},
        "nodes": [echo("a", {"query": query, "variables": {"owner": "${owner}"}})],
    }
    assert check_document(document).diagnostics == []


def test_placeholders_of_names_that_do_not_exist_are_fine_where_templates_are_used() -> None:
    text = "Hello {{name}}, $name and <name>"
    assert check_syntax({"inputs": WHO, "nodes": [echo("a", "${who}"), echo("b", text)]}) == []
    assert check_syntax({"inputs": WHO, "nodes": [echo("a", f"{text} ${{who}}")]}) == []


def test_code_is_not_reported() -> None:
    code = {"id": "a", "type": "python", "params": {"code": 'result = f"{{who}}" + "$who <who>"'}}
    assert check_syntax({"inputs": WHO, "nodes": [code, echo("b", "${who}")]}) == []
    assert check_syntax({"inputs": WHO, "nodes": [code]}) == []


def test_ids_of_nodes_are_reported_in_braces_only_unless_an_output_is_named() -> None:
    document = chain(shell_node("list", "ls"), echo("say", "<list> and $list, $list.txt and <list.other>"))
    assert check_syntax(document) == []
    (diagnostic,) = check_syntax(chain(shell_node("list", "ls"), echo("say", "{{list}}")))
    assert diagnostic.severity == "warning"


def test_a_batch_node_and_its_outputs_are_known() -> None:
    each = shell_node("each", "cat ${item}") | {"batch": {"items": ["a"]}}
    assert find_only(check_document(chain(each, echo("say", "$each.results"))), CODE).example == "${each.results}"
    assert check_syntax(chain(each, echo("say", "$each.stdout"))) == []


def test_many_placeholders_of_one_text_are_reported_in_short() -> None:
    text = " ".join(f"{{{{name{number}}}}} $name{number} <name{number}>" for number in range(100_000))
    assert len(check_syntax({"nodes": [echo("a", text)]})) == 12
    assert len(check_syntax({"nodes": [echo(f"n{number}", "$x " * 50) for number in range(500)]})) == 500
    hostile = ["{{ " * 100_000, "{{" + " " * 300_000, "$" * 300_000, "<a" * 100_000, "read " * 100_000 + "$who"]
    for one in hostile:
        check_document({"inputs": WHO, "nodes": [echo("a", one), shell_node("b", one)]})
