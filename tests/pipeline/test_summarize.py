"""Summaries of long passages: which are asked for, believed, and what they weigh."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from factcheck_local.core.errors import ScoringError
from factcheck_local.core.text.sentences import sentence_spans
from factcheck_local.core.types import Atom, Context, Relation, ScoredPair, Summary
from factcheck_local.markov import infer
from factcheck_local.models.contracts import Message
from factcheck_local.models.embedder import SentenceTransformerEmbedder
from factcheck_local.models.fake import FakeChatModel, FakePairClassifier
from factcheck_local.models.llama_cpp import LlamaCppModel
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.claims.records import parse_record
from factcheck_local.pipeline.relation import CalibratedRelationModel, Premise, relate
from factcheck_local.pipeline.relation.encoder import EncoderPairScorer
from factcheck_local.pipeline.relation.summaries import LONG, Summarized, is_borne_out, summarize
from factcheck_local.pipeline.settings import Settings
from factcheck_local.pipeline.verdicts.network import build_network, links_from
from factcheck_local.report import to_dict
from factcheck_local.report.network import links_of

PHONES = (
    "Field engineers are given a company phone on their first day. It is replaced every three "
    "years, or earlier if it breaks. Private use is allowed within the country, but not abroad. "
    "Lost phones are locked by the service desk in Lyon within 2 hours. Dr Ines Falk is "
    "responsible for the budget. Her deputy is Tomas Reed, who orders the accessories. "
)
FILLER = "The office is open on weekdays. " * 10
LONG_PASSAGE = Context("c1", "it.md", "Equipment > Phones", PHONES + FILLER, 0.9)
SHORT = Context("c2", "it.md", "Equipment", PHONES, 0.9)

CLAIMS = {"a1": "Company phones are replaced every five years.", "a2": "Cats bark."}
RIGHT = "Field engineers are given a company phone. It is replaced every three years."


def bearing(word: str, reply: str = RIGHT) -> FakeChatModel:
    """Says yes of claims that hold a word."""
    return FakeChatModel(
        lambda _m: reply, label=lambda _m, ending, _l: "yes" if word in ending else "no"
    )


# ------------------------------------------------------------------ the stage


def test_a_long_passage_is_summarised_for_the_claims_it_bears_on() -> None:
    model = bearing("phones")
    pairs = [("c1", "a1"), ("c1", "a2"), ("c2", "a1"), ("c1", "c2")]
    found = summarize(pairs, [LONG_PASSAGE, SHORT], CLAIMS, model)
    (summary,) = found.summaries.values()
    # 0.98 is the fake's probability of its label, here of "yes".
    assert summary.text == RIGHT
    assert summary.confidence == pytest.approx(0.98)
    assert found == Summarized({("c1", "a1"): summary}, frozenset({("c1", "a2")}))
    (asked,) = model.calls
    assert "Passage (Equipment > Phones):\nField engineers" in asked[-1].content
    assert asked[-1].content.endswith(f"Claim: {CLAIMS['a1']}\nReply:")


def test_length_is_counted_in_words() -> None:
    def asked(words: int) -> int:
        context = Context("c1", "s.md", "", "word " * words, 0.9)
        return len(summarize([("c1", "a1")], [context], CLAIMS, bearing("cats")).nothing)

    assert (asked(LONG - 1), asked(LONG)) == (0, 1)


@pytest.mark.parametrize("text", [LONG_PASSAGE.text + "Bye.", PHONES])
def test_copies_are_summarised_once_whatever_their_own_length(text: str) -> None:
    copy = Context("c3", "copy.md", LONG_PASSAGE.title, text, 0.5)
    model = bearing("phones")
    found = summarize(
        [("c1", "a1"), ("c3", "a1")],
        [LONG_PASSAGE, copy],
        CLAIMS,
        model,
        alike={"c1": "c1", "c3": "c1"},
    )
    assert set(found.summaries) == {("c1", "a1"), ("c3", "a1")}
    assert len(model.calls) == 1


@pytest.mark.parametrize("reply", ["", "The phones are replaced every five years."])
def test_what_is_not_believed_is_counted_and_the_passage_read(reply: str) -> None:
    found = summarize([("c1", "a1")], [LONG_PASSAGE], CLAIMS, bearing("phones", reply))
    assert found == Summarized({}, refused=1)


def test_a_passage_that_the_model_cannot_read_is_left_as_it_is() -> None:
    def fail(_messages: Sequence[Message], _ending: str, _labels: Sequence[str]) -> str:
        raise ScoringError("does not fit")

    model = FakeChatModel(lambda _m: RIGHT, label=fail)
    assert summarize([("c1", "a1")], [LONG_PASSAGE], CLAIMS, model) == Summarized({}, failed=1)


# ------------------------------------------------------------- what is believed


@pytest.mark.parametrize(
    ("summary", "believed"),
    [
        (RIGHT, True),
        ("Company phones are replaced every three years.", True),  # a name from before
        ("Private use is allowed within the country, but not abroad.", True),
        ("Private use is allowed within the country.", True),  # one clause of two
        ("Lost phones are locked in Lyon within 2 hours.", True),
        ("Tomas Reed is her deputy.", True),
        ("", False),
        ("Company phones are replaced every four years.", False),  # a number
        ("Lost phones are locked in Turin within 2 hours.", False),  # a name
        ("Private use is allowed abroad.", False),  # a negation lost
        ("Private use is not allowed within the country.", False),  # a negation moved
        ("Tomas Reed is responsible for the budget.", False),  # two sentences mixed
        ("Phones are replaced every three years to save costs.", False),  # new words
        (PHONES + FILLER, False),  # no shorter than the passage
    ],
)
def test_a_summary_says_what_the_passage_says(summary: str, believed: bool) -> None:
    assert is_borne_out(summary, LONG_PASSAGE) is believed


def test_a_sentence_of_the_passage_is_always_believed() -> None:
    sentences = [span.of(PHONES) for span in sentence_spans(PHONES)]
    assert len(sentences) == 6
    for sentence in sentences:
        assert is_borne_out(sentence, LONG_PASSAGE)


# ------------------------------------------------------------ what it weighs


def test_confidence_scales_an_edge_towards_nothing() -> None:
    pair = ScoredPair("c1", "a1", Relation(0.8, 0.1, 0.1), Summary("x", 0.5))
    (link,) = links_from([pair])
    # 0.5 * 0.8, and 0.5 + 0.5 * (0.8 + 0.1/2 - 0.5)
    assert (link.probability, link.strength) == pytest.approx((0.4, 0.675))


def test_for_one_claim_it_is_the_prior_that_is_scaled() -> None:
    atom = Atom("a1", "x", "x")
    relation = Relation(0.8, 0.2, 0.0)
    summarised = links_from([ScoredPair("c1", "a1", relation, Summary("x", 0.5))])
    whole = links_from([ScoredPair("c1", "a1", relation)])

    def p(prior: float, links: Sequence[object]) -> float:
        contexts = [Context("c1", "s", "", "t", prior)]
        return infer(build_network([atom], contexts, links, "conditional")).p_true["a1"]  # type: ignore[arg-type]

    # 0.5 + 0.9 * 0.5 * (0.8 - 0.5) = 0.635
    assert p(0.9, summarised) == pytest.approx(0.635)
    assert p(0.9 * 0.5, whole) == pytest.approx(0.635)


def test_the_relation_model_reads_the_summary_for_its_pair_alone() -> None:
    classifier = FakePairClassifier(lambda _p, _h: (0.9, 0.05, 0.05))
    summary = Summary("It is short.", 0.7)
    found = relate(
        [("c1", "a1"), ("c1", "a2")],
        {"c1": Premise("", "It is long.")},
        CLAIMS,
        CalibratedRelationModel(EncoderPairScorer(classifier)),
        summaries={("c1", "a1"): summary},
    )
    assert classifier.calls == [("It is short.", CLAIMS["a1"]), ("It is long.", CLAIMS["a2"])]
    assert [(p.summary, p.confidence) for p in found.pairs] == [(summary, 0.7), (None, 1.0)]


# --------------------------------------------------------------- in a pipeline


def test_a_run_says_what_was_summarised_and_quotes_the_passage(
    minilm: SentenceTransformerEmbedder,
) -> None:
    texts = {"a1": CLAIMS["a1"], "a2": "Company phones are lent to cats."}
    record = parse_record(
        {
            "output": " ".join(texts.values()),
            "atoms": [{"id": i, "text": t, "contexts": ["c1"]} for i, t in texts.items()],
            "contexts": [{"id": "c1", "title": LONG_PASSAGE.title, "text": LONG_PASSAGE.text}],
        },
        "record",
    )
    classifier = FakePairClassifier(lambda _p, _h: (0.05, 0.9, 0.05))
    checker = FactChecker(
        Settings(summarize=True, min_similarity=-1.0),
        llm=bearing("years"),
        embedder=minilm,
        relation_model=CalibratedRelationModel(EncoderPairScorer(classifier)),
    )
    run = checker.verify(record)
    assert classifier.calls == [(f"{LONG_PASSAGE.title}. {RIGHT}", texts["a1"])]
    assert run.assessment.notes == (
        "long passages read as their summary for a claim: 1",
        "long passages left out for a claim they are silent on: 1",
    )
    phones, cats = run.assessment.atoms
    (evidence,) = phones.evidence
    for quote in evidence.quotes:
        assert quote.text == quote.span.of(LONG_PASSAGE.text)
    assert cats.probability == 0.5
    stored = to_dict(run)
    (relation,) = stored["relations"]
    assert relation["summary"]["text"] == RIGHT
    assert links_of(stored) == run.assessment.links
    assert "summarize" in run.seconds


def test_a_real_model_gives_each_pair_one_outcome_and_only_summaries_that_hold(
    smollm: LlamaCppModel,
) -> None:
    found = summarize([("c1", "a1")], [LONG_PASSAGE], CLAIMS, smollm)
    assert len(found.summaries) + len(found.nothing) + found.refused == 1
    assert found.failed == 0
    for summary in found.summaries.values():
        assert is_borne_out(summary.text, LONG_PASSAGE)
        assert 0 < summary.confidence < 1
