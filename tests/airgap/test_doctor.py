"""factcheck doctor: a store and models that are well, and each way in which they may not be."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from factcheck_local.core.installed import Dependency, dependencies, versions
from factcheck_local.doctor import Finding, environment, machine
from factcheck_local.doctor.models import check_models, chosen_cards
from factcheck_local.doctor.speed import check_speed
from factcheck_local.doctor.store import check_store
from factcheck_local.indexer.fingerprint import Fingerprint
from factcheck_local.indexer.lexical import LexicalEntry
from factcheck_local.indexer.store import Store
from factcheck_local.indexer.sync import sync
from factcheck_local.models.cards import data_directory, find_card, load_cards
from factcheck_local.models.embedder_export import export_embedder
from factcheck_local.models.fake import FakeEmbedder
from factcheck_local.pipeline.settings import Settings
from tests.cli.helpers import SMALL, factcheck
from tests.models.helpers import card

MINILM = "all-minilm-l6-v2"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory with the two small models, as links to where they are."""
    models = tmp_path / "home/models"
    models.mkdir(parents=True)
    for name in (SMALL, MINILM):
        shutil.copytree(find_card(name).folder, models / name, copy_function=_link)
    monkeypatch.setenv("FACTCHECK_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def _link(source: str, target: str) -> None:
    Path(target).symlink_to(source)


def found(findings: object, state: str) -> list[Finding]:
    assert not isinstance(findings, str)
    return [f for f in findings if f.state == state]  # type: ignore[attr-defined]


# ------------------------------------------------------------------------- speed


@pytest.mark.usefixtures("home")
def test_the_speed_of_what_a_run_would_load() -> None:
    settings = Settings(llm=SMALL, relation="encoder+llm")
    lines = list(check_speed(chosen_cards(settings).values(), passages=1))
    assert [line.state for line in lines] == ["ok"] * 3
    named = [line.message.split(":")[0] for line in lines]
    assert named == [MINILM, SMALL, "mpnet-l6-nli"]
    rates = [
        float(n) for line in lines for n in re.findall(r"([0-9.,]+) (?:quer|pair)", line.message)
    ]
    assert len(rates) == 3
    assert all(0 < rate < 1e6 for rate in rates)


def test_a_model_that_is_not_here_has_no_speed(home: Path) -> None:
    shutil.rmtree(home / "models" / SMALL)
    cards = chosen_cards(Settings(llm=SMALL, relation="encoder")).values()
    (line,) = found(check_speed(cards, passages=1), "problem")
    assert SMALL in line.message
    assert line.fix


# ------------------------------------------------------------------- the command


def test_an_embedder_that_was_not_exported(home: Path) -> None:
    settings = Settings(llm=SMALL, relation="encoder")
    (line,) = found(check_models(settings), "warning")
    assert (line.fix, MINILM in line.message) == (f"factcheck models pull {MINILM}", True)
    assert export_embedder(find_card(MINILM))
    assert (home / "exported").is_dir()
    assert found(check_models(settings), "warning") == []


def test_a_machine_that_is_well(home: Path, tmp_path: Path) -> None:
    docs, store = tmp_path / "docs", tmp_path / "s"
    docs.mkdir()
    (docs / "a.md").write_text("Leave is 25 days.")
    assert factcheck("index", docs, "--store", store).code == 0
    done = factcheck("doctor", "--store", store, "--llm", SMALL, "--json")
    value = json.loads(done.out)
    assert (done.code, done.err) == (0, "")
    assert {f["check"] for f in value["findings"]} == {
        *("versions", "egress", "models", "store", "gpu", "device", "memory", "disk")
    }
    assert "problem" not in {f["state"] for f in value["findings"]}
    said = [f["message"] for f in value["findings"]]
    sha256 = find_card(SMALL).sha256
    assert f"{SMALL} (llm): 98 MB, sha256 {sha256[:16]}… as its card says" in said
    assert f"{store}: 1 sources and 1 passages as indexed, embedder {MINILM}" in said

    (home / "models" / SMALL / "model.gguf").unlink()
    done = factcheck("doctor", "--store", store, "--llm", SMALL)
    assert done.code == 1
    lines = done.out.splitlines()
    (line,) = [line for line in lines if line.startswith("problem")]
    assert line.startswith(f"problem  models   model {SMALL} is not here: ")
    assert line.endswith(f"(try: factcheck models pull {SMALL})")
    assert len(lines) == len(value["findings"])
    done = factcheck("doctor", "--llm", "no-such", "--store", store, "--speed")
    assert done.code == 1
    assert {line.split()[1] for line in done.out.splitlines()}.isdisjoint({"memory", "speed"})


@pytest.mark.usefixtures("home")
def test_the_settings_are_those_of_verify_with_this_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store's own embedder, and the settings that stand beside it."""
    embedder = FakeEmbedder()
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.md").write_text("Leave is 25 days.")
    with Store.create(tmp_path / "well/s", Fingerprint.of(embedder)) as made:
        sync([tmp_path / "docs"], made, embedder)
    (tmp_path / "well/factcheck.toml").write_text('[verify]\nrelation = "encoder"\n')
    meant: list[Settings] = []

    def examine(settings: Settings, *_: object, **__: object) -> list[Finding]:
        meant.append(settings)
        return []

    monkeypatch.setattr("factcheck_local.cli.doctor.examine", examine)
    assert factcheck("doctor", "--store", tmp_path / "well/s").code == 0
    assert (meant[0].relation, meant[0].embedder) == ("encoder", embedder.id)
    assert factcheck("doctor", "--store", tmp_path / "none").code == 0
    assert meant[1] == Settings()


# ----------------------------------------------------------------- what it checks


def test_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    (shown,) = environment.check_versions()
    assert shown.state == "ok"
    assert f"chromadb {versions(dependencies())['chromadb']}" in shown.message
    lacking = (
        Dependency("numpy", ">=99", "2.4.6", "factcheck-local"),
        Dependency("uvw", ">=1", None, "xyz"),
        Dependency("click", ">=8", "8.5.1", "factcheck-local"),
    )
    monkeypatch.setattr(environment, "dependencies", lambda: lacking)
    assert [(f.message, f.fix) for f in found(environment.check_versions(), "problem")] == [
        ("factcheck-local needs numpy>=99, 2.4.6 is here", "pip install 'numpy>=99'"),
        ("xyz needs uvw>=1, which is not installed", "pip install 'uvw>=1'"),
    ]


def test_dependencies_are_all_of_them() -> None:
    known = {d.name for d in dependencies()}
    assert {"chromadb", "torch", "safetensors", "pydantic-core"} <= known  # also indirect ones
    assert not {"pytest", "uvloop-not", "pyagrum"} & known  # of extras that nobody asked for
    assert "cryptography" in known, "of the extra pypdf[crypto]"


def test_a_guard_that_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    class Deaf:
        """A socket that is let through."""

        def __enter__(self) -> Deaf:
            return self

        def __exit__(self, *_error: object) -> None: ...

        def connect(self, _address: object) -> None: ...

    monkeypatch.setattr("socket.socket", lambda *_kind: Deaf())
    (finding,) = environment.check_egress()
    assert (finding.state, finding.message) == ("problem", "the guard is off")


def test_an_altered_model(home: Path) -> None:
    path = home / "models" / MINILM / "config.json"
    text = path.read_text()
    path.unlink()
    path.write_text(text.replace("{", "{ ", 1)[:-1])
    (finding,) = found(check_models(Settings(llm=SMALL)), "problem")
    assert "config.json: sha256 is " in finding.message
    assert finding.fix is not None


def test_the_models_that_are_meant() -> None:
    def names(**settings: Any) -> set[str]:  # noqa: ANN401
        return set(chosen_cards(Settings(llm=SMALL, **settings)))

    assert names() == {MINILM, SMALL, "mpnet-l6-nli"}
    assert names(relation="llm") == {MINILM, SMALL}
    assert names(relation="encoder+qwen2.5-coder-0.5b") == {
        *(MINILM, SMALL, "mpnet-l6-nli", "qwen2.5-coder-0.5b")
    }
    assert names(relation="llm", rerank="encoder") == {MINILM, SMALL, "mpnet-l6-nli"}


# ----------------------------------------------------------------------- the store


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Two sources of two passages in all, in vectors of the fake embedder."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("Leave is 25 days.")
    (docs / "b.md").write_text("Pay is due on the last day.")
    embedder = FakeEmbedder()
    with Store.create(tmp_path / "s", Fingerprint.of(embedder)) as made:
        sync([docs], made, embedder)
    return tmp_path / "s"


def faults(store: Path) -> tuple[str, ...]:
    with Store.open(store) as opened:
        return opened.faults()


def lose_a_passage(store: Path) -> None:
    with Store.open(store) as opened:
        passages = opened._passages
        passages.delete(list(passages.of_source("a.md")))


def change_a_text(store: Path) -> None:
    with Store.open(store) as opened:
        collection = opened._passages._collection
        (id_,) = opened._passages.of_source("a.md")
        collection.update(
            ids=[id_],
            documents=["Leave is 52 days."],
            embeddings=np.ones((1, 64), dtype=np.float32),
        )


def change_a_prior(store: Path) -> None:
    with Store.open(store) as opened:
        (id_,) = opened._passages.of_source("a.md")
        opened._passages._collection.update(ids=[id_], metadatas=[{"prior": 0.99}])


def forget_a_source(store: Path) -> None:
    with Store.open(store) as opened:
        opened._manifest.delete("a.md")


def lose_words(store: Path) -> None:
    with Store.open(store) as opened:
        opened._lexical.delete(list(opened._passages.of_source("a.md")))


def add_words(store: Path) -> None:
    with Store.open(store) as opened:
        opened._lexical.write([LexicalEntry("x", "a.md", "more")])


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (
            lose_a_passage,
            ("a.md: has 0 passages, expected 1", "the index of words has 1 passages that are not"),
        ),
        (change_a_text, ("a.md: its passages are not those that were indexed",)),
        (change_a_prior, ("a.md: passages have another prior, date or access than it has",)),
        (forget_a_source, ("1 passages are of no source that the store knows",)),
        (lose_words, ("1 passages are not in the index of words",)),
        (add_words, ("the index of words has 1 passages that are not there",)),
    ],
)
def test_what_contradicts_itself(
    store: Path, damage: Callable[[Path], None], said: tuple[str, ...]
) -> None:
    assert faults(store) == ()
    damage(store)
    seen = faults(store)
    assert len(seen) == len(said)
    assert all(map(str.startswith, seen, said)), seen
    settings = Settings(embedder=MINILM)
    problems = found(check_store(store, settings), "problem")
    assert problems[0].message == f"{store}: made with embedder fake-embedder, not {MINILM}"
    assert [f.message for f in problems[1:]] == [f"{store}: {line}" for line in seen]


