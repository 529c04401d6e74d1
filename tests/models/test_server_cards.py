"""A server under a name: its card, the commands about it, and runs that use it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from factcheck_local.cli import cli
from factcheck_local.core.errors import ModelError, ScoringError
from factcheck_local.models.add import add_server
from factcheck_local.models.cards import find_card, load_cards
from factcheck_local.models.contracts import Message
from factcheck_local.models.openai_server.model import ServerModel, check_server
from factcheck_local.models.openai_server.options import (
    ServerOptions,
    server_url,
    travels_in_clear,
)
from factcheck_local.models.registry import load_model
from factcheck_local.pipeline.relation.load import load_pair_scorer
from factcheck_local.pipeline.relation.scorer import Premise

from .helpers import write
from .scripted_server import Answer, Asked, Json, ScriptedServer, chat_completion, completion

Serve = Callable[..., ScriptedServer]

CARD = """
id = "own"
title = "Own"
role = "llm"
licence = "none"
backend = "openai_server"

[options]
url = "http://127.0.0.1:8080/v1"
"""


def entails(asked: Asked) -> Json:
    """Label A for a claim about cats, C for another; the prompt is the relation's own."""
    last = str(asked.body["messages"][-1]["content"])
    top = {"A": -0.1, "B": -4.0, "C": -3.0}
    if "cats" not in last.rsplit("Claim", 1)[-1]:
        top = {"A": -3.0, "B": -4.0, "C": -0.1}
    return chat_completion("A", top)


def factcheck(*arguments: object) -> Result:
    """``factcheck ARGUMENTS`` in this process; a known failure is the result's exception."""
    return CliRunner().invoke(cli, [str(a) for a in arguments])


def refused(*arguments: object) -> str:
    """What is wrong with the arguments of a command."""
    done = factcheck(*arguments)
    assert done.exit_code != 0
    return done.stderr if isinstance(done.exception, SystemExit) else str(done.exception)


@contextmanager
def loaded(name: str) -> Iterator[ServerModel]:
    model: ServerModel = load_model(name, "llm")
    try:
        yield model
    finally:
        model.close()


# ---------------------------------------------------------------------- card


def test_a_card_is_written_and_read_back(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEAM_KEY", "sk-secret")
    added = add_server(
        "team",
        "https://models.example:8443/api/",
        model='org/"big" é',
        chat_format_name="llama3",
        api_key_env="TEAM_KEY",
    )
    assert find_card("team", "llm") == added
    assert added.server == "https://models.example:8443/api/v1"
    assert added.files == ()
    assert ServerOptions.from_mapping(added.options) == ServerOptions(
        "https://models.example:8443/api/v1",
        model='org/"big" é',
        chat_format="llama3",
        api_key_env="TEAM_KEY",
    )
    assert "secret" not in (home / "cards/team.toml").read_text(encoding="utf-8")
    with pytest.raises(ModelError, match="known already"):
        add_server("team", "http://localhost")
    other = add_server("other", "https://models.example:8443/api", model="small")
    assert added.sha256 != other.sha256
    url = added.options["url"]
    asked: list[dict[str, Any]] = [{}, {"chat_format": "chatml"}, {"samples": 50}]
    cards = [replace(added, options={"url": url} | options) for options in asked]
    assert len({c.sha256 for c in cards}) == 3, "what bench keeps of replies follows this"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("http://localhost:8080", "http://localhost:8080/v1"),
        ("http://localhost:8080/v1/", "http://localhost:8080/v1"),
        ("https://x.example/llm/v1", "https://x.example/llm/v1"),
        ("http://[::1]:80/", "http://[::1]:80/v1"),
        ("http://my_box.example.", "http://my_box.example./v1"),
        ("http://xn--mnchen-3ya.example", "http://xn--mnchen-3ya.example/v1"),
    ],
)
def test_addresses(given: str, kept: str) -> None:
    assert server_url(given) == kept
    assert server_url(kept) == kept


