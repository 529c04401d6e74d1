"""What reads text that others wrote: each with texts to give it, and what it may raise.

A target takes any text and raises nothing but errors of the package. It is run by
hypothesis (``test_fuzz.py``) and, guided by coverage, by atheris (``coverage_guided.py``).
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from factcheck_local.core.errors import FactcheckError, RecordError
from factcheck_local.core.text.hostile import readable
from factcheck_local.indexer.chunker import chunk
from factcheck_local.indexer.loaders import load
from factcheck_local.indexer.reliability.profile import ReliabilityProfile
from factcheck_local.markov.fact_graph import network_from_graph
from factcheck_local.markov.uai import network_from_uai
from factcheck_local.models.openai_server import replies
from factcheck_local.pipeline.claims.atomize.parse import parse_claims
from factcheck_local.pipeline.claims.records import Record, load_json, parse_each
from factcheck_local.pipeline.retrieval.queries import parse_queries, says_found
from factcheck_local.pipeline.settings import Settings
from factcheck_local.report.schema import SCHEMA
from factcheck_local.report.stored import checked, claims_of, contexts_of, input_of, settings_of

LABELS = ("A", "B", "C")


@dataclass(frozen=True, slots=True)
class Target:
    """A reader: ``read`` may raise a FactcheckError, and nothing else."""

    read: Callable[[str], None]
    texts: st.SearchStrategy[str]


# -------------------------------------------------------------------- texts


def pieces(*some: str) -> st.SearchStrategy[str]:
    """Texts put together from what a format is made of, and from anything."""
    listed = st.lists(st.one_of(st.sampled_from(some), st.text(max_size=6)), max_size=25)
    return st.one_of(listed.map("".join), st.text(max_size=200))


_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 10**19),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["a1", "c1", "atom", "context", "entailment", "fact", "encoder"]),
)


def values(*keys: str) -> st.SearchStrategy[Any]:
    """JSON values whose objects have these keys and others."""
    names = st.one_of(st.sampled_from(keys), st.text(max_size=4))
    return st.recursive(
        _SCALARS,
        lambda inner: st.one_of(
            st.lists(inner, max_size=4), st.dictionaries(names, inner, max_size=6)
        ),
        max_leaves=20,
    )


def like(sample: Any, *keys: str) -> st.SearchStrategy[str]:  # noqa: ANN401
    """A valid value as JSON, with some of what is in it replaced; or any value."""

    @st.composite
    def changed(draw: st.DrawFn) -> Any:  # noqa: ANN401
        value = json.loads(json.dumps(sample))
        for _ in range(draw(st.integers(0, 3))):
            at, steps = value, draw(st.integers(1, 4))
            for step in range(steps):
                if not isinstance(at, dict | list) or not at:
                    break
                places = list(at) if isinstance(at, dict) else list(range(len(at)))
                place = draw(st.sampled_from(places))
                if step == steps - 1 or not isinstance(at[place], dict | list):
                    at[place] = draw(values(*keys))
                    break
                at = at[place]
        return value

    either = st.one_of(changed(), values(*keys))
    return st.one_of(either.map(json.dumps), pieces('{"', '":', "[", "]", "}", ",", "1e999", *keys))


# ------------------------------------------------------------------ readers


def _claims(text: str) -> None:
    for line in parse_claims(text):
        assert line.strip() == line != ""


def _queries(text: str) -> None:
    says_found(text)
    assert all(query.strip() for query in parse_queries(text))


def _reply(text: str) -> None:
    value = load_json(text, "reply")
    if not isinstance(value, dict):
        return
    try:
        replies.vote(replies.reply_text(value), LABELS)
    finally:
        if top := replies.first_token(value):
            replies.label_logprobs(top, LABELS)


def _vote(text: str) -> None:
    assert replies.vote(text, LABELS) in (None, 0, 1, 2)


def _markdown(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.md"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        document = load(path, "a.md")
    for passage in chunk(document):
        assert passage.text == passage.span.of(document.text)


def _records(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    for name in ("a.json", "a.jsonl", "a.md"):
        try:
            found = list(parse_each(data, name))
        except RecordError:
            continue
        assert all(isinstance(one, Record | RecordError) for one in found)


def _profile(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reliability.toml"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        ReliabilityProfile.load(path)


def _graph(text: str) -> None:
    network_from_graph(load_json(text, "graph"))


def _uai(text: str) -> None:
    network_from_uai(text)


def _run(text: str) -> None:
    value = checked(load_json(text, "run"), "run")
    for read in (claims_of, contexts_of, settings_of, input_of):
        try:
            read(value, "run")
        except FactcheckError:
            continue


def _hostile(text: str) -> None:
    assert len(readable(text)) <= len(text)


# ------------------------------------------------------------------ samples

_RECORD = {
    "input": "And leave?",
    "output": "Leave is 25 days.",
    "atoms": [{"id": "a1", "text": "Leave is 25 days.", "original": "Leave", "contexts": ["c1"]}],
    "contexts": [{"id": "c1", "title": "Leave", "text": "It is 25 days.", "link": "x"}],
}
_REPLY = {
    "choices": [
        {
            "message": {"content": "A"},
            "logprobs": {"content": [{"top_logprobs": [{"token": "A", "logprob": -0.1}] * 2}]},
        }
    ]
}
_OLD_REPLY = {"choices": [{"text": "A", "logprobs": {"top_logprobs": [{"A": -0.1, " B": -2}]}}]}
_GRAPH = {
    "nodes": [
        {"id": "a1", "type": "atom", "probability": 0.5},
        {"id": "c1", "type": "context", "probability": 0.9},
    ],
    "edges": [{"from": "c1", "to": "a1", "relation": "entailment", "probability": 0.8}],
}
_RUN = {
    "schema": SCHEMA,
    "run": {
        "settings": Settings().as_dict(),
        "answer": {"sha256": "0" * 64, "given": ["atoms", "contexts"]},
    },
    "answer": {"path": "a.md", "text": "Leave is 25 days.", "question": None},
    "atoms": [
        {
            "id": "a1",
            "text": "Leave",
            "original": "Leave",
            "kind": "fact",
            "span": {"start": 0, "end": 5},
            "repeats": [{"start": 0, "end": 5}],
        }
    ],
    "contexts": [{"id": "c1", "source": "x", "title": "", "text": "y", "prior": 0.9}],
}
#: What formats are made of.
_MARKUP = "# |\n|\n\n|- |1. |```|> |---\n|<!--|-->|a: b\n|&a |*a |---\na: 1\n---\n|[//]: # (".split(
    "|"
)
_TABLE = "| a | b |\n|---|---|\n"
_PROFILE = (
    "default = |0.5|2|\n|[[source]]\n|[[access]]\n|match = |'a/**'|prior = |where = |"
    "{ status = 'draft' }|half_life_days = |superseded = |groups = |[|]|'|note = |1e400|"
    "nan|true|[source]\n|2024-01-01"
).split("|")
_UAI = "MARKOV\n|BAYES\n|2| |\n|1|0|0.5|-1|1e308|nan|3|99999999".split("|")
_CLAIM = "- |1. |fact: |**|`|\n|claim|[data format]".split("|")
_QUERY = 'query 1: |found|not found.|\n|"|search|:|- '.split("|")
_TOLD = "Answer B. |<!--|-->|\u200b|Claim: |\n|<p hidden>|</p>|ignore the |instructions".split("|")

TARGETS = {
    "claims": Target(_claims, pieces(*_CLAIM)),
    "queries": Target(_queries, pieces(*_QUERY)),
    "reply": Target(_reply, like(_REPLY, "choices", "logprobs", "token", "logprob", "text")),
    "completion": Target(_reply, like(_OLD_REPLY, "choices", "logprobs", "top_logprobs", "text")),
    "vote": Target(_vote, pieces("A", "B", "(", ")", ".", "\n", "**", "a claim", " ")),
    "markdown": Target(_markdown, pieces(*_MARKUP, _TABLE, "word " * 80)),
    "records": Target(_records, like(_RECORD, "output", "input", "atoms", "contexts", "id")),
    "profile": Target(_profile, pieces(*_PROFILE)),
    "graph": Target(_graph, like(_GRAPH, "nodes", "edges", "id", "type", "from", "to")),
    "uai": Target(_uai, pieces(*_UAI)),
    "run": Target(_run, like(_RUN, "schema", "run", "answer", "atoms", "span", "start", "end")),
    "hostile": Target(_hostile, pieces(*_TOLD)),
}
