"""The whole way, on a real store, the real embedder and a real LLM."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from factcheck_local.core.errors import InputError, ScoringError, StoreError
from factcheck_local.core.types import Answer, Verdict
from factcheck_local.indexer.fingerprint import EmbedderPrint, Fingerprint
from factcheck_local.indexer.store import Store
from factcheck_local.indexer.sync import sync
from factcheck_local.models.cards import find_card
from factcheck_local.models.contracts import Message
from factcheck_local.models.embedder import SentenceTransformerEmbedder
from factcheck_local.models.fake import FakeChatModel, FakeEmbedder, FakePairClassifier
from factcheck_local.models.llama_cpp import LlamaCppModel
from factcheck_local.models.registry import DEFAULT_ENCODER, DEFAULT_LLM
from factcheck_local.pipeline import loaded
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.claims.atomize import ADAPTED_PROMPT
from factcheck_local.pipeline.claims.records import Record, parse_record
from factcheck_local.pipeline.relation import CalibratedRelationModel
from factcheck_local.pipeline.relation.encoder import EncoderPairScorer
from factcheck_local.pipeline.relation.llm import LABELS, LlmPairScorer
from factcheck_local.pipeline.run import Run
from factcheck_local.pipeline.settings import Settings
from factcheck_local.report import to_dict
from tests.models.helpers import FakeAdaptable, FakeAdapted

pytestmark = pytest.mark.long

PAGES = {
    "policies/leave.md": "# Leave\n\nEmployees receive 27 days of annual leave.\n\n"
    "## Carry-over\n\nUp to 5 unused days can be carried over.\n",
    "drafts/leave.md": "# Leave, draft\n\nEmployees receive 30 days of annual leave.\n",
    "canteen.txt": "Lunch is served from noon. Guests pay 9 euros.\n",
}
PROFILE = """
[[source]]
match = "policies/**"
prior = 0.98
[[source]]
match = "drafts/**"
prior = 0.5
"""
ANSWER = (
    "## Leave\n\nEmployees receive 27 days of annual leave. Employees receive 30 days of annual "
    "leave. Guests pay 9 euros for lunch. The moon is made of cheese. Shall I go on?\n"
)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    for name, text in PAGES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    (root / "reliability.toml").write_text(PROFILE, encoding="utf-8")
    return root


@pytest.fixture
def store(corpus: Path, tmp_path: Path, minilm: SentenceTransformerEmbedder) -> Iterator[Store]:
    with Store.create(tmp_path / "store", Fingerprint.of(minilm)) as made:
        report = sync([corpus], made, minilm)
        assert len(report.indexed) == 3
        yield made


def by_number(premise: str, hypothesis: str) -> tuple[float, float, float]:
    """A relation model that only compares the numbers about days of leave and euros."""
    for word in ("days of annual leave", "euros"):
        if word in premise and word in hypothesis:
            said = hypothesis.split(word)[0].split()[-1]
            same = f"{said} {word}" in premise
            return (0.9, 0.05, 0.05) if same else (0.05, 0.9, 0.05)
    return (0.02, 0.02, 0.96)


def sentence(messages: Sequence[Message]) -> str:
    return messages[-1].content.rsplit("Sentence: ", 1)[1]


def scripted(
    store: Store | None,
    minilm: SentenceTransformerEmbedder,
    **settings: Any,  # noqa: ANN401
) -> FactChecker:
    return FactChecker(
        Settings(**settings),
        store,
        llm=FakeChatModel(sentence),
        embedder=minilm,
        relation_model=CalibratedRelationModel(EncoderPairScorer(FakePairClassifier(by_number))),
    )


def verdicts(run: Run) -> dict[str, Verdict]:
    return {a.atom.text: a.verdict for a in run.assessment.atoms}


def test_each_claim_gets_the_verdict_of_the_trusted_source(
    store: Store, minilm: SentenceTransformerEmbedder
) -> None:
    run = scripted(store, minilm).verify(Record(Answer(ANSWER)))
    assert verdicts(run) == {
        "Leave": Verdict.SKIPPED,
        "Employees receive 27 days of annual leave.": Verdict.SUPPORTED,
        "Employees receive 30 days of annual leave.": Verdict.CONTRADICTED,
        "Guests pay 9 euros for lunch.": Verdict.SUPPORTED,
        "The moon is made of cheese.": Verdict.NOT_FOUND,
        "Shall I go on?": Verdict.SKIPPED,
    }
    assert run.assessment.inference.exact


def test_sources_of_equal_standing_conflict(
    corpus: Path, tmp_path: Path, minilm: SentenceTransformerEmbedder
) -> None:
    (corpus / "reliability.toml").unlink()
    with Store.create(tmp_path / "equal", Fingerprint.of(minilm)) as store:
        sync([corpus], store, minilm)
        run = scripted(store, minilm).verify(Record(Answer(ANSWER)))
    assert verdicts(run)["Employees receive 27 days of annual leave."] is Verdict.CONFLICTING


def test_every_quote_is_verbatim_in_its_source(
    store: Store, corpus: Path, minilm: SentenceTransformerEmbedder
) -> None:
    found = to_dict(scripted(store, minilm).verify(Record(Answer(ANSWER))))
    contexts = {c["id"]: c for c in found["contexts"]}
    quotes = [(contexts[e["context"]], e["quote"]) for a in found["atoms"] for e in a["evidence"]]
    assert quotes
    for context, quote in quotes:
        source = (corpus / context["source"]).read_text(encoding="utf-8")
        assert source[quote["start"] : quote["end"]] == quote["text"]
        assert source[context["start"] : context["end"]] == context["text"]


@pytest.mark.parametrize("assessor", ["fr1", "fr2", "fr3", "fr4"])
def test_a_real_model_gives_the_same_bytes_twice(
    assessor: str, store: Store, minilm: SentenceTransformerEmbedder, smollm: LlamaCppModel
) -> None:
    answer = ANSWER.partition(" Guests")[0]  # two claims, which contradict each other
    found = []
    for _ in range(2):
        smollm.forget()
        checker = FactChecker(
            Settings(assessor=assessor, llm="smollm2-135m", k=2),
            store,
            llm=smollm,
            embedder=minilm,
            relation_model=CalibratedRelationModel(LlmPairScorer(smollm)),
        )
        value = to_dict(checker.verify(Record(Answer(answer, question="What of leave?"))))
        assert value["summary"]["counts"]["unscored"] == 0
        for atom in value["atoms"]:
            span = atom["span"]
            assert answer[span["start"] : span["end"]] == atom["original"]
        del value["run"]["started"], value["run"]["seconds"]
        found.append(json.dumps(value, allow_nan=False))
    assert found[0] == found[1]


def test_a_failure_is_unscored_with_its_reason(
    store: Store, minilm: SentenceTransformerEmbedder, smollm: LlamaCppModel
) -> None:
    checker = FactChecker(
        Settings(),
        store,
        llm=FakeChatModel(lambda _m: ""),
        embedder=minilm,
        relation_model=CalibratedRelationModel(LlmPairScorer(smollm)),
    )
    # More than the model can read: no pair of this atom can be scored.
    long = "Employees receive 27 days of annual leave, which is " + "very " * 5000 + "kind."
    (atom,) = checker.verify(Record(Answer(long))).assessment.atoms
    assert atom.atom.text == long
    assert atom.verdict is Verdict.UNSCORED
    assert "does not fit" in str(atom.reason)
    assert atom.probability is None


def test_a_record_brings_its_own_atoms_and_contexts(minilm: SentenceTransformerEmbedder) -> None:
    record = parse_record(
        {
            "output": "Employees receive 30 days of annual leave.",
            "atoms": [
                {
                    "id": "a0",
                    "text": "Employees receive 30 days of annual leave.",
                    "contexts": ["c0", "c1"],
                }
            ],
            "contexts": [
                {"id": "c0", "title": "t", "text": "They receive 27 days of annual leave."},
                {"id": "c1", "title": "t", "text": "They receive 27 days of annual leave."},
            ],
        },
        "record",
    )
    run = scripted(None, minilm).verify(record)
    # Two contexts of the same title and text are one witness.
    assert [c.id for c in run.assessment.contexts] == ["c0"]
    assert verdicts(run) == {"Employees receive 30 days of annual leave.": Verdict.CONTRADICTED}
    assert run.index is None


def test_a_copy_of_a_passage_is_not_read_again(minilm: SentenceTransformerEmbedder) -> None:
    text = "They receive 27 days of annual leave. " + "It is the same for everyone. " * 20
    claim = "Employees receive 27 days of annual leave."
    record = parse_record(
        {
            "output": claim,
            "atoms": [{"id": "a0", "text": claim, "contexts": ["c0", "c1", "c2"]}],
            "contexts": [
                {"id": "c0", "title": "t", "text": text},
                {"id": "c1", "title": "t", "text": text + "Thanks."},
                {"id": "c2", "title": "t", "text": text.replace("27", "30")},
            ],
        },
        "record",
    )
    classifier = FakePairClassifier(by_number)
    checker = scripted(None, minilm, assessor="fr1")
    checker.relation_model = CalibratedRelationModel(EncoderPairScorer(classifier))
    found = checker.verify(record).assessment
    assert len(classifier.calls) == 2, "the version with another number is read for itself"
    assert {(x.premise, x.label.value) for x in found.links} == {
        ("c0", "entailment"),
        ("c1", "entailment"),
        ("c2", "contradiction"),
    }
    assert found.notes == ("pairs not read but taken over from a near duplicate: 1",)


def test_the_store_keeps_what_was_read_and_gives_it_back(
    store: Store, minilm: SentenceTransformerEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the cache, without it, and over a full one: the same assessment but for the time."""
    read: list[str] = []

    def label(_messages: Sequence[Message], claim: str, labels: Sequence[str]) -> str:
        if tuple(labels) == LABELS:
            read.append(claim)
        return labels[len(claim) % 3]

    llm = FakeChatModel(sentence, label)
    card = find_card("smollm2-135m")
    monkeypatch.setattr(llm, "id", card.id)
    monkeypatch.setattr(llm, "sha256", card.sha256)

    def run(*, cache: bool) -> str:
        settings = Settings(llm=card.id, assessor="fr3")
        checker = FactChecker(settings, store, llm=llm, embedder=minilm, cache=cache)
        assert checker.llm is llm
        read.clear()
        value = to_dict(checker.verify(Record(Answer(ANSWER))))
        del value["run"]["started"], value["run"]["seconds"]
        return json.dumps(value)

    plain = run(cache=False)
    assert read
    kept = store.path / "pair-scores.sqlite"
    assert not kept.exists()
    assert run(cache=True) == plain
    assert read
    assert kept.exists()
    assert run(cache=True) == plain
    assert read == []


