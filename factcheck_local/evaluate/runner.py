"""Runs assessors over a benchmark's items; what is done is on disk, and not done again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from factcheck_local.core.errors import FactcheckError, InputError, RecordError
from factcheck_local.core.files import write_whole
from factcheck_local.core.progress import StageProgress, silent
from factcheck_local.core.types import AtomAssessment, Verdict
from factcheck_local.evaluate.collection import Collection, Item
from factcheck_local.evaluate.lines import Results, key_of
from factcheck_local.indexer.fingerprint import Fingerprint
from factcheck_local.indexer.store import Store
from factcheck_local.indexer.sync import sync
from factcheck_local.models.cards import find_card
from factcheck_local.models.contracts import Embedder, identity
from factcheck_local.models.registry import beside, load_model
from factcheck_local.models.reply_cache import CachedChatModel
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.relation import (
    RelationModel,
    describe,
    relation_model_of,
    thresholds_of,
)
from factcheck_local.pipeline.run import Run
from factcheck_local.pipeline.settings import GRAPH_ASSESSORS, JUDGES, Settings

#: In the folder for results, where retrieval is open, what has the documents and their store;
#: and the file in it that tells it from a folder of somebody else.
CORPUS, MARKER = "corpus", ".factcheck-bench"


@dataclass(frozen=True)
class Models:
    """The models of a benchmark, shared by all assessors.

    Attributes:
        llm: splits, rewords, judges; says again what it said before.
        embedder: of the store.
        relation: of the graphical models.
    """

    llm: CachedChatModel
    embedder: Embedder
    relation: RelationModel

    @classmethod
    def of(cls, settings: Mapping[str, Settings], llm: CachedChatModel) -> Models:
        """Those that the settings of several assessors name, with an LLM."""
        first = next(iter(settings.values()))
        # The same for all that have one; a judge's settings say nothing of it.
        related = next((settings[a] for a in settings if a in GRAPH_ASSESSORS), first)
        relation = relation_model_of(related, load=beside(llm))
        return cls(llm, load_model(first.embedder, "embedder"), relation)

    def named(self) -> dict[str, dict[str, Any]]:
        """What names each, by role."""
        roles = {"llm": self.llm, "embedder": self.embedder, "relation": self.relation}
        return {role: identity(m) for role, m in roles.items()}


@dataclass(frozen=True, eq=False)
class Trial:
    """An assessor on an item.

    Attributes:
        item: the item.
        assessor: its name.
        settings: of it, for this item.
        key: a hash over all that its line depends on.
    """

    item: Item
    assessor: str
    settings: Settings
    key: str

    def line(self, models: Models, store: Store | None) -> dict[str, Any]:
        """Verdicts beside gold labels, and what they took; or why there are none."""
        llm = models.llm
        checker = FactChecker(
            self.settings,
            store if self.item.record.contexts is None else None,
            llm=llm,
            embedder=models.embedder,
            relation_model=models.relation,
            cache=False,
        )
        seconds, waited, calls = llm.seconds, llm.waited, llm.calls
        begun = time.perf_counter()
        try:
            run = checker.verify(self.item.record)
        except FactcheckError as error:
            # One item that cannot be assessed is counted as such, and the others go on.
            return self.failed(error)
        taken = time.perf_counter() - begun - run.seconds.get("load", 0.0) - (llm.waited - waited)
        return self._named() | {
            "atoms": [_atom(a, self.item) for a in _checked(run)],
            "segments": _segments(self.item, run),
            # What the model said before counts as much as when it said it first.
            "seconds": max(taken, 0.0) + llm.seconds - seconds,
            "calls": llm.calls - calls,
        }

    def failed(self, error: FactcheckError) -> dict[str, Any]:
        """A line that counts it as one that cannot be assessed."""
        return self._named() | {"failure": str(error), "atoms": [], "segments": []}

    def _named(self) -> dict[str, Any]:
        return {"item": self.item.id, "group": self.item.group, "assessor": self.assessor}


#: Makes the lines of trials somewhere else, with a store by its path: each under its number, as
#: they come, or why there is none.
Elsewhere = Callable[
    [Path | None, Mapping[int, Trial]], Iterator[tuple[int, dict[str, Any] | FactcheckError]]
]


def kept_llm(name: str, replies: Path) -> CachedChatModel:
    """An LLM that says again what it said before, from a file."""
    card = find_card(name, "llm")
    if card.server is None:
        load, sha256 = (lambda: load_model(name, "llm")), card.sha256
    else:
        # A server says how it scores labels when it is asked.
        model = load_model(name, "llm")
        load, sha256 = (lambda: model), model.sha256
    return CachedChatModel(load, card.id, sha256, replies, card.adapters)


@contextmanager
def corpus(collection: Collection, embedder: Embedder, out: Path) -> Iterator[Store | None]:
    """The store that retrieval is open over; None where items bring their contexts.

    It stays in ``out``, so that a second run embeds nothing.

    Raises:
        InputError: if ``out`` has a folder in its place that no benchmark made.
        RecordError: if a document's name leads out of the folder for documents.
    """
    if not collection.documents and collection.corpus is None:
        yield None
        return
    place = _own(out / CORPUS)
    folder, exclude = collection.corpus, ["answers/**"]
    if folder is None:
        folder, exclude = place / "documents", []
        _write(collection, folder)
    with Store.create(place / "store", Fingerprint.of(embedder)) as store:
        sync([folder], store, embedder, exclude=exclude)
        yield store


def _own(folder: Path) -> Path:
    """The folder, which is a benchmark's own: in no other one may it remove or index anything."""
    marker = folder / MARKER
    if not marker.is_file():
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError(
                f"{folder}: is there, and no benchmark made it",
                hint="give another folder for the results",
            )
        folder.mkdir(parents=True, exist_ok=True)
        marker.write_text("Made by a benchmark, which removes what else is put into documents.\n")
    return folder


