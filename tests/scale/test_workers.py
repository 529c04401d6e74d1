"""Answers over two nodes of Ray on this machine: real workers, store, embedder and encoder.

One node dies on the way.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.ray_nodes import Nodes, two_nodes
from factcheck_local.core.errors import (
    EgressError,
    FactcheckError,
    InferenceError,
    InputError,
    ModelError,
)
from factcheck_local.core.types import Answer
from factcheck_local.indexer.fingerprint import Fingerprint
from factcheck_local.indexer.store import Store
from factcheck_local.indexer.sync import sync
from factcheck_local.models.contracts import FloatArray
from factcheck_local.models.embedder import SentenceTransformerEmbedder
from factcheck_local.pipeline.claims.records import Record
from factcheck_local.pipeline.settings import Settings
from factcheck_local.scale import embedding as embedding_module
from factcheck_local.scale import pool as pool_module
from factcheck_local.scale.cluster import ATTEMPTS, connected
from factcheck_local.scale.embedding import EmbeddingWorker, SharedEmbedder
from factcheck_local.scale.pool import Pool
from factcheck_local.scale.worker import Outcome, Plan, Task, Tasks, Worker
from tests.cli.helpers import factcheck, refused

pytestmark = pytest.mark.long

COUNT = 8
OPTIONS = ("verify", "a.jsonl", "--relation", "encoder", "--set", "assessor=fr1")

PAGES = {
    "leave.md": "Full-time staff get 25 days of leave a year.\n\nLeave lapses at the end of March.",
    "pay.md": "Pay comes at the end of the month.\n\nOvertime is paid with the next pay.",
}


def record(number: int) -> dict[str, Any]:
    """Claims that differ from answer to answer, so that no score is known before."""
    claims = [
        f"Staff number {number} gets {number} days of leave.",
        f"Leave of {number} days lapses in March.",
        f"Pay number {number} comes at the end of the month.",
        f"Overtime of {number} hours is paid at once.",
    ]
    atoms = [{"id": f"a{i}", "text": text} for i, text in enumerate(claims)]
    return {"output": " ".join(claims), "atoms": atoms}


@pytest.fixture(scope="module")
def ray() -> Iterator[Nodes]:
    with two_nodes() as nodes:
        yield nodes


@pytest.fixture(scope="module")
def desk(
    tmp_path_factory: pytest.TempPathFactory, minilm: SentenceTransformerEmbedder
) -> Iterator[Path]:
    """A store, answers, and the reports that a plain run makes of them."""
    folder = tmp_path_factory.mktemp("desk")
    (folder / "docs").mkdir()
    for name, text in PAGES.items():
        (folder / "docs" / name).write_text(text)
    with Store.create(folder / ".factcheck", Fingerprint.of(minilm)) as store:
        sync([folder / "docs"], store, minilm)
    lines = [json.dumps(record(n)) for n in range(COUNT)]
    (folder / "a.jsonl").write_text("\n".join(lines))
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        plain = factcheck(*OPTIONS, "--output", "plain", "--no-cache")
        assert plain.code == 0, plain.err
        yield folder


def reports(folder: Path) -> dict[str, Any]:
    """Every file by name, without its times."""
    found: dict[str, Any] = {}
    for path in folder.iterdir():
        found[path.name] = re.sub("time: .*", "", path.read_text())
        if path.suffix == ".json" and path.stem != "summary":
            found[path.name] = json.loads(found[path.name])
            del found[path.name]["run"]["started"], found[path.name]["run"]["seconds"]
    return found


# Ray takes one to two minutes until it knows of the death.
@pytest.mark.skipif("RAY_NODES" not in os.environ, reason="slow; make scale runs it")
def test_a_node_dies_on_the_way(ray: Nodes, desk: Path) -> None:
    """Everything is there, nothing doubled, and as the plain run made it."""
    out = desk / "out"

    def kill() -> None:
        until = time.monotonic() + 200
        while len(list(out.glob("a-*.json"))) < 2 and time.monotonic() < until:
            time.sleep(0.01)
        ray.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    done = factcheck(*OPTIONS, "--output", "out", "--workers", ray.address, "--no-cache")
    killer.join()
    assert done.code == 0
    # Those in its place are lost as well, until the node is known to be dead.
    assert re.match(r"0 answers were unchanged; [1-9] workers were lost\n", done.err)
    assert f"{COUNT} answers verified, 0 failed" in done.err
    assert reports(out) == reports(desk / "plain")

    (out / "a-3.json").unlink()
    again = factcheck(*OPTIONS, "--output", "out", "--workers", ray.address, "--no-cache")
    assert again.err.startswith(f"{COUNT - 1} answers were unchanged; ")
    assert f"{COUNT} answers verified, 0 failed" in again.err
    assert reports(out) == reports(desk / "plain")


@pytest.mark.parametrize("workers", [True, False])
def test_several_answers_are_read_together(ray: Nodes, desk: Path, workers: bool) -> None:
    """In reports as they are one by one; those that hold are not verified again."""
    out = f"together-{workers}"
    command: tuple[str, ...] = (*OPTIONS, "--output", out, "--together", "3")
    command = (*command, "--workers", ray.address) if workers else command
    done = factcheck(*command)
    assert done.code == 0, done.err
    assert reports(desk / out) == reports(desk / "plain")
    (desk / out / "a-3.json").unlink()
    again = factcheck(*command)
    if workers:
        assert f"{COUNT - 1} answers were unchanged" in again.err
    else:
        assert again.err.count("unchanged, not verified again") == COUNT - 1
    assert reports(desk / out) == reports(desk / "plain")


def test_past_runs_are_repeated_by_workers(ray: Nodes, desk: Path) -> None:
    """As in one process, apart from times; those that hold are not asked for."""
    (desk / "past").mkdir()
    names = [f"past/a-{number}.json" for number in (1, 2)]
    for name in names:
        (desk / name).write_text((desk / "plain" / Path(name).name).read_text())
    command = ("recheck", *names, "--json")
    skipped = factcheck(*command, "--workers", ray.address)
    assert [row["skipped"] for row in json.loads(skipped.out)] == [
        "the index is the same as in the run"
    ] * 2
    plain = factcheck(*command, "--all")
    assert (plain.code, len(json.loads(plain.out))) == (0, 2), plain.err
    shared = factcheck(*command, "--all", "--write", "--workers", ray.address)
    assert (shared.code, json.loads(shared.out)) == (
        plain.code,
        [row | {"written": True} for row in json.loads(plain.out)],
    )
    again = json.loads((desk / names[0]).read_text())
    assert again["notes"][-1].startswith("the claims are those of the run of ")


def test_a_benchmark_by_workers_has_the_lines_of_one_made_here(ray: Nodes, desk: Path) -> None:
    corpus = desk / "corpus"
    (corpus / "answers").mkdir(parents=True)
    for name, text in PAGES.items():
        (corpus / name).write_text(text)
    for number in (1, 2):
        text = f"Leave is {number} days. Pay comes late."
        parts = (("a", 0, text.index(".") + 1), ("b", text.index("Pay"), len(text)))
        labels = {
            "question": "Well?",
            "answer": f"{number}.md",
            "claims": [
                {"id": id_, "text": text[start:end], "original": text[start:end]}
                | {"start": start, "end": end, "label": "contradicted"}
                for id_, start, end in parts
            ],
        }
        (corpus / "answers" / f"{number}.md").write_text(text)
        (corpus / "answers" / f"{number}.labels.json").write_text(json.dumps(labels))
    command = (
        "bench",
        "handbook",
        "--data",
        "corpus",
        "--assessor",
        "fr1",
        "--relation",
        "encoder",
    )
    plain = factcheck(*command, "--output", "b1")
    shared = factcheck(*command, "--output", "b2", "--workers", ray.address)
    assert (plain.code, shared.code) == (0, 0), shared.err
    assert "0 workers were lost" in shared.err

    def lines(folder: str) -> dict[str, Any]:
        rows = map(json.loads, (desk / folder / "items.jsonl").read_text().splitlines())
        return {row["key"]: {k: v for k, v in row.items() if k != "seconds"} for row in rows}

    assert len(lines("b1")) == 2
    assert lines("b2") == lines("b1")
    again = factcheck(*command, "--output", "b2", "--workers", ray.address)
    assert (again.code, "workers were lost" in again.err) == (0, False), "nothing was left to do"
    assert "--workers is for assessors; factor has none" in refused(
        "bench", "factor", "--data", "corpus", "--workers", "ray"
    )


# ------------------------------------------------------------------ what goes wrong


class Scripted(Worker):
    """What an answer says happens to the worker; no models."""

    def ready(self) -> dict[str, Any] | FactcheckError:
        return {"version": "1"}

    def verify(self, tasks: Tasks) -> dict[int, Outcome] | FactcheckError:
        found: dict[int, Outcome] = {}
        for number, task in tasks.by_number.items():
            said = task.record.answer.text
            if said == "end":
                os._exit(1)
            if said == "raise":
                raise MemoryError
            try:
                if said == "reach":
                    socket.create_connection(("192.0.2.1", 9), timeout=1)
            except FactcheckError as error:
                return error
            found[number] = InferenceError("no answer") if said == "fail" else {"said": said}
        return found


class Other(Scripted):
    """Never like another one."""

    def ready(self) -> dict[str, Any] | FactcheckError:
        return {"version": str(os.getpid())}

    def verify(self, tasks: Tasks) -> dict[int, Outcome] | FactcheckError:  # noqa: ARG002
        time.sleep(100)  # the run ends before, when another one is ready
        return {}


def outcomes(
    module: Any,  # noqa: ANN401
    *texts: str,
    kind: type[Worker] = Scripted,
    at_once: int = 1,
) -> dict[int, Any]:
    found: dict[int, Any] = {}
    pool = Pool(module, Plan(Settings(), None, Path()), kind)
    tasks = {n: Task(Record(Answer(text))) for n, text in enumerate(texts)}
    groups = [
        (first, Tasks({n: tasks[n] for n in range(first, min(first + at_once, len(texts)))}))
        for first in range(0, len(texts), at_once)
    ]
    for first, outcome in pool.verify(groups):
        by_number = {first: outcome} if isinstance(outcome, FactcheckError) else outcome
        assert not by_number.keys() & found.keys()
        found |= {n: str(o) if isinstance(o, FactcheckError) else o for n, o in by_number.items()}
    return found


def test_a_lost_worker_is_replaced_and_its_answer_given_up(ray: Nodes) -> None:
    ray.complete()
    with connected(ray.address) as module:
        module.cloudpickle.register_pickle_by_value(sys.modules[__name__])
        assert outcomes(module, "a", "raise", "b", "fail", "c") == {
            **{0: {"said": "a"}, 2: {"said": "b"}, 3: "no answer", 4: {"said": "c"}},
            1: f"{ATTEMPTS} workers were lost over it: MemoryError",
        }
        (why,) = outcomes(module, "end").values()
        assert why == f"{ATTEMPTS} workers were lost over it: ActorDiedError"
        with pytest.raises(EgressError, match=r"^worker on \S+: 192\.0\.2\.1:9: refused"):
            outcomes(module, "reach")
        with pytest.raises(FactcheckError, match="is not like the others: version "):
            outcomes(module, "a", "b", kind=Other)


def test_of_answers_that_a_worker_is_lost_over_the_others_are_verified(ray: Nodes) -> None:
    with connected(ray.address) as module:
        module.cloudpickle.register_pickle_by_value(sys.modules[__name__])
        assert outcomes(module, "a", "end", "b", "fail", at_once=2) == {
            **{0: {"said": "a"}, 2: {"said": "b"}, 3: "no answer"},
            1: f"{ATTEMPTS} workers were lost over it: ActorDiedError",
        }


class Known(Scripted):
    """One whose process can be found: a file in the plan's folder has its number as its name."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self._place = plan.seen_from

    def ready(self) -> dict[str, Any] | FactcheckError:
        (self._place / str(os.getpid())).touch()
        return super().ready()