def test_nothing_check_worthy_is_a_state_of_its_own(
    store: Store, minilm: SentenceTransformerEmbedder
) -> None:
    found = to_dict(scripted(store, minilm).verify(Record(Answer("Shall I go on?"))))
    assert found["summary"]["precision"] is None
    assert found["summary"]["counts"]["skipped"] == 1


def test_certain_relations_leave_a_defined_posterior(
    store: Store, minilm: SentenceTransformerEmbedder
) -> None:
    checker = scripted(store, minilm)
    certain = FakePairClassifier(
        lambda p, _h: (1.0, 0.0, 0.0) if "27" in p or "30" in p else (0.0, 1.0, 0.0)
    )
    checker.relation_model = CalibratedRelationModel(EncoderPairScorer(certain))
    run = checker.verify(Record(Answer("Employees receive 27 days of annual leave.")))
    # A source that is certain of the claim and one that is certain of the opposite: since
    # priors stay inside (0, 1), one of the sources may be wrong, and Z is never 0.
    probability = run.assessment.atoms[0].probability
    assert probability is not None
    assert 0 < probability < 1


def test_a_store_of_another_embedder_is_refused(store: Store) -> None:
    checker = FactChecker(Settings(), store, llm=FakeChatModel(sentence), embedder=FakeEmbedder())
    with pytest.raises(StoreError, match="made with embedder all-minilm-l6-v2"):
        checker.verify(Record(Answer("The hub runs in Frankfurt.")))


