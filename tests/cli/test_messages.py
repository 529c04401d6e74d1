"""Help, and the one line that bad input gets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from factcheck_local.cli import COMMANDS, cli
from factcheck_local.cli.models import command as models_command
from factcheck_local.indexer.loaders import LOADERS
from factcheck_local.models.cards import find_card
from factcheck_local.models.registry import DEFAULT_LLM

from .helpers import SMALL, factcheck, refused

ROOT = Path(__file__).resolve().parents[2]
CLI = ROOT / "cli.py"

CARD = """
id = "{name}"
title = "Broken"
role = "llm"
licence = "none"
backend = "llama_cpp"
location = "{folder}"
options = {{ context_length = 512, chat_format = "chatml" }}

[[files]]
path = "model.gguf"
size = {size}
sha256 = "{sha256}"
"""


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory, with no store above it."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


# ----------------------------------------------------------------------- help

SHOWN = [*COMMANDS, *(f"models {n}" for n, c in models_command.commands.items() if not c.hidden)]


@pytest.mark.parametrize("name", SHOWN)
def test_every_command_has_an_example(name: str) -> None:
    done = factcheck(*name.split(), "--help")
    assert done.code == 0
    assert done.err == ""
    if name != "models":
        lines = [line.strip() for line in done.out.splitlines()]
        # On a line of its own, as it is typed.
        assert lines[lines.index("Example:") + 1].startswith(f"factcheck {name}")
    assert "\\b" not in done.out


def test_help_lists_the_commands() -> None:
    done = factcheck("--help")
    assert done.code == 0
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert all(f"{name} {said}" in lines for name, said in COMMANDS.items())
    assert "\n  factcheck index ./docs\n  factcheck verify answer.md\n" in done.out
    bare = factcheck()
    assert (bare.code, bare.out) == (2, "")
    assert bare.err == done.out
    assert factcheck("--version").out.startswith("factcheck, version ")


def test_help_loads_no_model_library() -> None:
    code = (
        "import sys; sys.argv = ['factcheck', '--help']\n"
        "from factcheck_local.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print(sorted({'torch', 'llama_cpp', 'chromadb', 'transformers'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("[]\n")


# --------------------------------------------------------------------- usage


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("search x -k 0", "Invalid value for '-k': 0 is not in the range x>=1."),
        ("verify a.md -k 0", "Invalid value for '-k': 0 is not in the range x>=1."),
        ("verify a.md --fail-under 1.5", "Invalid value for '--fail-under': 1.5 is not in"),
        (
            "verify a.md --assessor fr9",
            "no option --assessor, it is a setting: --set assessor=VALUE",
        ),
        (
            "verify a.md --no-quantities",
            "no option --no-quantities, it is a setting: --set quantities=false",
        ),
        ("verify", "Missing argument 'ANSWER...'. (try: factcheck verify --help)"),
        (
            "verify a.md --only wrong",
            "Invalid value for '--only': expected supported, contradicted",
        ),
        ("verify a.md --only contradicted --format json", "--only is for text and markdown, not"),
        ("report a.json --only not-found --format sarif", "--only is for text and markdown, not"),
        ("verify a.md --fail-on supported", "Invalid value for '--fail-on': expected contradicted"),
        ("verify a.md --fail-under nan", "Invalid value for '--fail-under': expected a number"),
        ("replay a.json --tolerance nan", "Invalid value for '--tolerance': expected a number"),
        ("calibrate a.jsonl --risk nan", "Invalid value for '--risk': expected a number, got nan"),
        ("index docs --max-file-size nan", "Invalid value for '--max-file-size': expected a numb"),
        ("index docs --max-file-time inf", "Invalid value for '--max-file-time': inf is not in"),
        ("serve --keep-days nan", "Invalid value for '--keep-days': expected a number, got nan"),
        ("bench factor --seed -1", "Invalid value for '--seed': -1 is not in the range x>=0."),
        (
            "calibrate --risk 0.05 --reset --assessor fr3",
            "--reset forgets the thresholds of every assessor",
        ),
        ("infer g.json --method magic", "Invalid value for '--method'"),
        ("frobnicate", "No such command 'frobnicate'. (try: factcheck --help)"),
        ("--frobnicate", "No such option '--frobnicate'"),
        ("models add x nowhere.gguf --role llm", "Invalid value for '[PATH]': Path 'nowhere.gguf'"),
    ],
)
def test_usage(arguments: str, message: str) -> None:
    assert refused(*arguments.split()).startswith(message)


def test_an_argument_that_is_not_utf8(nowhere: Path) -> None:
    (nowhere / "a.md").write_text("Hello.")
    assert "not valid UTF-8" in refused("search", os.fsdecode(b"caf\xe9"))
    assert "not valid UTF-8" in refused("atoms", "a.md", "--question", os.fsdecode(b"caf\xe9"))


def test_a_message_cannot_steer_the_terminal() -> None:
    assert (
        refused("verify", "\x1b[31m\n.md") == " [31m .md: cannot be read: No such file or directory"
    )


# --------------------------------------------------------------------- store


@pytest.mark.parametrize("command", ["search x", "status", "verify a.md"])
def test_no_store(nowhere: Path, command: str) -> None:
    (nowhere / "a.md").write_text("Hello.")
    line = refused(*command.split())
    assert line.startswith(f"no store (.factcheck) in {nowhere} or above it")
    assert line.endswith(" (try: factcheck index PATH...)")
    assert refused(*command.split(), "--store", "elsewhere") == (
        "no store at elsewhere (try: factcheck index PATH...)"
    )
    assert not (nowhere / ".factcheck").exists(), "looking for a store makes none"


def test_an_empty_query() -> None:
    assert refused("search", "  ") == "the query is empty"


# -------------------------------------------------------------------- answers


@pytest.mark.parametrize("command", ["verify", "atoms", "relate", "infer", "report"])
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "cannot be read: No such file or directory"),
        (b" \n", "the answer is empty"),
        (b"\x89PNG\r\n\x1a\n\0", "not valid UTF-8: byte 0x89 at offset 0"),
        (b"PK\3\4\0", "looks binary: a NUL byte at offset 4"),
        (b"caf\xe9", "not valid UTF-8: byte 0xe9 at offset 3"),
    ],
)
def test_unusable_input(nowhere: Path, command: str, data: bytes | None, message: str) -> None:
    if data is not None:
        (nowhere / "in.txt").write_bytes(data)
        assert refused(command, "-", stdin=data) == f"standard input: {message}"
    assert refused(command, "in.txt") == f"in.txt: {message}"
    assert refused(command, nowhere) == f"{nowhere}: cannot be read: Is a directory"


def test_more_than_one_answer(nowhere: Path) -> None:
    (nowhere / "two.jsonl").write_text('{"output": "a"}\n{"output": "b"}\n')
    for form in ("html", "fact-graph"):
        line = refused("verify", "two.jsonl", "--format", form)
        assert line.startswith(f"several answers as {form} need --output FOLDER")
    (nowhere / "file").write_text("")
    line = refused("verify", "two.jsonl", "--output", "file")
    assert line == "file: is a file; several answers go into a folder"
    line = refused("verify", "two.jsonl", "--output", "file/out")
    assert line == "file/out: cannot be made: Not a directory"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('{"premise": "a", "hypothesis": "b"}\n{"premise": "a"', "pairs, line 2: not JSON: "),
        ('\n{"premise": "a"}', "pairs, line 2: expected an object with texts 'premise' and 'hyp"),
        ('{"premise": "a", "hypothesis": " "}', "pairs, line 1: expected an object with texts"),
        ('{"premise": "a", "hypothesis": 1}', "pairs, line 1: expected an object with texts"),
        ("[]", "pairs, line 1: expected an object with texts"),
        ('{"premise": "\\ud800", "hypothesis": "b"}', "pairs, line 1: \\ud800 is half a char"),
    ],
)
def test_bad_pairs(nowhere: Path, lines: str, message: str) -> None:
    (nowhere / "pairs").write_text(lines)
    assert refused("relate", "pairs", "--llm", SMALL).startswith(message)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ("{\n", "g.json, line 2: not JSON: "),
        ("[]", "g.json: "),
        ('{"nodes": [], "edges": 1}', "g.json: fact graph: expected a list 'edges', got 1"),
        (
            '{"nodes": [{"id": "a", "type": "atom", "probability": 2}], "edges": []}',
            "g.json: node 0: expected a probability in [0, 1], got 2",
        ),
        (
            '{"nodes": [{"id": "a", "type": "atom", "probability": NaN}], "edges": []}',
            "g.json: node 0: expected a probability in [0, 1], got nan",
        ),
        (
            json.dumps(
                {
                    "nodes": [{"id": "a", "type": "atom", "probability": 0.5}],
                    "edges": [
                        {"from": "a", "to": "b", "relation": "entailment", "probability": 0.5}
                    ],
                }
            ),
            "g.json: edge 0: unknown node 'b'",
        ),
    ],
)
def test_bad_graph(nowhere: Path, graph: str, message: str) -> None:
    (nowhere / "g.json").write_text(graph)
    assert refused("infer", "g.json").startswith(message)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("{}", "not an assessment of schema factcheck.assessment/1"),
        ("[1]", "not an assessment of schema"),
        ('{"schema": "factcheck.assessment/2"}', "not an assessment of schema"),
        ('{"schema": "factcheck.assessment/1"}', "not a complete assessment: KeyError("),
        ('{"schema": "factcheck.assessment/1", "atoms": 7}', "not a complete assessment: "),
    ],
)
@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_bad_assessment(nowhere: Path, value: str, message: str, form: str) -> None:
    (nowhere / "r.json").write_text(value)
    assert refused("report", "r.json", "--format", form).startswith(f"r.json: {message}")


# --------------------------------------------------------------------- models


def test_unknown_model(nowhere: Path) -> None:
    (nowhere / "pairs").write_text('{"premise": "a", "hypothesis": "b"}')
    (nowhere / "docs").mkdir()
    hint = "(try: factcheck models list)"
    assert refused("relate", "pairs", "--relation", "gpt").startswith("unknown model 'gpt': known ")
    assert refused("relate", "pairs", "--llm", "gpt").endswith(hint)
    assert refused("index", "docs", "--embedder", "gpt").endswith(hint)
    assert refused("models", "pull", "gpt").endswith(hint)
    assert refused("models", "check", "gpt").endswith(hint)
    assert refused("index", "docs", "--embedder", SMALL).startswith(f"model {SMALL} is of role llm")
    assert not (nowhere / ".factcheck").exists()


def test_model_that_is_not_pulled(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FACTCHECK_HOME", str(nowhere / "home"))
    (nowhere / "pairs").write_text('{"premise": "a", "hypothesis": "b"}')
    line = refused("relate", "pairs")
    assert line.startswith(f"model {DEFAULT_LLM} is not here: ")
    assert line.endswith(f"(try: factcheck models pull {DEFAULT_LLM})")


@pytest.mark.parametrize(
    ("honest", "message"),
    [(False, "model.gguf: sha256 is "), (True, "model.gguf: llama.cpp cannot load this file")],
)
def test_damaged_model(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch, honest: bool, message: str
) -> None:
    """A wrong hash; and a truncated GGUF whose card gives just that hash."""
    import hashlib

    found = find_card(SMALL)
    with (found.folder / "model.gguf").open("rb") as file:
        data = file.read(3_000_000)
    (nowhere / "model.gguf").write_bytes(data)
    sha256 = hashlib.sha256(data).hexdigest() if honest else found.sha256
    home = nowhere / "home"
    (home / "cards").mkdir(parents=True)
    (home / "cards/broken.toml").write_text(
        CARD.format(name="broken", folder=nowhere, size=len(data), sha256=sha256)
    )
    monkeypatch.setenv("FACTCHECK_HOME", str(home))
    (nowhere / "pairs").write_text('{"premise": "a", "hypothesis": "b"}')
    assert message in refused("relate", "pairs", "--llm", "broken")
    (nowhere / "a.md").write_text("Hello there.")
    assert message in refused("atoms", "a.md", "--llm", "broken")

    checked = factcheck("-q", "models", "check")
    assert checked.code == (0 if honest else 2)
    # The encoder that comes with the package is always there.
    assert checked.out == "mpnet-l6-nli: ok\n" + ("broken: ok\n" if honest else "")
    assert checked.err.startswith(
        "" if honest else f"factcheck: broken: {nowhere / 'model.gguf'}: sha256 is"
    )
    formerly = factcheck("models", "verify")
    said = "factcheck models check is the name of this command now\n"
    assert formerly == (checked.code, checked.out, said + checked.err)
    assert "verify " not in factcheck("models", "--help").out


def test_malformed_card(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (nowhere / "home/cards").mkdir(parents=True)
    (nowhere / "home/cards/x.toml").write_text("id = ")
    monkeypatch.setenv("FACTCHECK_HOME", str(nowhere / "home"))
    assert refused("models", "list").startswith(f"{nowhere}/home/cards/x.toml: not a model card: ")


#: Bytes that are no real model have no template of their own.
CHAT = ("--role", "llm", "--context-length", 512, "--chat-format", "chatml")


def test_models_list_and_add(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FACTCHECK_HOME", str(nowhere / "home"))
    (nowhere / "m.gguf").write_bytes(b"GGUF")
    added = factcheck("models", "add", "own", "m.gguf", *CHAT)
    assert added.code == 0
    assert added.out.startswith("own: 1 file(s), sha256 ")
    (nowhere / "n.gguf").write_bytes(b"NOPE")
    assert "expected a GGUF file" in refused("models", "add", "no", "n.gguf", "--role", "llm")
    rows = {row["id"]: row for row in json.loads(factcheck("models", "list", "--json").out)}
    assert rows["own"]["installed"] is True
    assert rows["own"]["folder"] == str(nowhere)
    assert rows[SMALL]["installed"] is False
    lines = factcheck("models", "list").out.splitlines()
    assert len(lines) == len(rows)
    assert any(line.startswith("own ") and " here " in line for line in lines)
    assert any(line.startswith(SMALL) and " not pulled " in line for line in lines)


# --------------------------------------------------------------- the way out


def graph(folder: Path) -> Path:
    nodes = [{"id": f"a{i}", "type": "atom", "probability": 0.5} for i in range(3)]
    path = folder / "g.json"
    path.write_text(json.dumps({"nodes": nodes, "edges": []}))
    return path


def test_a_reader_that_goes_away_is_no_error(nowhere: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, str(CLI), "infer", str(graph(nowhere))],
        stdout=write,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_reader_of_messages_that_goes_away_costs_no_output(nowhere: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, str(CLI), "infer", str(graph(nowhere)), "--write-uai", "g.uai"],
        stdout=subprocess.PIPE,
        stderr=write,
        check=False,
    )
    os.close(write)
    assert done.returncode == 0
    assert set(json.loads(done.stdout)["marginals"]) == {"a0", "a1", "a2"}


@pytest.mark.parametrize(
    ("closed", "command"), [(0, "infer -"), (1, "infer -"), (2, "atoms a.md --llm gpt")]
)
def test_a_stream_that_is_closed_is_an_empty_one(nowhere: Path, closed: int, command: str) -> None:
    """What is read from there is empty, and what is written there is lost: no traceback."""
    (nowhere / "a.md").write_text("Hello.")
    done = subprocess.run(
        [sys.executable, "-c", "from factcheck_local.cli import main; main()", *command.split()],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: os.close(closed),
        check=False,
    )
    assert done.returncode == 2
    empty = b"factcheck: standard input: the answer is empty\n"
    assert done.stderr == (b"" if closed == 2 else empty)


def test_an_error_that_nobody_foresaw_is_no_verdict() -> None:
    code = "from factcheck_local import cli; cli.main = lambda: 1 / 0; cli.script()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2, "1 would say that an answer is below --fail-under"
    assert done.stderr.endswith(b"ZeroDivisionError: division by zero\n")


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="needs /dev/fd")
def test_a_pipe_that_the_shell_hands_over_is_written_to(nowhere: Path) -> None:
    """As of ``--write-uai >(gzip > g.gz)``: its name is a link to what is in no folder."""
    read, write = os.pipe()
    done = factcheck("infer", graph(nowhere), "--write-uai", f"/dev/fd/{write}")
    os.close(write)
    assert done.code == 0, done
    with os.fdopen(read) as pipe:
        assert pipe.read().startswith("MARKOV\n")


@pytest.mark.parametrize("option", ["--write-uai", "--write-bif", "--output"])
def test_nothing_is_written_over_what_is_read(nowhere: Path, option: str) -> None:
    path = graph(nowhere)
    if option == "--output":
        path.write_text('{"schema": "factcheck.assessment/1"}')
    before = path.read_bytes()
    command = "report" if option == "--output" else "infer"
    (nowhere / "link").symlink_to(path)
    assert refused(command, "g.json", option, "link") == (
        "link: is read, and would be overwritten (try: another file or folder)"
    )
    assert path.read_bytes() == before


@pytest.mark.parametrize("output", ["kept/report.md", "kept/"])
def test_a_folder_that_may_not_be_written_to_is_named_before_the_work(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch, output: str
) -> None:
    (nowhere / "a.md").write_text("Hello.")
    (nowhere / "kept").mkdir()
    # Root may write anywhere.
    monkeypatch.setattr(os, "access", lambda p, how: how != os.W_OK or Path(p).name != "kept")
    line = refused("verify", "a.md", "--output", output)
    assert line.startswith(f"{output.rstrip('/')}: cannot be written: no permission to write to ")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_line(nowhere: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, str(CLI), "infer", str(graph(nowhere))],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 2, "1 would say that an answer is below --fail-under"
    assert done.stderr == b"factcheck: [Errno 28] No space left on device\n"


def test_listing_the_commands_imports_none() -> None:
    code = (
        "import sys; from factcheck_local.cli import cli; "
        "cli(['--help'], standalone_mode=False); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "factcheck_local.cli" in loaded
    assert not loaded & {f"factcheck_local.cli.{name}" for name in ("verify", "index", "models")}
    assert not loaded & {"numpy", "torch", "chromadb", "scipy"}


def test_commands_are_click_commands() -> None:
    context = click.Context(cli)
    for name in COMMANDS:
        found = cli.get_command(context, name)
        assert found is not None
        assert found.name == name
    assert cli.get_command(context, "nothing") is None


def test_formats_are_listed_without_a_path_or_a_model() -> None:
    done = factcheck("index", "--formats")
    assert (done.code, done.err) == (0, "")
    assert [line.split()[0] for line in done.out.splitlines()] == list(LOADERS)
    assert all(form.title in done.out for form in LOADERS.values())
