"""Know programs that run other programs: which arguments are a program, a command, or only data.

A role is the kind of an operand: `code` is program text, `file` a file with a program, `command` the first word of
another command, `data` anything else. The last role is that of all further operands.
"""

import re
from dataclasses import dataclass
from typing import Final

_VERSION: Final = re.compile(r"(?<=[a-z])-?\d[\d.]*$")


@dataclass(frozen=True)
class Program:
    """Options are written without their dashes, but for `-word`, which has one dash, and `--word`."""

    operands: str = "data"
    code: str = ""
    """Options whose argument is the program; operands are data behind them."""
    runs: str = ""
    """Options whose argument is run, or selects the program, beside the operands."""
    takes: str = ""
    """Other options with an argument."""
    takes_two: str = ""
    attached: str = ""
    """Options whose argument, if any, is in the same word."""
    bundled: str = ""
    """The same, where further options may follow in the word, or the argument is a program."""
    scripts: str = ""
    """Options whose argument is run, and that have none before another option or in one word with others."""
    flag: str = ""
    """Options without an argument that make the first operand the program."""
    reads: bool = False
    """Whether the program is read from standard input if no argument gives it."""
    is_shell: bool = False
    """Whether the program is in the language of the shell."""
    assigns: bool = False
    """Whether operands such as `NAME=value` set variables."""
    permutes: bool = False
    """Whether options are read behind operands, too."""
    ends: str = ""
    """Options behind which everything is data."""
    guarded: str = ""
    """Characters with which a value must not begin, because the program would take it for an option that runs code."""
    subcommands: str = ""
    """Operands that may stand before the program."""
    hint: str = ""


_SH: Final = "Pass the value as an argument of a constant program: sh -c 'echo \"$1\"' _ ${v}"
_PYTHON: Final = (
    "Pass the value as an argument: python3 -c 'import sys; print(sys.argv[1])' ${v}, or use a `python` node."
)
_ARGUMENT: Final = "Keep the program constant and pass the value as an argument behind it, or use a `python` node."
_AWK: Final = "Pass the value as a variable: x=${v} awk '{ print ENVIRON[\"x\"], $0 }' FILE"
_SED: Final = "Use awk with a variable, x=${v} awk '{ print ENVIRON[\"x\"] }' FILE, or a `python` node."
_JQ: Final = "Pass the value as a variable: jq --arg v ${v} '.[$v]' FILE"
_SQL: Final = "Use a `python` node with `inputs` and bound parameters: connection.execute('… = ?', [v])"
_COMMAND: Final = "Write the program into the command itself, and pass only its arguments as templates."
_FILES: Final = "Write the name of the program's file into the command, or use a `python` node with `inputs`."

_SHELL: Final = Program(
    "file data", runs="--rcfile --init-file", takes="o O", flag="c", reads=True, is_shell=True, hint=_SH
)
_AWKS: Final = Program(
    "code data", "f E e i l --file --exec --source --include --load", "", "F v --field-separator --assign",
    guarded="-", hint=_AWK,
)  # fmt: skip
_CURL: Final = (
    "A b c C d D e E F H m o Q r T u U w x X y Y z --data --data-raw --data-binary --data-urlencode --header --output "
    "--url --user --request --form --max-time --cookie --user-agent --upload-file --write-out --proxy --retry"
)
_TAR: Final = "--use-compress-program --checkpoint-action --to-command --info-script --new-volume-script --rsh-command"
_WRAPPER: Final = Program("command", hint=_COMMAND)
_WRAPPER_AFTER_ONE: Final = Program(
    "data command",
    takes="k s n p --kill-after --signal --userspec --groups --with --with-editable --python --extra --group "
    "--directory --project --env-file --index",
    permutes=True,
    hint=_COMMAND,
)
_SETPRIV: Final = (
    "--reuid --regid --ruid --euid --rgid --egid --groups --inh-caps --ambient-caps --bounding-set --securebits "
    "--selinux-label --apparmor-profile --pdeathsig"
)
_NODE: Final = "--require --import --loader --experimental-loader --env-file --openssl-config --snapshot-blob"
_EDITOR: Final = Program(runs="c S u U --cmd", scripts="s", reads=True, permutes=True, guarded="-+", hint=_ARGUMENT)
_SCRIPTED: Final = Program("file data", "e c --eval", reads=True, guarded="-", hint=_ARGUMENT)