def test_a_worker_that_died_while_it_waited_does_not_count_against_an_answer(
    ray: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_module, "ATTEMPTS", 1)

    def tasks() -> Iterator[tuple[int, Tasks]]:
        # The first is asked for when a worker waits for it.
        for process in tmp_path.iterdir():
            os.kill(int(process.name), signal.SIGKILL)
        yield 0, Tasks({n: Task(Record(Answer(text))) for n, text in enumerate(("a", "b"))})

    with connected(ray.address) as module:
        module.cloudpickle.register_pickle_by_value(sys.modules[__name__])
        pool = Pool(module, Plan(Settings(), None, tmp_path), Known)
        assert list(pool.verify(tasks())) == [(0, {0: {"said": "a"}, 1: {"said": "b"}})]
    assert pool.lost >= 1


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--workers", "ray"), "--workers needs --output FOLDER (try: factcheck verify --help)"),
        (("--workers", "ray://x", "--output", "new"), "expected ray or ray://HOST:PORT"),
        (("--workers", "http://x:1", "--output", "new"), "expected ray or ray://HOST:PORT"),
    ],
)
def test_what_cannot_be_meant(desk: Path, options: tuple[str, ...], why: str) -> None:
    assert why in refused(*OPTIONS, *options)
    assert not (desk / "new").exists()


