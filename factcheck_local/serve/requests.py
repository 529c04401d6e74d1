"""What may be asked for: bodies of requests, and what the pipeline takes for them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from factcheck_local import __version__
from factcheck_local.core.errors import InputError, RecordError
from factcheck_local.core.types import Answer
from factcheck_local.indexer.parts import CALIBRATION, RISK
from factcheck_local.models.cards import ModelCard, find_card
from factcheck_local.pipeline.claims.records import FIELDS, Record, parse_record
from factcheck_local.pipeline.relation.load import relation_card
from factcheck_local.pipeline.retrieval.rerankers import reranker_card
from factcheck_local.pipeline.run import prompts_here
from factcheck_local.pipeline.settings import SETTINGS, Settings, is_idle, no_effect
from factcheck_local.pipeline.verdicts.network import possible_pairs

#: Characters of a text that is checked, and claims and passages that a record may bring.
MOST_CHARACTERS, MOST_ATOMS, MOST_CONTEXTS = 200_000, 1_000, 5_000

#: Characters of the id of a claim or passage, which addresses and the audit log repeat.
MOST_OF_ID = 200

#: Pairs of a passage and a claim, or of two passages, that a record may make possible, and steps
#: of a stage, such as pairs to read, that a check may come to: all behind it wait for its end.
MOST_POSSIBLE, MOST_PAIRS = 1_000_000, 50_000

#: Conditions on sources that a check or a search may bring.
MOST_CONDITIONS = 20

#: Settings that are the server's alone: its models, and what a key's holder may see.
OWN = ("llm", "embedder", "as_groups")

#: Settings whose values name models; a request may choose among those of the server.
NAMING = ("relation", "rerank")


class CheckRequest(BaseModel):
    """A check: an answer, or a record of which stages are done already."""

    model_config = ConfigDict(extra="forbid")

    answer: str | None = Field(
        None, max_length=MOST_CHARACTERS, description="The text, as Markdown or plain text."
    )
    question: str | None = Field(
        None, max_length=MOST_CHARACTERS, description="What it replies to."
    )
    record: dict[str, Any] | None = Field(
        None, description="In place of an answer, a record in FactReasoner's format."
    )
    name: str = Field("answer", max_length=200, description="What reports call the answer.")
    settings: dict[str, Any] = Field(
        default_factory=dict, description="Settings of this check; see `factcheck settings`."
    )

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.answer is None) == (self.record is None):
            raise ValueError("expected either an answer or a record")
        if self.answer is not None and not self.answer.strip():
            raise ValueError("the answer is empty")
        return self

    @model_validator(mode="after")
    def _can_be_kept(self) -> Self:
        """Refuse what Python reads of JSON and nobody can write again."""
        try:
            given = [self.record, self.settings]
            json.dumps(given, ensure_ascii=False, allow_nan=False).encode()
        except UnicodeEncodeError as error:
            raise ValueError("record or settings: half a character is no text") from error
        except RecursionError as error:
            raise ValueError("record or settings: too many levels") from error
        except ValueError as error:
            raise ValueError("record or settings: a number that JSON does not know") from error
        return self

    @model_validator(mode="after")
    def _as_known(self) -> Self:
        """Let go of what nobody reads of a record: it is kept with the check."""
        if self.record is not None:
            self.record = {n: _known(n, v) for n, v in self.record.items() if n in FIELDS}
        return self


class SearchRequest(BaseModel):
    """A query over the passages."""

    model_config = ConfigDict(extra="forbid")

    query: str = Field(min_length=1, max_length=2_000)
    k: int = Field(5, ge=1, le=100, description="How many passages.")
    retrieval: str = Field(Settings().retrieval, pattern="^(dense|lexical|fused)$")
    where: list[str] = Field(default_factory=list, max_length=MOST_CONDITIONS)

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.query.strip():
            raise ValueError("the query is empty")
        return self


def _known(name: str, value: object) -> object:
    """A field of a record without what is not read of its rows; malformed ones stay for now."""
    if not isinstance(value, list):
        return value
    return [
        {n: v for n, v in row.items() if n in FIELDS[name]} if isinstance(row, dict) else row
        for row in value
    ]


def answer_in(body: Mapping[str, Any]) -> str:
    """The text that a ``CheckRequest`` as JSON is about; empty if it was ``emptied``."""
    return str(body["answer"] or (body["record"] or {"output": ""})["output"])


def emptied(request: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept of a request whose check was cancelled: its name, and what it might see."""
    nothing: dict[str, Any] = {"answer": None, "question": None, "record": None, "settings": {}}
    return {"body": {"name": request["body"]["name"], **nothing}, "groups": request["groups"]}


@dataclass(frozen=True, slots=True)
class Work:
    """A check as the pipeline takes it.

    Attributes:
        record: the answer, and which stages are done already.
        settings: of the check.
        cards: of all models that it may ask, in a fixed order.
    """

    record: Record
    settings: Settings
    cards: tuple[ModelCard, ...]

    @property
    def asks_server(self) -> bool:
        """Whether it may ask a model server, which may hold another model each time."""
        return any(card.server is not None for card in self.cards)


