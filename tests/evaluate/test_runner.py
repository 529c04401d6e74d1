"""Runs of a benchmark: killed and begun again, cached, with retrieval open; the command itself."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from factcheck_local.cli.bench_runs import assessors_run
from factcheck_local.core.errors import FactcheckError, InputError, RecordError, StoreError
from factcheck_local.core.types import Answer, Atom, Context, Span
from factcheck_local.evaluate import lines, summary
from factcheck_local.evaluate.collection import Collection, Item, LabelledSegment
from factcheck_local.evaluate.data import factcheckbench, felm
from factcheck_local.evaluate.lines import FILE, Results
from factcheck_local.evaluate.runner import CORPUS, Models, Trial, corpus, run
from factcheck_local.models.contracts import Message
from factcheck_local.models.fake import FakeChatModel, FakeEmbedder, FakePairClassifier
from factcheck_local.models.reply_cache import CachedChatModel
from factcheck_local.pipeline.claims.records import Record
from factcheck_local.pipeline.relation import CalibratedRelationModel, Calibration
from factcheck_local.pipeline.relation.encoder import EncoderPairScorer
from factcheck_local.pipeline.relation.llm import LlmPairScorer
from factcheck_local.pipeline.settings import Settings
from tests.cli.helpers import factcheck

ASSESSORS = ("fr1", "factscore", "factverify")


def relation(premise: str, hypothesis: str) -> tuple[float, float, float]:
    return (0.9, 0.05, 0.05) if hypothesis in premise else (0.05, 0.9, 0.05)


class Model(FakeChatModel):
    """Says of a claim what the passages say word for word; counts how often it is asked."""

    def __init__(self) -> None:
        def reply(messages: Sequence[Message]) -> str:
            *_, passages = messages[-1].content.split("Passages:")
            said, claim = passages.split("Claim: ")
            return f"Verdict: {'supported' if claim in said else 'undecided'}"

        def label(messages: Sequence[Message], ending: str, labels: Sequence[str]) -> str:
            claim = ending.split("Claim: ")[1].split("\n")[0]
            return labels[0 if claim in messages[-1].content else 1]

        super().__init__(reply, label)
        self.asked = 0

    def generate(self, messages: Sequence[Message], **how: Any) -> str:  # noqa: ANN401
        self.asked += 1
        return super().generate(messages, **how)

    def score_labels(
        self, messages: Sequence[Message], endings: Sequence[str], labels: Sequence[str]
    ) -> Any:  # noqa: ANN401
        self.asked += len(endings)
        return super().score_labels(messages, endings, labels)


def item(number: int) -> Item:
    claims = (f"Room {number} is red.", f"Room {number} is big.")
    context = Context("c0", "rooms", "", f"Room {number} is red.", 0.9)
    atoms = tuple(Atom(f"a{i}", text, text, context_ids=("c0",)) for i, text in enumerate(claims))
    record = Record(Answer(" ".join(claims)), atoms, (context,))
    return Item(f"item{number}", record, {"a0": True, "a1": False})


COLLECTION = Collection("rooms", "0" * 64, tuple(map(item, range(4))))


@pytest.fixture
def world(tmp_path: Path) -> Callable[[], tuple[Models, Model]]:
    def make() -> tuple[Models, Model]:
        model = Model()
        llm = CachedChatModel(lambda: model, model.id, model.sha256, tmp_path / "replies.sqlite")
        scorer = EncoderPairScorer(FakePairClassifier(relation))
        return Models(llm, FakeEmbedder(), CalibratedRelationModel(scorer)), model

    return make


def without_times(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{k: v for k, v in row.items() if k != "seconds"} for row in rows]


def each(assessors: Sequence[str], settings: Settings | None = None) -> dict[str, Settings]:
    """These settings for each assessor."""
    values = asdict(settings or Settings())
    return {a: Settings.effective(values | {"assessor": a}) for a in assessors}


World = Callable[[], tuple[Models, Model]]


def test_verdicts_beside_gold_labels(world: World, tmp_path: Path) -> None:
    models, _ = world()
    rows = run(COLLECTION, each(ASSESSORS), models, tmp_path / "out")
    assert [(r["assessor"], r["item"]) for r in rows] == [
        (a, i.id) for a in ASSESSORS for i in COLLECTION.items
    ]
    said = {r["assessor"]: [(a["gold"], a["verdict"]) for a in r["atoms"]] for r in rows}
    assert said == {
        "fr1": [(True, "supported"), (False, "contradicted")],
        "factscore": [(True, "supported"), (False, "unsupported")],
        "factverify": [(True, "supported"), (False, "not_found")],
    }
    assert [r["calls"] for r in rows[::4]] == [0, 2, 2]


def test_lines_made_elsewhere_are_those_made_here(world: World, tmp_path: Path) -> None:
    """What is lost there counts as not assessed, and is asked for again by the next run."""
    whole = run(COLLECTION, each(ASSESSORS), world()[0], tmp_path / "whole")
    models, _ = world()
    asked: list[int] = []

    def made(store: Path | None, trials: Mapping[int, Trial]) -> Iterator[Any]:
        assert store is None
        asked.append(len(trials))
        for number, trial in reversed(list(trials.items())):
            failed = number == 5 and len(asked) == 1
            yield number, FactcheckError("lost") if failed else trial.line(models, None)

    out = tmp_path / "out"
    found = run(COLLECTION, each(ASSESSORS), world()[0], out, elsewhere=made)
    (lost,) = (r for r in found if "failure" in r)
    assert (lost["failure"], lost["atoms"], lost["segments"]) == ("lost", [], [])
    again = run(COLLECTION, each(ASSESSORS), world()[0], out, elsewhere=made)
    assert without_times(again) == without_times(whole)
    assert asked == [len(whole), 1]


def test_killed_half_way_it_ends_with_the_same_numbers(world: World, tmp_path: Path) -> None:
    whole = run(COLLECTION, each(ASSESSORS), world()[0], tmp_path / "whole")

    def interrupt(_what: str, done: int, _all: int) -> None:
        if done == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(COLLECTION, each(ASSESSORS), world()[0], tmp_path / "out", interrupt)
    kept = (tmp_path / "out" / FILE).read_text().splitlines()
    assert len(kept) == 6
    # As a power cut leaves it: the last line is torn.
    (tmp_path / "out" / FILE).write_text("\n".join(kept[:5]) + "\n" + kept[5][:40])
    models, model = world()
    found = run(COLLECTION, each(ASSESSORS), models, tmp_path / "out")
    assert without_times(found) == without_times(whole)
    assert model.asked == 0  # the other run has asked all of it before
    again = run(COLLECTION, each(ASSESSORS), models, tmp_path / "out")
    assert again == found


def test_a_line_counts_only_for_what_it_was_made_with(world: World, tmp_path: Path) -> None:
    models, model = world()
    run(COLLECTION, each(("factscore",)), models, tmp_path)
    assert model.asked == 8
    run(COLLECTION, each(("factscore",), Settings(k=2)), models, tmp_path)
    assert len((tmp_path / FILE).read_text().splitlines()) == 8
    assert model.asked == 8  # the settings differ, the questions do not


def test_a_summary_names_the_lines_that_it_is_of(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one folder lines of two runs, of which the later one drew two of the four items."""
    models, _ = world()
    monkeypatch.setattr(Models, "of", lambda _settings, _llm: models)
    told = []
    for limit, settings in ((None, Settings()), (2, Settings(k=2))):
        signed = summary.Signed("rooms", "factcheck bench rooms", "", "", {}, limit, 0)
        assessors_run(COLLECTION, each(("fr1",), settings), models.llm, tmp_path, signed)
        told.append(json.loads((tmp_path / summary.SUMMARY).read_text())["keys"])
    kept = [json.loads(line)["key"] for line in (tmp_path / FILE).read_text().splitlines()]
    assert (kept[:4], kept[4:]) == tuple(told)