def test_ray_that_is_not_there(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    said = refused(*OPTIONS, "--workers", "ray", "--output", str(desk / "new"))
    assert said == "--workers: Ray is not installed (try: pip install 'factcheck-local[scale]')"


def test_a_port_that_is_none() -> None:
    expected = r"^ray://h:99999: no cluster of Ray: Port out of range"
    with pytest.raises(InputError, match=expected), connected("ray://h:99999"):
        pytest.fail("connected")


@pytest.mark.parametrize("error", [OSError, RuntimeError, ValueError])
def test_ray_that_does_not_start(monkeypatch: pytest.MonkeyPatch, error: type[Exception]) -> None:
    def fail(**_options: object) -> None:
        raise error("Traceback\n  no room in /dev/shm")

    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_AUTH_TOKEN", "0")
    monkeypatch.setattr("ray.init", fail)
    expected = r"^Ray does not start here: no room in /dev/shm$"
    with pytest.raises(InputError, match=expected), connected(None):
        pytest.fail("connected")


# ------------------------------------------------------------------ an index by workers


class Mortal(EmbeddingWorker):
    """Ends over the text "end", and fails over "fail"; no models."""

    def ready(self) -> tuple[str, str, int] | FactcheckError:
        return ("mortal", "0" * 64, 2)

    def embed(self, texts: Sequence[str]) -> FloatArray | FactcheckError:
        if "end" in texts:
            os._exit(1)
        if "fail" in texts:
            return ModelError("no vectors")
        return np.array([[len(text), os.getpid()] for text in texts], dtype=np.float32)


class Different(Mortal):
    """Has another embedder than the next one."""

    def ready(self) -> tuple[str, str, int] | FactcheckError:
        return ("mortal", str(os.getpid()), 2)


def test_texts_go_to_several_workers_and_a_lost_one_is_replaced(ray: Nodes) -> None:
    with connected(ray.address) as module:
        module.cloudpickle.register_pickle_by_value(sys.modules[__name__])
        with SharedEmbedder(module, "mortal", Mortal) as shared:
            check_sharing(shared)
        with pytest.raises(ModelError, match="has another mortal than the others"):
            SharedEmbedder(module, "mortal", Different)


def check_sharing(shared: SharedEmbedder) -> None:
    assert (shared.id, shared.dimension) == ("mortal", 2)
    assert shared.workers >= 2, "one on each node"
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(shared.embed, [["a", "bb"], ["ccc"], ["d"]]))
    assert [vectors[:, 0].tolist() for vectors in found] == [[1, 2], [3], [1]]
    with pytest.raises(FactcheckError, match=f"{ATTEMPTS} workers were lost over the same"):
        shared.embed(["end"])
    assert shared.embed(["eeee"])[0, 0] == 4, "there is a new worker in the place of each"
    with pytest.raises(ModelError, match=r"^worker on \S+: no vectors"):
        shared.embed(["fail"])