def work_of(request: Mapping[str, Any], base: Settings, groups: tuple[str, ...] | None) -> Work:
    """What a request asks for.

    Args:
        request: a ``CheckRequest`` as JSON.
        base: the server's settings, with the embedder of its store.
        groups: what the caller may see; None for everything.

    Raises:
        RecordError: if the record is malformed, or too large, or makes too many pairs.
        InputError: for a setting that there is not, that is the server's, or of no effect.
        ModelError: if there is no model of a name, or it is of another role.
    """
    if request["record"] is None:
        answer = Answer(request["answer"], request["name"], request["question"])
        record = Record(answer)
    else:
        record = parse_record(request["record"], request["name"], question=request["question"])
        sizes = (
            ("characters", len(record.answer.text), MOST_CHARACTERS),
            ("atoms", len(record.atoms or ()), MOST_ATOMS),
            ("contexts", len(record.contexts or ()), MOST_CONTEXTS),
        )
        for what, size, most in sizes:
            if size > most:
                raise RecordError(f"{request['name']}: {size} {what}, at most {most} are taken")
        named = (
            ("atom", [atom.id for atom in record.atoms or ()]),
            ("context", [context.id for context in record.contexts or ()]),
        )
        for what, ids in named:
            for number, id_ in enumerate(ids):
                if len(id_) > MOST_OF_ID:
                    raise RecordError(
                        f"{request['name']}: the id of {what} {number} has {len(id_)} characters, "
                        f"at most {MOST_OF_ID} are taken"
                    )
    settings = settings_of(request["settings"], base, groups)
    possible = possible_pairs(settings.assessor, record.atoms or (), record.contexts or ())
    if possible > MOST_POSSIBLE:
        raise RecordError(
            f"{request['name']}: {possible} pairs of texts with assessor={settings.assessor}, "
            f"at most {MOST_POSSIBLE} are taken"
        )
    return Work(record, settings, tuple(_cards(settings)))


def settings_of(
    given: Mapping[str, Any], base: Settings, groups: tuple[str, ...] | None
) -> Settings:
    """The server's settings with those of a request.

    Raises:
        InputError: see ``work_of``.
    """
    known = asdict(base)
    where = given.get("where")
    if isinstance(where, list) and len(where) > MOST_CONDITIONS:
        said = f"{len(where)} conditions, at most {MOST_CONDITIONS} are taken"
        raise InputError(f"settings: where: {said}")
    for name, value in given.items():
        if name not in known:
            raise InputError(f"settings: unknown setting {name!r}")
        if name in OWN:
            raise InputError(f"settings: {name} is the server's")
        if name in NAMING and value is not None:
            ours = {"llm", "encoder", *str(known[name]).split("+")}
            if not set(str(value).split("+")) <= ours:
                raise InputError(f"settings: {name}={value!r} names a model that is not loaded")
    chosen = {name: SETTINGS[name].from_toml(value) for name, value in given.items()}
    values = known | chosen | {"as_groups": groups if groups is not None else base.as_groups}
    for name in given:
        row = SETTINGS[name]
        if values[name] != row.default and is_idle(row, values):
            raise no_effect(name, "settings: ")
    # A setting of the server that a caller's choice makes idle is no fault of theirs.
    return Settings.effective(values)


def settings_from(values: Mapping[str, Any]) -> Settings:
    """Settings as JSON holds them, see ``Settings.as_dict``."""
    tuples = {name: tuple(v) if isinstance(v, list) else v for name, v in values.items()}
    return Settings.effective(tuples)


def _cards(settings: Settings) -> Iterator[ModelCard]:
    for name in sorted({settings.llm, *settings.relation.split("+")}):
        yield relation_card(name, settings.llm)
    yield find_card(settings.embedder, "embedder")
    if settings.rerank is not None:
        yield reranker_card(settings.rerank)


def digest_of(work: Work, index: str, store: Path) -> str:
    """Sha256, in hex, over all that decides the outcome of a check on this server.

    Args:
        work: the check.
        index: see ``Store.state_digest``.
        store: its folder, where a calibration and thresholds of the user's may be.
    """
    own = [store / name for name in (CALIBRATION, RISK)]
    value = {
        "version": __version__,
        "record": asdict(work.record),
        "settings": work.settings.line(),
        "index": index,
        "prompts": prompts_here(),
        "models": [
            [
                card.id,
                card.sha256,
                card.backend,
                card.options,
                card.calibration,
                card.risk,
                {prompt: adapter.sha256 for prompt, adapter in card.adapters.items()},
            ]
            for card in work.cards
        ],
        "fitted": [path.read_text(encoding="utf-8") if path.exists() else "" for path in own],
    }
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
