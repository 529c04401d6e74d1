"""How a store grows: writing, querying, memory, from 2,000 to 200,000 passages.

    python -m benchmarks.store_size --out benchmarks/results

Passages are made up: words drawn by Zipf's law, a document of 20 passages has a topic
that its words and its vectors share, so that neighbours are near and rankings are not
noise. A query is what a verification asks: 20 atoms together, fused, the passages
fetched; once over everything and once with a filter that leaves one document in ten.
Writes ``store_size.json``, ``store_size.md`` and ``store_size.png``.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.memory import peak_memory
from factcheck_local import __version__
from factcheck_local.core.types import Chunk, Span
from factcheck_local.evaluate.machine import machine
from factcheck_local.indexer.fingerprint import EmbedderPrint, Fingerprint
from factcheck_local.indexer.manifest import SourceRecord
from factcheck_local.indexer.scope import Condition, in_scope
from factcheck_local.indexer.store import Store
from factcheck_local.models.contracts import FloatArray
from factcheck_local.pipeline.retrieval.search import search

SIZES = (2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000)
DIMENSION = 384
PASSAGES_A_DOCUMENT = 20
DOCUMENTS_AT_ONCE = 10
WORDS_A_PASSAGE = 120
VOCABULARY = 60_000
ATOMS = 20
K = 3
ROUNDS = 40


@dataclass(frozen=True, slots=True)
class Topic:
    """What the passages of a document share."""

    words: np.ndarray[Any, Any]
    vector: FloatArray


class Collection:
    """Documents, made up one after the other from a seed."""

    def __init__(self, seed: int = 0) -> None:
        self._rng = np.random.default_rng(seed)
        self._weights = 1.0 / np.arange(1, VOCABULARY + 1)
        self._weights /= self._weights.sum()
        self.topics: list[Topic] = []

    def document(self) -> tuple[SourceRecord, list[Chunk], FloatArray]:
        """The next document, with the vectors of its passages."""
        number = len(self.topics)
        topic = Topic(self._rng.integers(0, VOCABULARY, 40), self._unit(1)[0])
        self.topics.append(topic)
        source = f"folder{number % 100}/document{number}.txt"
        record = SourceRecord(
            source, "", source, f"{number:064x}", 20_000, 1, "2024-01-01", 0.9, "default"
        )
        texts = [self.text(topic, WORDS_A_PASSAGE) for _ in range(PASSAGES_A_DOCUMENT)]
        chunks = [
            Chunk(f"{number:08}-{i:02}", source, text, Span(0, len(text)), (source,), i + 1)
            for i, text in enumerate(texts)
        ]
        return record, chunks, self.vectors(topic, len(texts))

    def text(self, topic: Topic, length: int) -> str:
        """Words, a quarter of them the topic's own."""
        common = self._rng.choice(VOCABULARY, length, p=self._weights)
        own = self._rng.choice(topic.words, length)
        mixed = np.where(self._rng.random(length) < 0.25, own, common)
        return " ".join(f"w{n}" for n in mixed.tolist())

    def vectors(self, topic: Topic, count: int) -> FloatArray:
        """Unit vectors around the topic's, some 0.7 from it in cosine."""
        mixed = topic.vector + self._unit(count)
        return np.asarray(mixed / np.linalg.norm(mixed, axis=1, keepdims=True), dtype=np.float32)

    def _unit(self, count: int) -> FloatArray:
        found = self._rng.normal(size=(count, DIMENSION))
        return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), dtype=np.float32)

    def questions(self) -> tuple[list[str], FloatArray]:
        """Twenty atoms about documents at random, and their vectors."""
        topics = [self.topics[i] for i in self._rng.integers(0, len(self.topics), ATOMS)]
        texts = [self.text(topic, 15) for topic in topics]
        return texts, np.concatenate([self.vectors(topic, 1) for topic in topics])