class Alone(Mortal):
    """No other one starts on the node where one ended over "once", or, after "all", anywhere."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self._dead = Path(folder) / "dead"
        self._node = ray_node()

    def ready(self) -> tuple[str, str, int] | FactcheckError:
        if self._dead.exists() and self._dead.read_text() in (self._node, "all"):
            os._exit(1)
        return super().ready()

    def embed(self, texts: Sequence[str]) -> FloatArray | FactcheckError:
        if "once" in texts and not self._dead.exists():
            self._dead.write_text(self._node)
            os._exit(1)
        return super().embed(texts)


def ray_node() -> str:
    import ray

    return str(ray.get_runtime_context().get_node_id())


def processes(shared: SharedEmbedder) -> set[float]:
    """Of the workers, which embed in turn."""
    return {float(shared.embed(["a"])[0, 1]) for _ in range(2 * shared.workers)}


def test_where_no_worker_starts_again_the_others_go_on(ray: Nodes, tmp_path: Path) -> None:
    with connected(ray.address) as module:
        module.cloudpickle.register_pickle_by_value(sys.modules[__name__])
        with SharedEmbedder(module, str(tmp_path), Alone) as shared:
            before = processes(shared)
            assert len(before) == shared.workers == 2, "one on each node"
            assert shared.embed(["once"])[0, 0] == 4, "the other one has it"
            left = processes(shared)
            assert len(left) == 1
            assert left < before
            (tmp_path / "dead").write_text("all")
            # Whoever waits for a worker hears of it, too.
            with ThreadPoolExecutor(2) as pool:
                for found in [pool.submit(shared.embed, ["end"]) for _ in range(2)]:
                    with pytest.raises(FactcheckError, match=r"^no worker is left: "):
                        found.result(timeout=60)


def test_a_worker_that_died_while_it_waited_does_not_count_against_passages(
    ray: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding_module, "ATTEMPTS", 1)
    with connected(ray.address) as module:
        module.cloudpickle.register_pickle_by_value(sys.modules[__name__])
        with SharedEmbedder(module, "mortal", Mortal) as shared:
            before = processes(shared)
            for process in before:
                os.kill(int(process), signal.SIGKILL)
            after = processes(shared)
            assert len(after) == shared.workers == len(before), "another in the place of each"
            assert not after & before
            with pytest.raises(FactcheckError, match="1 workers were lost over the same passages"):
                shared.embed(["end"])


class Changed(Alone):
    """Where one ended, the next one has another embedder."""

    def ready(self) -> tuple[str, str, int] | FactcheckError:
        return ("mortal", "1" * 64 if self._dead.exists() else "0" * 64, 2)


def test_where_the_next_worker_is_refused_the_others_go_on(ray: Nodes, tmp_path: Path) -> None:
    with connected(ray.address) as module:
        module.cloudpickle.register_pickle_by_value(sys.modules[__name__])
        with SharedEmbedder(module, str(tmp_path), Changed) as shared:
            with pytest.raises(ModelError, match=r"^worker on \S+: has another .* than the others"):
                shared.embed(["once"])
            assert len(processes(shared)) == 1
            # With the last one nobody waits for a worker that does not come.
            with pytest.raises(ModelError, match="has another"):
                shared.embed(["end"])
            with pytest.raises(FactcheckError, match=r"^no worker is left: "):
                shared.embed(["a"])


def test_an_index_by_workers_is_the_one_made_here(ray: Nodes, desk: Path) -> None:
    plain, shared = desk / "s1", desk / "s2"
    assert factcheck("index", "docs", "--store", plain).code == 0
    done = factcheck("index", "docs", "--store", shared, "--workers", ray.address)
    assert done.code == 0, done.err
    with Store.open(plain) as one, Store.open(shared) as other:
        assert one.digest() == other.digest()
        ids = [id_ for id_, _ in one.query_words(["leave pay"], 10)[0]]
        assert np.array_equal(one.embeddings(ids), other.embeddings(ids))
    again = factcheck("index", "docs", "--store", shared)
    assert again.out.startswith(f"0 indexed, {len(PAGES)} unchanged")
    assert "--watch embeds here" in refused(
        "index", "docs", "--store", shared, "--workers", "ray", "--watch"
    )


# The last one: the second node stays dead.
@pytest.mark.skipif("RAY_NODES" not in os.environ, reason="slow; make scale runs it")
def test_a_node_dies_while_passages_are_embedded(ray: Nodes) -> None:
    with connected(ray.address) as module:
        module.cloudpickle.register_pickle_by_value(sys.modules[__name__])
        with SharedEmbedder(module, "mortal", Mortal) as shared:
            before = processes(shared)
            assert len(before) == 2
            ray.kill()
            until = time.monotonic() + 300
            # Its worker goes on until it notices.
            while (left := processes(shared)) == before and time.monotonic() < until:
                time.sleep(0.1)
            assert len(left) == 1
            assert left < before
