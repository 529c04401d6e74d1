"""Indexing a real collection: the first run, one without a change, one changed file.

    python -m benchmarks.indexing /usr/share/doc/postgresql-doc-15/html

Any folder will do; Debian's postgresql-doc-15 and python3-doc are what the figures in
``results/indexing.md`` were taken on. The whole first run, loading and writing included,
is compared with plain ``SentenceTransformer.encode`` in float32, alone, on a sample of
the same passages in the same process, before and after it. Writes ``indexing.json`` and
``indexing.md``, where a folder's row replaces that of an earlier run.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.memory import peak_memory
from factcheck_local import __version__
from factcheck_local.evaluate.machine import machine
from factcheck_local.indexer.fingerprint import Fingerprint
from factcheck_local.indexer.store import Store
from factcheck_local.indexer.sync import SyncReport, sync
from factcheck_local.models.cards import find_card
from factcheck_local.models.embedder import SentenceTransformerEmbedder, for_passages
from factcheck_local.models.offline import go_offline
from factcheck_local.models.registry import DEFAULT_EMBEDDER, load_model

#: Passages on which plain encoding is measured, and how often; and cosines.
SAMPLE = 384
REPEATS = 3


def main() -> None:
    """Index the folders, each into a store of its own, and write what it took."""
    go_offline()
    options = _options()
    embedder: SentenceTransformerEmbedder = load_model(options.embedder, "embedder")
    path = options.out / "indexing.json"
    rows = json.loads(path.read_text()) if path.is_file() else []
    for folder in options.folders:
        row = measure(folder, embedder)
        rows = [*(r for r in rows if r["collection"] != row["collection"]), row]
    options.out.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    text = to_markdown(rows)
    (options.out / "indexing.md").write_text(text, encoding="utf-8")
    print(text)


def measure(folder: Path, embedder: SentenceTransformerEmbedder) -> dict[str, Any]:
    """All figures of one folder, which is copied first: a file of it is changed."""
    with tempfile.TemporaryDirectory() as scratch:
        corpus, place = Path(scratch) / "corpus", Path(scratch) / "store"
        shutil.copytree(folder, corpus, symlinks=True)
        fast = for_passages(embedder)
        with Store.create(place, Fingerprint.of(embedder)) as store:
            with timed() as first:
                report = sync([corpus], store, fast)
            texts = _sample(store)
            plain = [_plain(embedder, texts) for _ in range(REPEATS)]
            with timed() as again:
                unchanged = sync([corpus], store, fast)
            _edit(corpus, report)
            with timed() as edited:
                changed = sync([corpus], store, fast)
            cosines = np.einsum("ij,ij->i", fast.embed(texts), embedder.embed(texts))
            passages = store.count()
            rate = passages / first[0]
            return {
                "collection": folder.parent.name if folder.name == "html" else folder.name,
                "files": len(report.indexed),
                "skipped": len(report.skipped),
                "failed": [entry._asdict() for entry in report.failed],
                "passages": passages,
                "first_seconds": first[0],
                "passages_per_second": rate,
                "plain_float32_per_second": median(plain),
                "times_plain": rate / median(plain),
                "arithmetic": "bfloat16" if fast is not embedder else "float32",
                "lowest_cosine": float(cosines.min()),
                "unchanged_seconds": again[0],
                "times_faster_unchanged": first[0] / again[0],
                "unchanged": len(unchanged.unchanged),
                "one_changed_seconds": edited[0],
                "reindexed": len(changed.indexed),
                "store_bytes": store.size(),
                "peak_memory_bytes": peak_memory(),
                "signature": f"factcheck-local:{__version__}|{embedder.id}"
                f"@{find_card(embedder.id).sha256[:12]}|digest@{store.digest()[:12]}"
                f"|machine:{machine()}",
            }


@contextmanager
def timed() -> Iterator[list[float]]:
    """Seconds that the block takes, as the only entry of a list."""
    seconds: list[float] = []
    begun = time.perf_counter()
    yield seconds
    seconds.append(time.perf_counter() - begun)


def _sample(store: Store) -> list[str]:
    """Passages as they were embedded, evenly spread over the store."""
    passages = store._passages
    texts = sorted(entry.text for entry in passages.entries(passages.ids()))
    return texts[:: max(1, len(texts) // SAMPLE)][:SAMPLE]


def _plain(embedder: SentenceTransformerEmbedder, texts: Sequence[str]) -> float:
    """Passages a second by the library's own ``encode``, at its defaults."""
    begun = time.perf_counter()
    model: Any = embedder._model
    model.encode(list(texts), show_progress_bar=False)
    return len(texts) / (time.perf_counter() - begun)


def _edit(corpus: Path, report: SyncReport) -> None:
    """Add a sentence to a file in the middle of the collection."""
    path = corpus / report.indexed[len(report.indexed) // 2].source
    text = path.read_text(encoding="utf-8")
    place = text.rindex("</p>") if "</p>" in text else len(text)
    path.write_text(f"{text[:place]} It was changed.{text[place:]}", encoding="utf-8")


def to_markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """One table, a column for each collection."""
    lines = ["# Indexing", "", "| | " + " | ".join(r["collection"] for r in rows) + " |"]
    lines.append("|---|" + "---:|" * len(rows))
    shown: dict[str, Callable[[Mapping[str, Any]], object]] = {
        "files indexed": lambda r: f"{r['files']:,}",
        "failed": lambda r: len(r["failed"]),
        "passages": lambda r: f"{r['passages']:,}",
        "first run, s": lambda r: f"{r['first_seconds']:.1f}",
        "passages a second, all in": lambda r: f"{r['passages_per_second']:.1f}",
        "plain `encode`, float32, alone, a second": lambda r: (
            f"{r['plain_float32_per_second']:.1f}"
        ),
        "times plain `encode`": lambda r: f"{r['times_plain']:.2f}",
        "arithmetic": lambda r: r["arithmetic"],
        "lowest cosine to float32": lambda r: f"{r['lowest_cosine']:.5f}",
        "second run, nothing changed, s": lambda r: f"{r['unchanged_seconds']:.2f}",
        "times faster": lambda r: f"{r['times_faster_unchanged']:.0f}",
        "run after one file changed, s": lambda r: f"{r['one_changed_seconds']:.2f}",
        "store, MB": lambda r: f"{r['store_bytes'] / 1e6:.0f}",
        "peak memory, MB": lambda r: f"{r['peak_memory_bytes'] / 1e6:.0f}",
    }
    for name, show in shown.items():
        lines.append(f"| {name} | " + " | ".join(str(show(r)) for r in rows) + " |")
    lines += ["", *(f"{r['collection']}: `{r['signature']}`\n" for r in rows)]
    return "\n".join(lines)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="indexing of real collections")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--embedder", default=DEFAULT_EMBEDDER)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    return parser.parse_args()


if __name__ == "__main__":
    main()
