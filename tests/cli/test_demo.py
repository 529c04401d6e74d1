"""factcheck demo: what it needs, what it leaves behind; and that the package has the handbook."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from factcheck_local.cli import demo
from factcheck_local.indexer.fingerprint import ChunkerPrint, Fingerprint
from factcheck_local.indexer.store import Store
from factcheck_local.models.embedder import SentenceTransformerEmbedder
from factcheck_local.models.fake import FakeChatModel, FakePairClassifier
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.relation import CalibratedRelationModel
from factcheck_local.pipeline.relation.encoder import EncoderPairScorer

from .helpers import SMALL, factcheck, refused

ROOT = Path(__file__).resolve().parents[2]


def of_probation(premise: str, hypothesis: str) -> tuple[float, float, float]:
    """Reads only what is of probation, and believes it."""
    both = "probation" in premise.lower() and "probation" in hypothesis.lower()
    return (0.9, 0.05, 0.05) if both else (0.02, 0.02, 0.96)


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch, minilm: SentenceTransformerEmbedder) -> None:
    """The demo with models that are scripted, but for the embedder."""

    class Faked(FactChecker):
        def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401
            super().__init__(
                *arguments,
                llm=FakeChatModel(lambda m: m[-1].content.rsplit("Sentence: ", 1)[-1]),
                embedder=minilm,
                relation_model=CalibratedRelationModel(
                    EncoderPairScorer(FakePairClassifier(of_probation))
                ),
                **options,
            )

    monkeypatch.setattr(demo, "FactChecker", Faked)


@pytest.mark.usefixtures("scripted")
def test_the_sample_is_verified_and_its_report_is_there(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    done = factcheck("demo", "--folder", folder, "--llm", SMALL)
    assert done.code == 0, done.err
    assert "policies/employment-terms.md" in done.out
    assert done.err.splitlines()[-1] == f"to review it in a browser: {folder / 'onboarding.html'}"
    assert (folder / "onboarding.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    run = json.loads((folder / "onboarding.json").read_text(encoding="utf-8"))
    assert run["answer"]["path"] == "onboarding.md"
    assert not any(c["source"].startswith("answers/") for c in run["contexts"])
    rules = [c["prior_rule"] for c in run["contexts"]]
    assert any(rule.startswith("policies/**") for rule in rules), "its own profile"


@pytest.mark.usefixtures("scripted")
def test_the_demo_s_own_store_is_made_again_after_an_upgrade(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, minilm: SentenceTransformerEmbedder
) -> None:
    monkeypatch.setattr(demo, "data_directory", lambda: tmp_path)
    place = tmp_path / "demo" / ".factcheck"
    old = replace(Fingerprint.of(minilm), chunker=ChunkerPrint(version=1))
    Store.create(place, old).close()
    # A folder that somebody names may hold their own.
    left = factcheck("demo", "--folder", tmp_path / "demo", "--llm", SMALL)
    assert left.code == 2
    assert f"(try: factcheck index --rebuild PATH... --store {place})" in left.err
    with Store.open(place) as store:
        assert store.fingerprint == old
    done = factcheck("demo", "--llm", SMALL)
    assert done.code == 0, done.err
    with Store.open(place) as store:
        assert store.fingerprint == Fingerprint.of(minilm)


def test_models_that_are_missing_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FACTCHECK_HOME", str(tmp_path / "empty"))
    said = refused("demo", "--folder", tmp_path / "demo")
    assert said.startswith("the demo needs models that are not here: all-minilm-l6-v2 (")
    assert said.endswith("(try: factcheck models pull all-minilm-l6-v2 qwen2.5-coder-1.5b)")
    assert not (tmp_path / "demo").exists()


def test_models_are_pulled_on_consent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pulled: list[str] = []

    class Stop(Exception):
        pass

    def fetch(card: Any, **_: Any) -> bool:  # noqa: ANN401
        pulled.append(card.id)
        if len(pulled) == 2:
            raise Stop
        return True

    monkeypatch.setenv("FACTCHECK_HOME", str(tmp_path / "empty"))
    monkeypatch.setattr("factcheck_local.cli.models.pull", fetch)
    with pytest.raises(Stop):
        demo.command.main(["--pull", "--folder", str(tmp_path / "demo")], standalone_mode=False)
    assert pulled == ["all-minilm-l6-v2", "qwen2.5-coder-1.5b"]


def test_the_models_that_read_are_pulled_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FACTCHECK_HOME", str(tmp_path / "empty"))
    said = refused("demo", "--relation", "encoder+qwen2.5-coder-0.5b", "--folder", tmp_path / "d")
    assert said.endswith("all-minilm-l6-v2 qwen2.5-coder-1.5b qwen2.5-coder-0.5b)")


def test_what_a_wheel_is_made_of_has_the_handbook_and_the_schema(tmp_path: Path) -> None:
    build = ["egg_info", "--egg-base", str(tmp_path), "build_py", "--build-lib", str(tmp_path)]
    subprocess.run(
        [sys.executable, "-c", "import setuptools; setuptools.setup()", *build],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    handbook = ROOT / "corpora" / "handbook"
    files = [p.relative_to(handbook) for p in handbook.rglob("*") if p.is_file()]
    assert len(files) > 30
    built = tmp_path / "factcheck_local"
    assert [f for f in files if not (built / "sample" / "handbook" / f).is_file()] == []
    assert (built / "report" / "assessment.schema.json").is_file()