@pytest.mark.parametrize(
    "url",
    [
        *("localhost:8080", "ftp://x", "http://", "http:///v1", "http://x:port", "http://x y", ""),
        *("é", "file:///etc/passwd", "http://x:99999"),
        *("http://a..b", "http://.a", f"http://{'x' * 64}.example", "http://xn--", "http://xn--a"),
        *("http://u:sk-secret@x", "http://x/v1?key=sk-secret", "http://x/#sk-secret"),
    ],
)
def test_no_address(home: Path, url: str) -> None:
    with pytest.raises(ModelError, match="expected") as caught:
        add_server("team", url)
    assert "secret" not in str(caught.value)
    assert not (home / "cards").exists()


@pytest.mark.parametrize(
    ("url", "clear"),
    [
        ("http://localhost:1/v1", False),
        ("http://127.0.0.1/v1", False),
        ("http://[::1]/v1", False),
        ("https://models.example/v1", False),
        ("http://models.example/v1", True),
        ("http://192.168.1.7/v1", True),
    ],
)
def test_what_can_be_read_on_its_way(url: str, clear: bool) -> None:
    assert travels_in_clear(url) is clear


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"concurrency": 0}, "option concurrency: expected a whole number from 1 to 64, got 0"),
        ({"concurrency": True}, "option concurrency"),
        ({"samples": 1}, "option samples"),
        ({"timeout_seconds": "9"}, "option timeout_seconds"),
        ({"timeout_seconds": 0}, "option timeout_seconds"),
        ({"chat_format": "alpaca"}, "unknown chat format 'alpaca'"),
        ({"api_key_env": "sk-secret-1"}, "option api_key_env: expected the name of an environment"),
        ({"model": ""}, "option model"),
        ({"modell": "x"}, "option modell is none of a model server's"),
        ({"url": "http://x"}, "expected 'http://x/v1'"),
    ],
)
def test_malformed_options(option: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        ServerOptions.from_mapping({"url": "http://x/v1"} | option)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("url =", "address =", "option url of .*: expected str"),
        ('role = "llm"', 'role = "embedder"', "a server is asked as an llm, not as embedder"),
        ('"openai_server"', '"llama_cpp"', "files or a server"),
        (
            "[options]",
            f'[[files]]\npath = "a"\nsize = 1\nsha256 = "{"0" * 64}"\n[options]',
            "files or a server",
        ),
        ("[options]", '[options]\nchat_format = ["x"]', "option chat_format .* expected str"),
    ],
)
def test_malformed_card(home: Path, old: str, new: str, message: str) -> None:
    write(home, {"cards/own.toml": CARD.encode()})
    assert find_card("own").server == "http://127.0.0.1:8080/v1"
    write(home, {"cards/own.toml": CARD.replace(old, new).encode()})
    with pytest.raises(ModelError, match=message):
        load_cards()


# --------------------------------------------------------------------- use


@pytest.mark.usefixtures("home")
def test_the_registry_loads_it(serve: Serve) -> None:
    server = serve(lambda _: completion("A", {"A": -0.1, "B": -2.0}))
    add_server("team", server.url, chat_format_name="chatml")
    with loaded("team") as model:
        assert model.id == "team"
        assert model.score_labels([Message("user", "?")], [""], ["A", "B"]).argmax() == 0
        assert model.sha256 != find_card("team").sha256, "loaded, it says what the server lists"


@pytest.mark.usefixtures("home")
def test_relate_by_a_server(serve: Serve, tmp_path: Path) -> None:
    server = serve(entails)
    add_server("team", server.url)
    pairs = tmp_path / "pairs.jsonl"
    claims = ["cats sleep", "dogs bark"]
    pairs.write_text(
        "\n".join(json.dumps({"premise": "Cats sleep.", "hypothesis": c}) for c in claims)
    )
    for option in ("--llm", "--relation"):
        done = factcheck("relate", pairs, option, "team")
        assert done.exit_code == 0, done.exception
        cats, dogs = map(json.loads, done.stdout.splitlines())
        assert cats["entailment"] > 0.8
        assert dogs["neutral"] > 0.8
    before = len(server.asked)
    server.close()
    assert f"model team: {server.url}/models: " in refused("relate", pairs, "--llm", "team")
    assert len(server.asked) == before