def test_an_interrupted_source_is_a_warning(store: Path) -> None:
    with Store.open(store) as opened:
        opened._manifest.mark_incomplete("a.md")
        opened._passages.delete(list(opened._passages.of_source("a.md")))
        opened._lexical.delete(list(opened._lexical.ids() - set(opened._passages.ids())))
    assert faults(store) == ()
    warnings = found(check_store(store, Settings()), "warning")
    assert [f.message for f in warnings] == [
        f"{store}: a.md is incomplete; its indexing was interrupted"
    ]


def test_no_store_and_a_broken_one(tmp_path: Path) -> None:
    assert [f.state for f in check_store(None, Settings())] == ["warning"]
    assert [f.state for f in check_store(tmp_path / "no", Settings())] == ["problem"]
    (tmp_path / "s").mkdir()
    (tmp_path / "s/store.json").write_text("{")
    (finding,) = check_store(tmp_path / "s", Settings())
    assert (finding.state, finding.fix) == ("problem", "factcheck index --rebuild PATH...")


def test_another_embedder_of_the_same_name(tmp_path: Path) -> None:
    made = Fingerprint.of(FakeEmbedder())
    other = replace(made.embedder, id=MINILM)
    Store.create(tmp_path / "s", replace(made, embedder=other)).close()
    (finding,) = found(check_store(tmp_path / "s", Settings()), "problem")
    assert finding.message.endswith(f"made with another {MINILM} than the one that is here")