def measure(folder: Path, sizes: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Fill one store further and further, and ask it at each size."""
    made = Fingerprint(EmbedderPrint("made-up", "0" * 64, DIMENSION))
    collection = Collection()
    place = folder / "store"
    Store.create(place, made).close()
    for size in sizes:
        before, seconds = 0, 0.0
        with Store.open(place) as store:
            before = store.count()
            while store.count() < size:
                documents = [collection.document() for _ in range(DOCUMENTS_AT_ONCE)]
                begun = time.perf_counter()
                write(store, documents)
                seconds += time.perf_counter() - begun
        # Opened anew, as a verification opens it.
        with Store.open(place) as store:
            tenth = in_scope(store.sources(), [Condition.parse("source=folder?/**")])
            row = {
                "passages": size,
                "written_per_second": (size - before) / seconds,
                **asked(collection, store, None, "all"),
                **asked(collection, store, tenth, "tenth"),
                "store_bytes": store.size(),
                "peak_memory_bytes": peak_memory(),
            }
        print(json.dumps(row), flush=True)
        yield row


def write(
    store: Store, documents: Sequence[tuple[SourceRecord, Sequence[Chunk], FloatArray]]
) -> None:
    """As a run of the indexer does: begun one by one, written together, completed one by one."""
    drafts = [store.begin(record) for record, _, _ in documents]
    passages = [(record, chunk) for record, chunks, _ in documents for chunk in chunks]
    store.add(passages, np.concatenate([vectors for _, _, vectors in documents]))
    for draft, (_, chunks, _) in zip(drafts, documents, strict=True):
        store.complete(draft, chunks)


def asked(
    collection: Collection, store: Store, scope: frozenset[str] | None, name: str
) -> dict[str, float]:
    """Milliseconds for 20 atoms together: the first time, then median and 95th percentile."""
    taken = []
    for _ in range(1 + ROUNDS):
        texts, vectors = collection.questions()
        begun = time.perf_counter()
        found = search(texts, vectors, store, K, "fused", scope)
        store.embeddings([context.id for contexts in found for context in contexts])
        taken.append(1e3 * (time.perf_counter() - begun))
    first, *others = taken
    return {
        f"query_{name}_ms_first": first,
        f"query_{name}_ms_median": float(np.median(others)),
        f"query_{name}_ms_p95": float(np.percentile(others, 95)),
    }


def to_markdown(result: Mapping[str, Any]) -> str:
    """One row a size."""
    lines = [
        "# How a store grows",
        "",
        f"{ATOMS} atoms together, fused, {K} passages each, of a store that was just opened: the "
        f"first query, then median and 95th percentile of {ROUNDS}.",
        "",
        "| passages | written a second | first query, ms | query, ms | p95 "
        "| one source in ten, ms | p95 | store, MB | peak memory, MB |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {r['passages']:,} | {r['written_per_second']:.0f} "
        f"| {r['query_all_ms_first']:.0f} | {r['query_all_ms_median']:.0f} "
        f"| {r['query_all_ms_p95']:.0f} | {r['query_tenth_ms_median']:.0f} "
        f"| {r['query_tenth_ms_p95']:.0f} | {r['store_bytes'] / 1e6:.0f} "
        f"| {r['peak_memory_bytes'] / 1e6:.0f} |"
        for r in result["rows"]
    ]
    lines += ["", "![growth](store_size.png)", "", f"signature: `{result['signature']}`"]
    return "\n".join(lines) + "\n"


def plot(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Query time and rate of writing over the size, on logarithmic axes."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained")
    sizes = [r["passages"] for r in rows]
    for name, label in (("all", "everything"), ("tenth", "one source in ten")):
        left.plot(sizes, [r[f"query_{name}_ms_p95"] for r in rows], marker="o", label=label)
    left.axhline(300, linestyle=":", color="grey", label="target")
    left.set(xscale="log", yscale="log", xlabel="passages", ylabel="ms for 20 atoms, p95")
    left.legend()
    right.plot(sizes, [r["written_per_second"] for r in rows], marker="o")
    right.set(xscale="log", xlabel="passages", ylabel="passages written a second", ylim=(0, None))
    figure.savefig(path, dpi=100)


def main() -> None:
    """Measure, write, print."""
    parser = argparse.ArgumentParser(description="how a store grows")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = list(measure(Path(folder), options.sizes))
    signature = f"factcheck-local:{__version__}|seed:0|dimension:{DIMENSION}|machine:{machine()}"
    result = {"rows": rows, "signature": signature}
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "store_size.json").write_text(json.dumps(result, indent=1) + "\n")
    plot(rows, options.out / "store_size.png")
    text = to_markdown(result)
    (options.out / "store_size.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