_TABLE: Final[dict[str, Program]] = {
    "sh bash dash ash ksh mksh zsh fish rbash yash": _SHELL,
    "python pypy ipython": Program("file data", "c", "m W X", "Q", reads=True, ends="c m", hint=_PYTHON),
    "perl": Program("file data", "e E", "M m I", bundled="i 0 l x D C d F", reads=True, guarded="-", hint=_ARGUMENT),
    "ruby": Program("file data", "e", "r I", "C E", bundled="i 0 F K W x", reads=True, guarded="-", hint=_ARGUMENT),
    "node nodejs bun tsx ts-node": Program(
        "file data", "e p -pe --eval --print", f"r {_NODE}", reads=True, guarded="-",
        hint=_ARGUMENT,
    ),
    "deno": Program("data file data", reads=True, guarded="-", permutes=True, hint=_ARGUMENT),
    "php": Program("file data", "r B R E --run", "f d c z --file", reads=True, guarded="-", hint=_ARGUMENT),
    "lua luajit": Program("file data", "e", "l", reads=True, guarded="-", hint=_ARGUMENT),
    "R Rscript": Program("file data", "e f --file", reads=True, guarded="-", hint=_ARGUMENT),
    "julia": Program("file data", "e E p --eval --print", "L --load", reads=True, guarded="-", hint=_ARGUMENT),
    "osascript": Program("file data", "e", takes="l s", reads=True, guarded="-", hint=_ARGUMENT),
    "tclsh wish expect guile racket groovy scala elixir ghc ocaml swift sage gnuplot": _SCRIPTED,
    "octave sbcl maxima": Program("file data", "--eval --load --batch-string", reads=True, guarded="-", hint=_ARGUMENT),
    "matlab erl": Program("file data", "-r -batch -eval -run -s", reads=True, guarded="-", hint=_ARGUMENT),
    "pwsh powershell": Program(
        "file data", "-c -Command -command -EncodedCommand -File -f", reads=True, hint=_ARGUMENT
    ),
    "emacs": Program("data", runs="l f --eval --load --funcall --execute --script", permutes=True, guarded="-+"),
    "java": Program(
        "file data", "-jar -cp -classpath --class-path --module-path", attached="D", bundled="X", hint=_FILES
    ),
    "awk gawk mawk nawk original-awk": _AWKS,
    "sed gsed": Program(
        "code data", "e f --expression --file", "", "l --line-length", attached="i", permutes=True, guarded="-",
        hint=_SED,
    ),
    "jq gojq jaq yq": Program(
        "code data", "f --from-file", "L", "--indent", "--arg --argjson --slurpfile --rawfile", permutes=True,
        guarded="-", subcommands="e eval ea eval-all", hint=_JQ,
    ),
    "bc": Program("file", reads=True, permutes=True, hint=_ARGUMENT),
    "m4": Program("file", runs="D I --define --include", reads=True, permutes=True, hint=_ARGUMENT),
    "dc": Program("file", "e f --expression --file", reads=True, permutes=True, hint=_ARGUMENT),
    "sqlite3 duckdb": Program(
        "data code", runs="-cmd -c -s -init", takes="-separator -newline -nullvalue", reads=True, permutes=True,
        guarded="-", hint=_SQL,
    ),
    "psql": Program(
        "data", "c f --command --file", "", "d h p U v o F R P T L --dbname --host --port --username --set --output",
        reads=True, permutes=True, guarded="-", hint=_SQL,
    ),
    "mysql mariadb mongosh mongo clickhouse-client": Program(
        "data", "e q --execute --query --eval", "--pager --init-command", "h u p P D --host --user --port --database",
        reads=True, permutes=True, guarded="-", hint=_SQL,
    ),
    "eval": Program("code", is_shell=True, hint=_SH),
    "trap": Program("code data", is_shell=True, hint="Use a variable: v=${v}; trap 'rm -f \"$v\"' EXIT"),
    ". source": Program("file data", hint=_FILES),
    "ssh slogin rsh mosh": Program(
        "data code", reads=True, is_shell=True, runs="o F S", takes="B b c D E e I i J L l m O p Q R W w", guarded="-",
        hint="Send the value to a constant remote program: ssh HOST 'cat > file' with the parameter `stdin`.",
    ),
    "scp sftp": Program(runs="o F S D", takes="i P c l J b", permutes=True, guarded="-"),
    "rsync": Program(runs="e --rsh --rsync-path", takes="f --filter --exclude --include", permutes=True, guarded="-"),
    "tar gtar bsdtar": Program(
        runs=f"I F {_TAR}", takes="f C T X b g K N V --file --directory --exclude --files-from --transform",
        permutes=True, guarded="-",
    ),
    "zip": Program(runs="-TT --unzip-command", permutes=True, guarded="-"),
    "sort": Program(runs="--compress-program", takes="k t o S T --key --output", permutes=True, guarded="-"),
    "man less more": Program(runs="P H --pager --html", permutes=True, guarded="-+"),
    "vim vi view nvim ex gvim": _EDITOR,
    "ed red": Program("file", takes="p --prompt", reads=True, permutes=True, hint=_FILES),  # `ed '!date'` runs date
    "wget": Program(runs="e --use-askpass --config --execute", takes="O o P U i", permutes=True, guarded="-"),
    "curl": Program(runs="K --config", takes=_CURL, permutes=True, guarded="-"),
    "gcc g++ cc c++ clang": Program(runs="B -wrapper -specs", takes="o I L D x", permutes=True, guarded="-@"),
    "tex latex pdflatex xelatex lualatex": Program(permutes=True, guarded="-\\&"),
    "at batch": Program("data", "f", reads=True, hint=_FILES),
    "crontab": Program("file", takes="u", reads=True, hint=_FILES),
    "watch": Program("code", takes="n --interval", is_shell=True, hint=_SH),
    "tmux screen": Program("data code", takes="L S f", guarded="-", hint=_SH),
    "su": Program("data file data", "c --command --session-command", "s --shell", "g G w u", permutes=True,
        is_shell=True, guarded="-", hint=_SH),
    "runuser": Program(
        "command", "c --command --session-command", "s --shell", "g G w u --user --group", hint=_COMMAND
    ),
    "sg": Program("data code", "c", is_shell=True, hint=_SH),
    "script vagrant": Program("data", "c --command", permutes=True, is_shell=True, guarded="-", hint=_SH),
    "flock": Program("data command", "c --command", takes="w E --timeout", permutes=True, is_shell=True, hint=_SH),
    "nix-shell": Program("data", runs="E p --run --command --expr", permutes=True, guarded="-", hint=_SH),
    "npx pnpx bunx": Program("command", "c --call", takes="p --package", is_shell=True, hint=_SH),
    "xterm": Program("data", runs="e", guarded="-", hint=_SH),
    "gdb lldb": Program(runs="x o -ex -x -iex --eval-command --command --one-line", permutes=True, guarded="-"),
    "env": Program("command", runs="S --split-string", takes="u C --unset --chdir", assigns=True, hint=_COMMAND),
    "sudo doas": Program("command", takes="u g p C D h r t T U R --user --group --prompt --chdir --host",
        assigns=True, hint=_COMMAND),
    "nice nohup setsid ionice unshare systemd-run entr prlimit": Program(
        "command", takes="n c p u E G R S --adjustment --unit --property --uid --gid --class --pid", hint=_COMMAND
    ),
    "stdbuf": Program("command", takes="i o e --input --output --error", hint=_COMMAND),
    "time": Program("command", takes="f o --format --output", hint=_COMMAND),
    "strace ltrace": Program("command", runs="o --output", takes="a b e E I O p P s S u U X --trace", hint=_COMMAND),
    "nsenter": Program("command", takes="t S G --target --setuid --setgid", hint=_COMMAND),
    "setpriv": Program("command", takes=_SETPRIV, hint=_COMMAND),
    "pkexec run0": Program("command", takes="u --user --unit --property", hint=_COMMAND),
    "srun mpirun mpiexec": Program("command", takes="n N p t J c w --np -np --ntasks", hint=_COMMAND),
    "sbatch": Program("file data", runs="--wrap", takes="J p t o e n N c", reads=True, hint=_FILES),
    "hyperfine": Program(
        "code", runs="p s c S --prepare --setup --cleanup --shell", takes="w r m M", permutes=True, hint=_SH
    ),
    "split": Program(
        runs="--filter", takes="a b C l n t --additional-suffix --bytes --lines", permutes=True, guarded="-"
    ),
    "rg": Program(runs="--pre", permutes=True, takes="e f g t m A B C --regexp --glob --type", guarded="-"),
    "socat": Program("code", takes="l t T b", hint=_COMMAND),
    "nc ncat netcat": Program(
        runs="e c --exec --sh-exec --lua-exec", permutes=True, takes="p s w q i X x", guarded="-"
    ),
    "cmake": Program(runs="P C --preset", takes="S B G A T D U", permutes=True, guarded="-"),
    "ninja": Program(runs="f", takes="C j k l d t w", permutes=True, guarded="-"),
    "gtimeout gosu su-exec faketime perf bundle": _WRAPPER_AFTER_ONE,
    "timeout chrt taskset chroot setarch uv poetry pipenv pdm hatch": _WRAPPER_AFTER_ONE,
    "conda mamba micromamba": Program("data command", takes="n p --name --prefix --cwd", permutes=True, hint=_COMMAND),
    "exec": Program("command", takes="a", hint=_COMMAND),
    "command builtin busybox toybox tini dumb-init rlwrap fakeroot caffeinate xvfb-run unbuffer valgrind": _WRAPPER,
    "hash": Program(runs="p", hint=_COMMAND),
    "enable": Program(runs="f", hint=_COMMAND),
    "compgen complete bind": Program("code", hint=_COMMAND),
}  # fmt: skip
_BY_NAME: Final = {name: program for names, program in _TABLE.items() for name in names.split()}