def test_other_code_makes_lines_anew_and_asks_nothing_again(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models, model = world()
    first = run(COLLECTION, each(("factscore",)), models, tmp_path)
    monkeypatch.setattr(lines, "sources_digest", lambda: "of another version")
    again = run(COLLECTION, each(("factscore",)), models, tmp_path)
    assert len((tmp_path / FILE).read_text().splitlines()) == 8
    assert {r["key"] for r in first}.isdisjoint(r["key"] for r in again)
    assert model.asked == 8


def test_the_code_that_decides_is_part_of_a_line_s_key(tmp_path: Path) -> None:
    """Of a package laid out like this one; what only shows figures is none of it."""
    shown = ("evaluate/scores.py", "report/render.py", "cli/bench.py")
    decides = ("pipeline/verdicts/decide.py", "markov/exact.py", "models/cards/a.toml")

    def package(changed: str = "") -> Path:
        made = tmp_path / (changed.replace("/", "-") or "as it was")
        own = ("runner", "atoms", "factor")
        for name in (*shown, *decides, *(f"evaluate/{n}.py" for n in own)):
            (made / name).parent.mkdir(parents=True, exist_ok=True)
            (made / name).write_text("2" if name == changed else "1")
        return made

    before = lines.sources_digest(package())
    assert [lines.sources_digest(package(name)) == before for name in shown] == [True] * 3
    for name in (*decides, "evaluate/runner.py"):
        assert lines.sources_digest(package(name)) != before, name
    assert lines.sources_digest() not in (before, hashlib.sha256().hexdigest())


def test_another_calibration_makes_another_line(world: World, tmp_path: Path) -> None:
    models, _ = world()
    scorer = EncoderPairScorer(FakePairClassifier(relation))
    other = replace(models, relation=CalibratedRelationModel(scorer, Calibration(0.5)))
    said = [run(COLLECTION, each(("fr1",)), m, tmp_path) for m in (models, other)]
    first, again = (rows[0]["atoms"][0]["probability"] for rows in said)
    assert first > again


def test_other_settings_of_the_network_ask_the_llm_nothing(world: World, tmp_path: Path) -> None:
    """Where the relation model is the LLM: pairs do not depend on what is made of them."""
    models, model = world()
    relation = CalibratedRelationModel(LlmPairScorer(models.llm))
    models = replace(models, relation=relation)
    run(COLLECTION, each(("fr2",)), models, tmp_path)
    assert model.asked == 8
    for other in (Settings(relation_correlation=0.0), Settings(strong=0.9)):
        run(COLLECTION, each(("fr2",), other), models, tmp_path)
    assert len((tmp_path / FILE).read_text().splitlines()) == 3 * len(COLLECTION.items)
    assert model.asked == 8


def test_documents_that_have_changed_are_indexed_again(world: World, tmp_path: Path) -> None:
    """The same folder of results with newer data, here one document in a folder of its own."""
    atom = Atom("a0", "Room 1 is red.", "Room 1 is red.")
    given = Item(
        "one", Record(Answer("Room 1 is red."), (atom,)), {"a0": True}, where=("source=a/*",)
    )
    said = []
    for text in ("Room 1 is red.", "Room 1 is blue."):
        data = Collection("open", "0" * 64, (given,), {"a/room.txt": text, "b/room.txt": atom.text})
        (row,) = run(data, each(("factscore",), Settings(k=1)), world()[0], tmp_path / "out")
        said.append(row["atoms"][0]["verdict"])
    assert said == ["supported", "unsupported"]


def test_documents_of_other_data_are_gone(world: World, tmp_path: Path) -> None:
    """The claim's passage was in what was measured here before, and is not in this."""
    atom = Atom("a0", "Room 1 is red.", "Room 1 is red.")
    given = Item("one", Record(Answer("Room 1 is red."), (atom,)), {"a0": True})
    said = []
    for documents in ({"a/red.txt": atom.text, "b.txt": "Halls are old."}, {"b.txt": "Halls are."}):
        data = Collection("open", "0" * 64, (given,), documents)
        (row,) = run(data, each(("factscore",), Settings(k=1)), world()[0], tmp_path / "out")
        said.append(row["atoms"][0]["verdict"])
    assert said == ["supported", "unsupported"]


def test_what_somebody_else_put_into_the_folder_for_results_stays(
    world: World, tmp_path: Path
) -> None:
    """Also where it is called as what a benchmark makes."""
    atom = Atom("a0", "Room 1 is red.", "Room 1 is red.")
    given = Item("one", Record(Answer("Room 1 is red."), (atom,)), {"a0": True})
    data = Collection("open", "0" * 64, (given,), {"red.txt": atom.text})
    mine = [tmp_path / name / "notes" / "mine.md" for name in ("documents", "store")]
    for file in mine:
        file.parent.mkdir(parents=True)
        file.write_text("Mine.")
    for _ in range(2):
        (row,) = run(data, each(("factscore",), Settings(k=1)), world()[0], tmp_path)
        assert row["atoms"][0]["verdict"] == "supported"
    assert [file.read_text() for file in mine] == ["Mine."] * 2
    taken = tmp_path / "other" / CORPUS / "documents" / "mine.md"
    taken.parent.mkdir(parents=True)
    taken.write_text("Mine.")
    with pytest.raises(InputError, match="corpus: is there, and no benchmark made it"):
        run(data, each(("factscore",)), world()[0], tmp_path / "other")
    assert [file.name for file in (tmp_path / "other").rglob("*")] == [
        *(CORPUS, "documents", "mine.md")
    ]


def named_felm(folder: Path, name: str) -> Collection:
    row = {"index": name, "prompt": "?", "segmented_response": [], "labels": []}
    (folder / "felm.jsonl").write_text(json.dumps({**row, "ref_contents": "text " * 50}))
    return felm.load(folder, oracle=False)


def named_factcheckbench(folder: Path, name: str) -> Collection:
    sentence = {
        "claims": ["A."],
        "claims_factuality_label": [True],
        "auto_evidence": [["A passage."]],
    }
    row = {"id": name, "prompt": "?", "response": "A.", "sentences": {"s": sentence}}
    (folder / "responses.jsonl").write_text(json.dumps(row))
    return factcheckbench.load(folder, oracle=False)


@pytest.mark.parametrize("load", [named_felm, named_factcheckbench])
@pytest.mark.parametrize("name", ["/../../../evil", "\0"])
def test_data_write_nothing_beside_their_folder(
    load: Callable[[Path, str], Collection], name: str, tmp_path: Path
) -> None:
    data = load(tmp_path, name)
    before = set(tmp_path.rglob("*"))
    with (
        pytest.raises(RecordError, match=f"{data.name}: a document cannot be called '"),
        corpus(data, FakeEmbedder(), tmp_path / "out"),
    ):
        pass
    made = set(tmp_path.rglob("*")) - before
    assert all(path.is_relative_to(tmp_path / "out") for path in made)
    with corpus(load(tmp_path, "1"), FakeEmbedder(), tmp_path / "out") as store:
        assert store is not None
        assert store.count() == 1


def test_a_stretch_that_repeats_a_claim_has_its_verdict(world: World, tmp_path: Path) -> None:
    text = "Room 1 is big. Room 1 is big."
    first, again = Span(0, 14), Span(15, 29)
    atom = Atom("a0", "Room 1 is big.", "Room 1 is big.", span=first, repeats=(again,))
    context = Context("c0", "rooms", "", "Room 1 is red.", 0.9)
    record = Record(Answer(text), (replace(atom, context_ids=("c0",)),), (context,))
    segments = tuple(LabelledSegment(s, wrong=True) for s in (first, again))
    data = Collection("rooms", "0" * 64, (Item("one", record, {}, segments=segments),))
    (row,) = run(data, each(("factscore",)), world()[0], tmp_path)
    assert row["segments"][0]["unsupported"] is True
    assert row["segments"][1] == row["segments"][0]


def test_a_stretch_without_a_claim_is_not_wrong(world: World, tmp_path: Path) -> None:
    """As in FELM; what was not scored is apart."""
    text = "Room 1 is big. Well. Room 1 is red."
    spans = (Span(0, 14), Span(15, 20))
    atom = Atom("a0", "Room 1 is big.", "Room 1 is big.", span=spans[0], context_ids=("c0",))
    record = Record(Answer(text), (atom,), (Context("c0", "rooms", "", "Room 1 is red.", 0.9),))
    segments = tuple(LabelledSegment(s, wrong=True) for s in spans)
    data = Collection("rooms", "0" * 64, (Item("one", record, {}, segments=segments),))
    (row,) = run(data, each(("factscore",)), world()[0], tmp_path)
    assert [(s["wrong"], s["unsupported"]) for s in row["segments"]] == [
        (True, True),
        (False, False),
    ]


def test_cost_counts_what_was_said_before(world: World, tmp_path: Path) -> None:
    first = world()[0]
    run(COLLECTION, each(("factscore",)), first, tmp_path / "a")
    second = world()[0]
    run(COLLECTION, each(("factscore",)), second, tmp_path / "b")
    assert (second.llm.calls, second.llm.seconds) == (first.llm.calls, first.llm.seconds)
    assert second.llm.waited == 0.0


def test_an_item_that_fails_is_counted_and_the_others_go_on(world: World, tmp_path: Path) -> None:
    empty = Item("none", Record(Answer("Room 9 is red."), (Atom("a0", "x", "x"),)), {"a0": True})
    mixed = Collection("rooms", "0" * 64, (empty, item(1)))
    rows = run(mixed, each(("fr1",)), world()[0], tmp_path)
    assert rows[0]["failure"] == "no store to retrieve from"
    assert rows[1]["atoms"]


def test_retrieval_is_open_over_the_documents_or_an_item_s_own(
    world: World, tmp_path: Path
) -> None:
    """The same claim finds its passage among all documents, and not where they are another's."""
    documents = {"red.txt": "Room 1 is red.", "blue.txt": "Hall 7 is blue and old."}
    atom = Atom("a0", "Room 1 is red.", "Room 1 is red.")
    record = Record(Answer("Room 1 is red."), (atom,))
    items = (
        Item("all", record, {"a0": True}),
        Item("own", record, {"a0": True}, where=("source=red.txt",)),
        Item("other", record, {"a0": True}, where=("source=blue.txt",)),
        Item("none", record, {"a0": True}, where=("source=green.txt",)),
    )
    models, _ = world()
    opened = Collection("open", "0" * 64, items, documents)
    rows = run(opened, each(("factscore",), Settings(k=1)), models, tmp_path / "out")
    assert [r["atoms"][0]["verdict"] for r in rows] == [
        *("supported", "supported"),
        *("unsupported", "unsupported"),
    ]
    assert run(opened, each(("factscore",), Settings(k=1)), models, tmp_path / "out") == rows


def test_results_are_made_once(tmp_path: Path) -> None:
    made: list[int] = []

    def make() -> dict[str, Any]:
        made.append(1)
        return {"value": len(made)}

    assert Results(tmp_path).get("k", make) == {"value": 1}
    assert Results(tmp_path).get("k", make) == {"value": 1}


def test_a_damaged_cache_of_replies_is_said(world: World, tmp_path: Path) -> None:
    (tmp_path / "replies.sqlite").write_bytes(b"no database at all" * 100)
    with pytest.raises(StoreError, match="the cache of replies cannot be used"):
        world()


FACTOR = (
    "context,completion,contradiction_0,contradiction_1,contradiction_2\n"
    "The bridge was built by the city.,It opened in 1911.,It opened in 1921.,"
    "It never opened.,It opened in 1931.\n"
    "Lunch is at noon.,Guests pay 9 euros.,Guests pay 12 euros.,"
    "Guests pay nothing.,Guests pay 90 euros.\n"
)


def test_the_command_on_the_shipped_encoder(tmp_path: Path) -> None:
    """Figures, pictures and the command that makes them again."""
    (tmp_path / "expert_factor.csv").write_text(FACTOR)
    out = tmp_path / "out"
    asked = ("bench", "factor", "--data", tmp_path, "--relation", "encoder", "--output", out)
    found = factcheck(*asked, "--cache", tmp_path / "cache")
    assert found.code == 0
    result = json.loads((out / summary.SUMMARY).read_text())
    assert result["methods"]["encoder"]["pairs"] == 8
    assert 0.5 < result["methods"]["encoder"]["measures"]["auroc_contradiction"]["value"] <= 1
    assert result["command"] == f"factcheck bench factor --data {tmp_path.name} --relation encoder"
    assert (out / "roc-contradiction.png").read_bytes().startswith(b"\x89PNG")
    assert (out / summary.TABLE).read_text() == found.out.rstrip("\n") + "\n"
    assert len((out / FILE).read_text().splitlines()) == 2


def test_data_that_are_not_there(tmp_path: Path) -> None:
    found = factcheck("bench", "wice", "--data", tmp_path, "--output", tmp_path / "out")
    assert found.code == 2
    assert "dev.jsonl: cannot be read" in found.err
