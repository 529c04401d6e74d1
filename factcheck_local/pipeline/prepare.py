"""Passages read by the LLM before there is an answer, so that no answer waits for that.

Two thirds of what reading relations takes is the passages, which are the same for every answer.
What is kept is what a run would keep itself (``Store.states``), so no score changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from factcheck_local.core.errors import InputError, ScoringError, StoreError
from factcheck_local.core.progress import Progress, silent
from factcheck_local.core.types import Context, Relation
from factcheck_local.indexer.parts import INDEX
from factcheck_local.indexer.store import Store
from factcheck_local.models.prompt_states import give, given, sizes
from factcheck_local.models.registry import Loader, load_model
from factcheck_local.pipeline.relation.llm import LlmPairScorer
from factcheck_local.pipeline.relation.load import relation_card, shown
from factcheck_local.pipeline.relation.scorer import Premise
from factcheck_local.pipeline.settings import Settings
from factcheck_local.pipeline.sources import usable

#: Bytes that what is kept may take, unless somebody says otherwise.
SPACE = 4 * 10**9

#: Any claim; what a model is shown of a passage does not depend on it.
_ANY = "This is a claim."


@dataclass(frozen=True, slots=True)
class Prepared:
    """What became of a store's passages; those of a source with one text and title count once.

    Attributes:
        read: were read now.
        known: had been read before.
        passed_over: are never kept: short ones, which are read as fast, and very long ones.
        left: had no room, or were left when it was to stop.
        bytes: that all that is kept takes.
    """

    read: int
    known: int
    passed_over: int
    left: int
    bytes: int


def prepare(
    store: Store,
    settings: Settings,
    *,
    space: int | None = None,
    load: Loader = load_model,
    progress: Progress = silent,
    stop: Callable[[], bool] = lambda: False,
) -> Prepared:
    """Have the LLM of a relation model read the passages that runs with these settings may use.

    Those of the most reliable sources first. A run that is broken off keeps what it has read, and
    the next one goes on from there.

    Args:
        store: the passages', in a folder of this machine.
        settings: of the runs to come.
        space: bytes that what is kept may take from now on, more than 0, in runs as well; None
            for what it was given before, or else ``SPACE``.
        load: what loads a model.
        progress: told how many of the passages that are to be read are.
        stop: asked before each passage whether to leave it and the rest for another time.

    Raises:
        InputError: if the settings' relation model has no LLM that keeps passages.
        StoreError: if the store holds none, or is on a server.
        ModelError: if the model is not here or cannot be loaded.
        OSError: if the store's folder cannot be written to.
    """
    folder = store.states
    if folder is None:
        raise StoreError(f"{store.place}: on a server, where nothing of passages is kept")
    if not store.count():
        raise StoreError(f"{store.place}: holds no passages", hint=INDEX)
    scorer = _reader(settings, folder, load)
    if space is None:
        space = given(folder) or SPACE
    give(folder, space)
    passages = _passages(store, settings)
    there = [scorer.remembers(premise) for premise, _ in passages]
    wanted = [one for one, known in zip(passages, there, strict=True) if known is False]
    read = refused = gone = 0
    kept = sizes(folder)
    for number, (premise, context) in enumerate(wanted):
        # Were it as large as the largest, another would have to go for it.
        if sum(kept) + max(kept, default=0) > space or stop():
            break
        progress(number, len(wanted))
        try:
            scorer.remember(premise)
        except ScoringError:
            refused += 1  # a run that needs it will say so
            continue
        finally:
            removed = store.drop_gone([context])  # by a run of the indexer beside this
        if removed:
            gone += 1
            continue
        if not scorer.remembers(premise):
            break
        read += 1
        kept = sizes(folder)
    if done := read + refused + gone:
        progress(done, done)
    return Prepared(
        read=read,
        known=there.count(True),
        passed_over=there.count(None) + refused,
        left=len(wanted) - read - refused - gone,
        bytes=sum(kept),
    )


def _reader(settings: Settings, folder: Path, load: Loader) -> LlmPairScorer:
    """The LLM of the relation model, which keeps what it reads in a folder."""
    name = settings.relation.rpartition("+")[2]
    card = relation_card(name, settings.llm)
    if card.role != "llm":
        raise InputError(
            f"relation={settings.relation}: {card.id} keeps nothing of passages, an LLM does"
        )
    return LlmPairScorer.of_card(card, load(card.id), folder)


def _passages(store: Store, settings: Settings) -> list[tuple[Premise, Context]]:
    """The passages and what the LLM is shown of them, each text of a source once."""
    sources, catch = usable(store, settings), _Catch()
    model = shown(catch, cut_instructions=settings.cut_instructions, tables=settings.tables)
    contexts = store.contexts(store.ids())
    contexts.sort(key=lambda c: (-c.prior, c.source, c.line or 0, c.id))
    found: dict[tuple[str, Premise], Context] = {}
    for context in contexts:
        if sources.scope is None or context.source in sources.scope:
            read = sources.as_read(context)
            catch.premise = None
            model.relate(Premise(read.title, read.text, read.source), [_ANY])
            if catch.premise is not None:
                found.setdefault((context.source, catch.premise), context)
    return [(premise, context) for (_, premise), context in found.items()]


class _Catch:
    """Takes note of what a relation model is shown of a passage; implements ``RelationModel``."""

    id = sha256 = "none"

    def __init__(self) -> None:
        self.premise: Premise | None = None

    def relate(self, premise: Premise, hypotheses: Sequence[str]) -> list[Relation]:
        """Say nothing of the premise; see ``RelationModel``."""
        self.premise = premise
        return [Relation(0.0, 0.0, 1.0)] * len(hypotheses)