MODULES: Final = ("timeit", "pdb", "trace", "cProfile", "profile", "runpy", "code")
"""Modules of Python that run their operands."""
PLAIN: Final = ("echo", "grep", "egrep", "fgrep", "ls", "cat", "which", "type", "whereis", "apt", "brew", "pip")
"""Programs to which the name of an interpreter is only a word."""
_VARIABLES: Final = re.compile(
    r"PATH|IFS|ENV|BASH_ENV|BASHOPTS|SHELLOPTS|BASH_FUNC_.*|PS[0-4]|PROMPT_COMMAND|SHELL|FPATH|ZDOTDIR|HOME|CDPATH|"
    r"XDG_CONFIG_HOME|LD_.*|DYLD_.*|GCONV_PATH|PYTHON(?:PATH|HOME|STARTUP|INSPECT|WARNINGS|BREAKPOINT|USERBASE|PYCACHEPREFIX)|PERL5?(?:OPT|LIB|DB)|"
    r"RUBY(?:OPT|LIB)|NODE_(?:OPTIONS|PATH)|LUA_.*|PHPRC|PHP_INI_SCAN_DIR|R_PROFILE.*|R_LIBS.*|JULIA_.*|CLASSPATH|"
    r"_?JAVA_(?:TOOL_)?OPTIONS|JDK_JAVA_OPTIONS|AWK(?:LIB)?PATH|GIT_(?!(?:AUTHOR|COMMITTER)_).*|(?:MAN|SYSTEMD_)?PAGER|"
    r"EDITOR|VISUAL|BROWSER|LESS(?:OPEN|CLOSE)?|MAKEFLAGS|MAKEFILES|GNUMAKEFLAGS|MFLAGS|(?:RSYNC|CVS)_RSH|(?:SSH|SUDO)_ASKPASS|"
    r"TAR_OPTIONS|VIMINIT|EXINIT|OPENSSL_CONF|DOCKER_HOST|"
    r"RIPGREP_CONFIG_PATH|(?i:npm_config_.*)|GEM_(?:HOME|PATH)|BUNDLE_.*|CARGO_.*|RUSTC.*|PSQL.*|CURL_HOME|WGETRC|INPUTRC|"
    r"LESSKEY.*|XDG_(?:CONFIG|DATA)_DIRS|EMACSLOADPATH|VIM|ZIPOPT|SVN_SSH|HGRCPATH|TCLLIBPATH|GUILE_.*|RSYNC_CONNECT_PROG"
)


def look_up_program(name: str) -> Program | None:
    """Return the entry for a program's name; a version at its end is ignored."""
    return _BY_NAME.get(name) or _BY_NAME.get(_VERSION.sub("", name)) or _BY_NAME.get(name.lower())


def can_variable_select_program(variable: str) -> bool:
    """Return True for variables such as PATH, from which shells and programs take programs."""
    return _VARIABLES.fullmatch(variable) is not None