@pytest.mark.usefixtures("home")
def test_kept_scores_from_samples_are_not_those_from_logprobs(serve: Serve, tmp_path: Path) -> None:
    offers = False

    def script(_: Asked) -> Json:
        return chat_completion("A", {"A": -0.1, "B": -2.0} if offers else None)

    add_server("team", serve(script).url)

    def scored() -> list[float]:
        scorer = load_pair_scorer(find_card("team"), cache_dir=tmp_path)
        return list(scorer.score(Premise("", "Cats sleep."), ["Cats sleep."])[0])

    first = scored()
    assert scored() == first
    offers = True
    assert scored() != first


# ----------------------------------------------------------------- commands


@pytest.mark.usefixtures("home")
def test_commands(serve: Serve) -> None:
    server = serve(lambda _: chat_completion("A", {"A": -0.1, "B": -2.0}))
    address = server.url.removesuffix("/v1")
    added = factcheck("models", "add", "team", "--server", address, "--model", "served")
    assert added.exit_code == 0
    assert added.stderr == ""
    assert added.stdout.startswith(f"team: {server.url} ")
    row = next(r for r in factcheck("models", "list").stdout.splitlines() if r.startswith("team "))
    assert " server " in row
    assert row.endswith(server.url)
    rows = {row["id"]: row for row in json.loads(factcheck("models", "list", "--json").stdout)}
    assert rows["team"]["server"] == server.url
    assert rows["team"]["folder"] is None
    assert rows["smollm2-135m"]["server"] is None
    pulled = factcheck("models", "pull", "team")
    assert (pulled.exit_code, pulled.stdout) == (
        0,
        f"team: on a server, {server.url}: nothing to pull\n",
    )
    assert server.asked == [], "none of these asks the server"
    checked = factcheck("models", "check")
    how = "label probabilities from the server's logprobs"
    assert checked.exit_code == 0
    assert checked.stdout.splitlines() == [
        "mpnet-l6-nli: ok",
        f"team: ok, {server.url} answers: {how}",
    ]
    assert len(server.asked) == 1


@pytest.mark.usefixtures("home")
def test_verify_says_what_is_wrong(serve: Serve) -> None:
    server = serve(lambda _: Answer({"error": {"message": "no such model"}}, 404))
    add_server("team", server.url)
    done = factcheck("models", "check", "team")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "status 404, 'no such model'" in done.stderr
    prose = serve(lambda _: chat_completion("The", {"The": -0.1, "So": -2.0}))
    add_server("prose", prose.url)
    assert factcheck("models", "check", "prose").exit_code == 2
    with pytest.raises(ScoringError, match="none of"):
        check_server(find_card("prose"))


@pytest.mark.usefixtures("home")
def test_usage(tmp_path: Path) -> None:
    add = ("models", "add", "team")
    server = ("--server", "http://localhost")
    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    path = tmp_path / "m.gguf"
    assert "either the PATH" in refused(*add)
    assert "either the PATH" in refused(*add, path, *server)
    assert "a --server is an llm" in refused(*add, *server, "--role", "encoder")
    assert "its context length its own" in refused(*add, *server, "--context-length", 512)
    assert "go with --server" in refused(*add, path, "--role", "llm", "--model", "x")
    assert "go with --server" in refused(*add, path, "--role", "llm", "--api-key-env", "X")
    assert "expected --role" in refused(*add, path)
    for role in ("encoder", "embedder", "reranker"):
        for option in (("--context-length", 9999), ("--chat-format", "chatml")):
            said = refused(*add, tmp_path, "--role", role, *option)
            assert f"{option[0]} is of an llm, and not of role {role}" in said
    assert "environment variable" in refused(*add, *server, "--api-key-env", "sk-1")
    assert "team" not in load_cards()
    clear = factcheck(*add, "--server", "http://models.example")
    assert clear.stderr == "team: over http, what is sent can be read on its way\n"