def test_an_answer_without_a_store_says_what_to_do(minilm: SentenceTransformerEmbedder) -> None:
    with pytest.raises(StoreError) as error:
        scripted(None, minilm).verify(Record(Answer("The hub runs in Frankfurt.")))
    assert error.value.hint == "factcheck index PATH..."


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"k": 0}, "k: expected a whole number from 1 to 1000, got 0"),
        ({"assessor": "fr9"}, "assessor: expected fr1, fr2, fr3, fr4, got 'fr9'"),
        ({"atomizer": "x"}, "atomizer: expected atoms, prompted, factbench, veriscore, got 'x'"),
        ({"budget": -1}, "budget: expected a whole number from 0, or none, got -1"),
        ({"queries": "x"}, "queries: expected unit, atom, headings, question, llm, got 'x'"),
        ({"query_rounds": -1}, "query_rounds: expected a whole number from 0 to 10, got -1"),
        (
            {"queries": "llm", "query_rounds": 10**12},
            "query_rounds: expected a whole number from 0 to 10, got 1000000000000",
        ),
        ({"retrieval": "x"}, "retrieval: expected dense, lexical, fused, got 'x'"),
        ({"min_similarity": 2.0}, "min_similarity: expected a number from -1 to 1, got 2.0"),
        ({"strong": -1.0}, "strong: expected a number from 0 to 1, got -1.0"),
    ],
)
def test_settings_say_what_they_expect(values: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Settings(**values)


def test_the_line_names_every_setting() -> None:
    line = Settings().line()
    for name, value in Settings().as_dict().items():
        assert f"{name}:{value}" in line


def test_the_llm_is_loaded_once_whoever_asks_first(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[FakeChatModel] = []
    closed: list[FakeChatModel] = []

    class Closing(FakeChatModel):
        id = "smollm2-135m"

        def close(self) -> None:
            closed.append(self)

    def load(name: str, *_: str) -> FakeChatModel:
        assert name == "smollm2-135m"
        made.append(Closing(sentence))
        return made[-1]

    monkeypatch.setattr(loaded, "load_model", load)
    checker = FactChecker(Settings(llm="smollm2-135m", relation="llm"))
    for _ in range(2):
        assert checker.relation_model.id.startswith("smollm2-135m/")
        assert checker.llm is made[-1]
        checker.close()
        assert closed == made
    assert len(made) == 2, "again once it was closed"


def test_models_of_pairs_are_loaded_once_for_several_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[str] = []
    closed: list[str] = []

    class Closing(FakeChatModel):
        id = "smollm2-135m"

        def close(self) -> None:
            closed.append(self.id)

    def load(name: str, *_: str) -> FakeChatModel:
        names.append(name)
        return Closing(sentence)

    monkeypatch.setattr(loaded, "load_model", load)
    settings = Settings(llm=DEFAULT_LLM, relation="smollm2-135m")
    with FactChecker(settings) as shared:
        for _ in range(3):
            with FactChecker(settings, shared=shared) as checker:
                assert checker.relation_model.id.startswith("smollm2-135m/")
        assert (names, closed) == (["smollm2-135m"], [])
    assert closed == names


def test_a_store_without_passages_is_no_evidence(
    tmp_path: Path, minilm: SentenceTransformerEmbedder
) -> None:
    with (
        Store.create(tmp_path / "s", Fingerprint.of(minilm)) as store,
        pytest.raises(StoreError, match="holds no passages"),
    ):
        scripted(store, minilm).verify(Answer("The hub runs in Frankfurt."))


def test_conditions_that_no_source_fulfils_are_named(
    store: Store, minilm: SentenceTransformerEmbedder
) -> None:
    run = scripted(store, minilm, where=("source=polices/**",)).verify(Answer(ANSWER))
    assert "no source fulfils source=polices/**" in run.assessment.notes


HARBOUR = {
    "policies/carry.md": "# Leave\n\n## Carry-over\n\nUp to 5 unused days can be carried over.",
    "travel.md": "# Travel\n\nThis covers trips of employees of Harbour Trust.",
    "welcome.md": "# Welcome\n\nWelcome to Harbour Trust! Lunch is served from noon.",
}


def of_harbour_trust(folder: Path, minilm: SentenceTransformerEmbedder) -> Store:
    """A store of documents that two of three say are Harbour Trust's."""
    for name, text in HARBOUR.items():
        (folder / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "docs" / name).write_text(text, encoding="utf-8")
    store = Store.create(folder / "store", Fingerprint.of(minilm))
    sync([folder / "docs"], store, minilm)
    return store


@pytest.mark.parametrize(
    ("settings", "titles", "said"),
    [
        (
            {},
            [f"Harbour Trust > {t}" for t in ("Leave > Carry-over", "Travel", "Welcome")],
            True,
        ),
        (
            {"organisation": "Fen Courier"},
            [f"Fen Courier > {t}" for t in ("Leave > Carry-over", "Travel", "Welcome")],
            False,
        ),
        ({"organisation": None}, ["Leave > Carry-over", "Travel", "Welcome"], False),
        ({"where": ("source=policies/carry.md",)}, ["Leave > Carry-over"], False),
    ],
)
def test_passages_are_read_as_the_documents_of_whom_most_of_them_speak_for(
    tmp_path: Path,
    minilm: SentenceTransformerEmbedder,
    settings: dict[str, Any],
    titles: list[str],
    said: bool,
) -> None:
    with of_harbour_trust(tmp_path, minilm) as store:
        found = scripted(store, minilm, **settings).verify(Answer(ANSWER)).assessment
    by_source = sorted(found.contexts, key=lambda c: c.source)
    assert [c.title for c in by_source] == titles
    assert [c.text for c in by_source] == [HARBOUR[c.source] for c in by_source]
    assert ("passages are read as documents of Harbour Trust" in found.notes) is said


@pytest.mark.parametrize(
    ("settings", "asked"),
    [
        ({}, "How does this work at Harbour Trust?"),
        ({"organisation": "Fen Courier"}, "How does this work at Fen Courier?"),
        ({"organisation": None}, None),
        ({"where": ("source=policies/carry.md",)}, None),
    ],
)
def test_an_answer_is_split_as_one_about_whose_documents_these_are(
    tmp_path: Path,
    minilm: SentenceTransformerEmbedder,
    settings: dict[str, Any],
    asked: str | None,
) -> None:
    adapted = FakeAdapted(lambda m: m[-1].content.rsplit("Part: ", 1)[-1])
    llm = FakeAdaptable(ADAPTED_PROMPT, adapted)
    with of_harbour_trust(tmp_path, minilm) as store:
        FactChecker(Settings(**settings), store, llm=llm, embedder=minilm).atoms(Answer(ANSWER))
    (opening,) = {call[-1].content.partition("Answer:\n")[0] for call in adapted.calls}
    assert opening == (f"Question: {asked}\n\n" if asked else "")


def test_sources_that_an_indexing_run_left_half_are_named(
    store: Store, minilm: SentenceTransformerEmbedder
) -> None:
    store.begin(store.sources()[0])
    run = scripted(store, minilm).verify(Answer("Guests pay 9 euros for lunch."))
    assert "sources that an indexing run has not finished: index again: 1" in run.assessment.notes


def test_other_weights_of_the_embedder_are_refused(
    tmp_path: Path, minilm: SentenceTransformerEmbedder
) -> None:
    made = Fingerprint(EmbedderPrint(minilm.id, "1" * 64, minilm.dimension))
    with (
        Store.create(tmp_path / "s", made) as store,
        pytest.raises(StoreError, match=f"other weights of {minilm.id}") as caught,
    ):
        _ = scripted(store, minilm).embedder
    assert caught.value.hint == f"factcheck index --rebuild PATH... --store {tmp_path / 's'}"


def test_atoms_alone_say_what_failed(minilm: SentenceTransformerEmbedder) -> None:
    atoms, failures = scripted(None, minilm).atoms(Answer("The hub runs in Frankfurt."))
    assert [a.text for a in atoms] == ["The hub runs in Frankfurt."]
    assert failures == {}

    def fail(_messages: Sequence[Message]) -> str:
        raise ScoringError("does not fit")

    checker = FactChecker(Settings(), llm=FakeChatModel(fail), embedder=minilm)
    atoms, failures = checker.atoms(Answer("The hub runs in Frankfurt."))
    assert failures == {atoms[0].id: "does not fit"}


def test_markers_of_a_correction_are_no_part_of_what_is_claimed(
    minilm: SentenceTransformerEmbedder,
) -> None:
    text = (
        "The hub runs in Bonn [contradicted by hub 2.md:3]. Each rack has 4 rows.\n\n[unverified]\n"
    )
    atoms, _ = scripted(None, minilm).atoms(Answer(text))
    assert [(a.text, a.kind.check_worthy) for a in atoms] == [
        ("The hub runs in Bonn.", True),
        ("Each rack has 4 rows.", True),
        ("[unverified]", False),
    ]
    for atom in atoms:
        assert atom.span is not None
        assert atom.span.of(text) == atom.original


def test_the_marks_of_a_quotation_are_no_part_of_what_is_claimed(
    minilm: SentenceTransformerEmbedder,
) -> None:
    text = "> The hub runs\n> in Bonn. Each\n>  rack has 4 rows.\n"
    atoms, _ = scripted(None, minilm).atoms(Answer(text))
    assert [a.text for a in atoms] == ["The hub runs in Bonn.", "Each rack has 4 rows."]


def counting(queries: str, *, asked: list[str]) -> FakeChatModel:
    """Splits as `sentence` does; keeps what it is asked for search queries, and writes one."""

    def reply(messages: Sequence[Message]) -> str:
        said = messages[-1].content
        if "Claim: " not in said:
            return sentence(messages)
        asked.append(said)
        if queries == "fail":
            raise ScoringError("does not fit")
        return "found" if "\nPassages:" in said else queries

    return FakeChatModel(reply)


@pytest.mark.parametrize(
    ("queries", "notes"),
    [
        ("guests\nmoon landing", "queries not used, as they share no word with their claim: 1"),
        ("fail", "claims for which the model wrote no query, or no further one: 1"),
    ],
)
def test_queries_of_the_model_are_notes_never_verdicts(
    store: Store, minilm: SentenceTransformerEmbedder, queries: str, notes: str
) -> None:
    asked: list[str] = []
    checker = FactChecker(
        Settings(queries="llm", k=1),
        store,
        llm=counting(queries, asked=asked),
        embedder=minilm,
        relation_model=CalibratedRelationModel(EncoderPairScorer(FakePairClassifier(by_number))),
    )
    run = checker.verify(Record(Answer("Guests pay 9 euros for lunch.", question="What is it?")))
    assert verdicts(run) == {"Guests pay 9 euros for lunch.": Verdict.SUPPORTED}
    assert run.assessment.notes == (notes,)
    assert all("Question: What is it?" in prompt for prompt in asked)
    # A refinement is shown what the canteen's page says.
    refined = [prompt for prompt in asked if "\nPassages:" in prompt]
    assert len(refined) == (queries != "fail")
    assert all("Guests pay 9 euros." in prompt for prompt in refined)
    assert run.seconds["queries"] >= 0


@pytest.mark.parametrize(
    ("queries", "answer"),
    [
        ("question", Answer("Guests are treated alike.", None, "How much annual leave is there?")),
        ("headings", Answer("# Annual leave\n\nGuests are treated alike.")),
        ("unit", Answer("# Annual leave\n\nGuests are treated alike.")),
    ],
)
def test_what_surrounds_a_claim_is_looked_for_with_it(
    store: Store, minilm: SentenceTransformerEmbedder, queries: str, answer: Answer
) -> None:
    found = {}
    for way in ("atom", queries):
        checker = scripted(store, minilm, queries=way, retrieval="lexical", k=2)
        run = checker.verify(Record(answer))
        found[way] = {Path(c.source).name for c in run.assessment.contexts}
    assert found == {"atom": {"canteen.txt"}, queries: {"canteen.txt", "leave.md"}}


def test_a_reranker_is_named_in_the_run(store: Store, minilm: SentenceTransformerEmbedder) -> None:
    checker = scripted(store, minilm, rerank="encoder", k=1)
    run = checker.verify(Record(Answer("Employees receive 30 days of annual leave.")))
    assert {"role": "reranker", "id": DEFAULT_ENCODER} in [
        {k: m[k] for k in ("role", "id")} for m in run.models
    ]
    assert (store.path / "pair-scores.sqlite").exists()
    brought = Record(run.assessment.answer, contexts=run.assessment.contexts)
    assert "reranker" not in {m["role"] for m in checker.verify(brought).models}
    plain = scripted(store, minilm).verify(Record(Answer("Guests pay 9 euros for lunch.")))
    assert "reranker" not in {m["role"] for m in plain.models}


def test_a_claim_too_long_for_the_reranker_keeps_its_passages(
    store: Store, minilm: SentenceTransformerEmbedder
) -> None:
    long = "Guests pay 9 euros for " + "xqzvw " * 400 + "good lunch."
    run = scripted(store, minilm, rerank="encoder").verify(Record(Answer(long)))
    assert run.assessment.notes == (
        "claims that the reranker could not read, their order stayed: 1",
    )
    assert Verdict.UNSCORED not in verdicts(run).values()
