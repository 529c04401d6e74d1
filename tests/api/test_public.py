"""The names of the package's root: light to import, known to type checkers, enough for the job."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import factcheck_local
from factcheck_local import Answer, FactChecker, Record, Settings, Store, sync
from factcheck_local.core.types import Verdict
from factcheck_local.indexer.fingerprint import Fingerprint
from factcheck_local.models.embedder import SentenceTransformerEmbedder
from factcheck_local.models.fake import FakeChatModel, FakeEmbedder
from factcheck_local.models.llama_cpp import LlamaCppModel

HEAVY = "{'chromadb', 'click', 'llama_cpp', 'numpy', 'pgmpy', 'rich', 'scipy', 'torch'}"


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, timeout=120
    )


def test_every_name_is_there_and_listed() -> None:
    for name in factcheck_local.__all__:
        assert getattr(factcheck_local, name).__name__ == name
    assert set(factcheck_local.__all__) <= set(dir(factcheck_local))
    with pytest.raises(AttributeError, match="has no attribute 'Facts'"):
        _ = factcheck_local.Facts


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse(Path(factcheck_local.__file__).read_text(encoding="utf-8"))
    (seen,) = [n for n in tree.body if isinstance(n, ast.If)]
    imported = {
        a.name: i.module for i in seen.body if isinstance(i, ast.ImportFrom) for a in i.names
    }
    assert sorted(imported) == factcheck_local.__all__
    for name, module in imported.items():
        assert getattr(sys.modules[str(module)], name) is getattr(factcheck_local, name)


def test_the_package_is_light_to_import() -> None:
    done = python("-c", f"import sys, factcheck_local; print({HEAVY} & set(sys.modules))")
    assert done.stdout == "set()\n", done.stderr


def test_the_package_is_a_program() -> None:
    done = python("-m", "factcheck_local", "--version")
    assert (done.returncode, done.stdout) == (
        0,
        f"factcheck, version {factcheck_local.__version__}\n",
    )
    done = python("-m", "factcheck_local", "verify", "nothing-here.md")
    assert done.returncode == 2
    assert done.stderr == "factcheck: nothing-here.md: cannot be read: No such file or directory\n"


def test_a_store_is_made_and_filled_with_the_default_embedder(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/leave.md").write_text("# Leave\n\nEmployees receive 27 days of leave.\n")
    with Store.create(tmp_path / "store") as store:
        assert [e.source for e in sync([tmp_path / "docs"], store).indexed] == ["leave.md"]
        assert store.fingerprint.embedder.id == Settings().embedder
    with Store.create(tmp_path / "store") as store:
        assert [e.source for e in sync([tmp_path / "docs"], store).unchanged] == ["leave.md"]


def test_an_answer_is_a_record_of_which_nothing_is_known(tmp_path: Path) -> None:
    embedder = FakeEmbedder()
    with Store.create(tmp_path / "store", Fingerprint.of(embedder)) as store:
        (tmp_path / "docs").mkdir()
        (tmp_path / "docs/leave.md").write_text("# Leave\n\nEmployees receive 27 days of leave.\n")
        sync([tmp_path / "docs"], store, embedder)
        checker = FactChecker(
            Settings(relation="encoder"),
            store,
            llm=FakeChatModel(lambda m: m[-1].content.rsplit("Sentence: ", 1)[-1]),
            embedder=embedder,
        )
        answer = Answer("Employees receive 27 days of leave.")
        alone, recorded = (checker.verify(x).assessment for x in (answer, Record(answer)))
    assert alone == recorded
    assert [a.verdict for a in alone.atoms] == [Verdict.SUPPORTED]


def test_what_was_loaded_is_let_go_of_and_what_was_given_is_not(
    minilm: SentenceTransformerEmbedder, smollm: LlamaCppModel
) -> None:
    settings = Settings(llm="smollm2-135m", relation="encoder")
    with FactChecker(settings, embedder=minilm) as checker:
        loaded = checker.llm
        assert checker.llm is loaded, "once"
    assert isinstance(loaded, LlamaCppModel)
    assert checker.llm is not loaded, "it is loaded again"
    checker.close()
    with FactChecker(settings, llm=smollm, embedder=minilm) as checker:
        assert checker.llm is smollm
    assert smollm.generate([], max_tokens=1) is not None, "still in memory"