# --------------------------------------------------------------------- the machine


@pytest.mark.parametrize(
    ("seen", "offloads", "layers", "state"),
    [
        ([], False, "0", "ok"),
        ([], False, "-1", "problem"),
        (["CUDA"], False, "0", "warning"),
        (["CUDA"], False, "8", "problem"),
        (["CUDA"], True, "0", "warning"),
        (["CUDA"], True, "-1", "ok"),
        (["CUDA"], True, "all", "problem"),
    ],
)
def test_gpu(
    seen: list[str], offloads: bool, layers: str, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import llama_cpp

    monkeypatch.setattr(machine, "gpus", lambda: seen)
    monkeypatch.setattr(llama_cpp, "llama_supports_gpu_offload", lambda: offloads)
    monkeypatch.setenv("FACTCHECK_GPU_LAYERS", layers)
    (finding,) = machine.check_gpu()
    assert finding.state == state
    assert (finding.fix is None) == (state == "ok")


@pytest.mark.parametrize(
    ("gpus", "device", "state", "said"),
    [
        (0, None, "ok", "what runs on torch computes on cpu; torch for "),
        (1, None, "warning", "what runs on torch computes on cpu; torch for "),
        (1, "cuda", "ok", "what runs on torch computes on cuda; torch for "),
        (0, "cuda", "problem", "FACTCHECK_DEVICE is 'cuda': torch finds no such device, only cpu"),
        (0, "gpu", "problem", "FACTCHECK_DEVICE is 'gpu': expected cpu, cuda, cuda:N or mps"),
    ],
)
def test_the_device_of_torch(
    gpus: int, device: str | None, state: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.device_count", lambda: gpus)
    monkeypatch.setattr("torch.cuda.get_device_name", lambda number: f"GPU {number}")
    monkeypatch.setattr("torch.backends.mps.is_available", lambda: False)
    monkeypatch.delenv("FACTCHECK_DEVICE", raising=False)
    if device is not None:
        monkeypatch.setenv("FACTCHECK_DEVICE", device)
    (finding,) = machine.check_device()
    assert (finding.check, finding.state) == ("device", state)
    assert finding.message.startswith(said)
    fixes = {"ok": None, "warning": "FACTCHECK_DEVICE=cuda:0", "problem": "FACTCHECK_DEVICE=cpu"}
    assert finding.fix == fixes[state]


def test_a_torch_that_cannot_be_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> list[str]:
        raise OSError("libcudart.so.12: cannot open shared object file")

    monkeypatch.setattr(machine, "found_devices", broken)
    (finding,) = machine.check_device()
    assert (finding.check, finding.state) == ("device", "problem")
    assert finding.message.startswith("torch cannot be loaded: libcudart.so.12: ")
    assert finding.fix is not None


def test_a_gpu_is_seen_by_its_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "find_library", {"vulkan": "libvulkan.so.1"}.get)
    monkeypatch.setattr("sys.platform", "linux")
    assert machine.gpus(tmp_path) == []
    (tmp_path / "nvidia0").touch()
    (tmp_path / "dri").mkdir()
    (tmp_path / "dri/renderD128").touch()
    assert machine.gpus(tmp_path) == ["CUDA", "Vulkan"]
    monkeypatch.setattr(machine, "find_library", lambda _name: None)
    assert machine.gpus(tmp_path) == ["CUDA"]


INFO = "CUDA : ARCHS = 890 | USE_GRAPHS = 1 | CPU : SSE3 = 1 | AVX2 = 1 | AVX512 = 0 | "


def test_what_llama_cpp_was_built_for() -> None:
    assert machine.build(INFO) == "CUDA, CPU (USE_GRAPHS, SSE3, AVX2)"
    assert machine.build("") == "nothing known"


def test_memory(tmp_path: Path) -> None:
    meminfo, group = tmp_path / "meminfo", tmp_path / "group"
    assert machine.available_memory(meminfo, group) is not None  # all of the machine's
    meminfo.write_text("MemTotal:  9 kB\nMemAvailable:    3000000 kB\n")
    assert machine.available_memory(meminfo, group) == 3_072_000_000
    group.mkdir()
    (group / "memory.current").write_text("500000000\n")
    (group / "memory.max").write_text("max\n")
    assert machine.available_memory(meminfo, group) == 3_072_000_000
    (group / "memory.max").write_text("2000000000\n")
    assert machine.available_memory(meminfo, group) == 1_500_000_000
    # Files that were read, as models are to hash them, take nothing from a program.
    (group / "memory.stat").write_text("anon 1\nfile 9\ninactive_file 300000000\nactive_file 7\n")
    assert machine.available_memory(meminfo, group) == 1_800_000_007

    needed = 1_500_000_000
    cards = [replace(card({"m": b""}), files=())]
    cards += [card({"m": b""})]
    big = replace(cards[0], files=(replace(cards[1].files[0], size=needed - machine.OVERHEAD),))
    states = {
        free: next(machine.check_memory([big], free)).state for free in (needed, needed - 1, None)
    }
    assert states == {needed: "ok", needed - 1: "problem", None: "warning"}


def test_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = replace(load_cards()["qwen2.5-coder-0.5b"], location=tmp_path / "none")
    folder, store = tmp_path / "not/yet", tmp_path
    assert [f.state for f in machine.check_disk([missing], folder, store)] == ["ok"]
    monkeypatch.setattr(machine, "free_bytes", lambda _folder: 2 * missing.size - 1)
    problem, warning = machine.check_disk([missing], folder, store)
    assert (problem.state, warning.state) == ("problem", "warning")
    assert "to pull qwen2.5-coder-0.5b takes 1.0 GB meanwhile" in problem.message
    (fine, _) = machine.check_disk([find_card(SMALL)], data_directory(), store)
    assert fine.state == "ok"


def test_faults_are_read_from_what_is_on_the_disk(store: Path) -> None:
    """The words' file says otherwise than the passages: changed by another program."""
    with sqlite3.connect(store / "lexical.sqlite3") as database:
        database.execute("DELETE FROM places WHERE source = 'b.md'")
    database.close()
    assert faults(store) == ("1 passages are not in the index of words",)
