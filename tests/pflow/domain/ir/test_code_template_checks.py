"""Templates in commands: values that would be code, and positions where nothing is replaced."""

import pytest

from tests.pflow.domain.ir.workflows import Plain, check_document, find_only


def check_command(command: str) -> list[str]:
    """Return the codes of all errors of a command."""
    document: Plain = {
        "nodes": [{"id": "a", "type": "shell", "params": {"command": command}}],
        "inputs": {"v": {}, "w": {}},
    }
    return list(dict.fromkeys(one.code for one in check_document(document).errors))


@pytest.mark.parametrize(
    "command",
    [
        "python3 -c 'print(${v})'",
        'sh -c "echo ${v}"',
        "bash -c ${v}",
        "cd x && bash -c 'ls '${v}",
        "eval echo ${v}",
        "eval 'a;b' \"c|d\" ${v}",
        "node -e \"let a = '${w}' + ${v}\"",
        "perl -e 'it\\'${v}",
        "python3 -c 'x' ${w}; python3 -c ${v}",
        "sh -c 'unclosed ${v}",
        "sh -c $(true) ${v}",
        'sh -c "say \\"hi\\" ${v}"',
        "sh -c \"${v ?? 'a b'}${v}\"",
    ],
)
def test_a_template_in_the_code_of_an_interpreter_is_an_error(command: str) -> None:
    assert check_command(command) == ["template_to_interpreter"]


@pytest.mark.parametrize(
    "command",
    [
        "python3 -c 'import sys; print(sys.argv[1])' ${v}",
        "sh -c 'echo \"$1\"' sh ${v} ${w}",
        "echo ${v} | python3 -c 'print(1)'",
        "eval ls; echo ${v}",
        'eval ls && echo "${v}"',
        "sh -c ls\necho ${v}",
        'sh -c "$(echo x)" ${v}',
        "echo ${v} sh -c",
        'python3 -c "import sys" <${v}',
        "python3 -c 'x' ${v ?? \"a b\"}",
    ],
)
def test_a_template_beside_the_code_of_an_interpreter_is_fine(command: str) -> None:
    assert check_command(command) == []


@pytest.mark.parametrize("word", ["'EOF'", '"EOF"', "\\EOF"])
def test_a_template_in_a_here_document_with_a_quoted_delimiter_is_an_error(word: str) -> None:
    command = f"cat <<{word} >x ${{w}}\nhello ${{v}}\nEOF\necho ${{v}}"
    document: Plain = {
        "nodes": [{"id": "a", "type": "shell", "params": {"command": command}}],
        "inputs": {"v": {}, "w": {}},
    }
    diagnostic = find_only(check_document(document), "template_in_document")
    assert (diagnostic.severity, diagnostic.path, diagnostic.node) == ("error", "nodes[0].params.command", "a")
    assert "${v}" in diagnostic.message
    assert "stdin" in diagnostic.hint


@pytest.mark.parametrize(
    "command",
    [
        "cat <<EOF\n${v}\nEOF",
        "cat <<'EOF'\nx\nEOF\necho ${v}",
        "cat <<<'EOF' ${v}",
        "cat <<'EOF'\n$${v}\nEOF\n",
        "echo $((1<<${v}))",
    ],
)
def test_a_template_elsewhere_in_a_command_with_here_documents_is_fine(command: str) -> None:
    assert check_command(command) == []


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("eval ".ljust(20) * 10_000 + "${v}", ["template_to_interpreter"]),
        ("sh -c 'x' ".ljust(40) * 5_000 + "${v}", []),
        ("cat <<'A' ".ljust(40) * 5_000 + "\n${v}", ["template_in_document"]),
        ("'<<' ".ljust(20) * 10_000 + "${v}", []),
    ],
    ids=range(4),
)
def test_a_command_of_200_000_characters_is_checked(command: str, expected: list[str]) -> None:
    assert check_command(command) == expected