def _write(collection: Collection, folder: Path) -> None:
    """Bring the files of a folder up to date with a benchmark's documents."""
    for name, text in collection.documents.items():
        if ".." in Path(name).parts or not (folder / name).is_relative_to(folder) or "\0" in name:
            raise RecordError(f"{collection.name}: a document cannot be called {name!r}")
        _write_changed(folder / name, text.encode("utf-8"))
    known = {folder / name for name in collection.documents}
    for file in [file for file in folder.rglob("*") if file.is_file()]:
        # Of other data that was measured in this folder.
        if file not in known:
            file.unlink()


def _write_changed(file: Path, data: bytes) -> None:
    """Write a document that is new or has changed; the time stamp of the others stays."""
    if not file.is_file() or file.read_bytes() != data:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, data)


def run(
    collection: Collection,
    settings: Mapping[str, Settings],
    models: Models,
    out: Path,
    progress: StageProgress = silent,
    elsewhere: Elsewhere | None = None,
) -> list[dict[str, Any]]:
    """Every assessor over every item.

    Each finished pair of the two is a line of ``items.jsonl``. A line counts as long as
    nothing that it depends on has changed, so a run that was killed goes on where it was.

    Args:
        collection: the items.
        settings: of each assessor, by its name.
        models: shared by all.
        out: the folder for results; made where it is not there.
        progress: called before each item of each assessor, or after each that is made elsewhere.
        elsewhere: makes the lines that are not there; None makes them here.

    Returns:
        The lines, by assessor and in the order of the items; with ``key`` those that are kept.
    """
    results = Results(out)
    with corpus(collection, models.embedder, out) as store:
        trials = list(_trials(collection, settings, models, store))
        lost: dict[str, dict[str, Any]] = {}
        if elsewhere is not None:
            missing = {n: t for n, t in enumerate(trials) if t.key not in results}
            made = elsewhere(store.path if store is not None else None, missing)
            for count, (number, found) in enumerate(made, start=1):
                trial = missing[number]
                if isinstance(found, FactcheckError):
                    lost[trial.key] = trial.failed(found)  # tried again by the next run
                else:
                    results.keep(trial.key, found)
                progress(f"{trial.assessor} {trial.item.id}", count, len(missing))
        rows = []
        for done, trial in enumerate(trials):
            if elsewhere is None:
                progress(f"{trial.assessor} {trial.item.id}", done, len(trials))
            rows.append(
                lost.get(trial.key)
                or {"key": trial.key} | results.get(trial.key, partial(trial.line, models, store))
            )
    progress("done", len(trials), len(trials))
    order = list(settings)
    return sorted(rows, key=lambda row: order.index(row["assessor"]))


def _trials(
    collection: Collection, settings: Mapping[str, Settings], models: Models, store: Store | None
) -> Iterator[Trial]:
    """Item by item, so that a run that is ended early has compared all assessors on some."""
    index = store.digest() if store is not None else None
    for item in collection.items:
        for assessor, own in settings.items():
            chosen = replace(own, where=item.where)
            yield Trial(item, assessor, chosen, _key(item, chosen, models, index))


def _checked(run: Run) -> list[AtomAssessment]:
    return [a for a in run.assessment.atoms if a.verdict is not Verdict.SKIPPED]


def _atom(assessed: AtomAssessment, item: Item) -> dict[str, Any]:
    return {
        "id": assessed.atom.id,
        "gold": item.gold.get(assessed.atom.id),
        "label": assessed.atom.label,
        "verdict": assessed.verdict.value,
        "probability": assessed.probability,
        "certainty": assessed.certainty,
    }


def _segments(item: Item, run: Run) -> list[dict[str, Any]]:
    """For each labelled stretch whether any atom of it is contradicted, or not supported.

    Both are None where a stage failed on an atom of it, so that no other decides. A stretch
    without an atom is neither, as in FELM: what was not found to say anything is not called wrong.
    """
    found = []
    for segment in item.segments:
        own = [a for a in _checked(run) if a.atom.stands_in(segment.span)]
        against = (Verdict.CONTRADICTED, Verdict.UNSUPPORTED)
        wrong: bool | None = any(a.verdict in against for a in own)
        unsupported: bool | None = any(a.verdict is not Verdict.SUPPORTED for a in own)
        if any(a.verdict is Verdict.UNSCORED for a in own):
            wrong = unsupported = None
        found.append(
            {
                "gold": segment.wrong,
                "error": segment.error,
                "wrong": wrong,
                "unsupported": unsupported,
            }
        )
    return found


def _key(item: Item, settings: Settings, models: Models, index: str | None) -> str:
    record = item.record
    risk = None
    if settings.assessor not in JUDGES:
        risk = thresholds_of(models.relation, settings, None)
    return key_of(
        {
            "settings": settings.line(),
            "models": models.named(),
            "calibration": describe(models.relation),
            "item": [item.id, record.answer.text, record.answer.question, repr(record.atoms)],
            "contexts": repr(record.contexts),
            "gold": [dict(item.gold), repr(item.segments)],
            "index": index,
            "risk": repr(risk),
        }
    )
