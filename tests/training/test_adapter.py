"""What an adapter is trained on, and how a passage is read once for all of its claims."""

from __future__ import annotations

import hashlib
import json
import math
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click
import numpy as np
import pytest
import torch
from click.testing import CliRunner
from gguf import GGUFReader

from factcheck_local.models.cards import ModelCard
from factcheck_local.models.chat_format import chat_format
from factcheck_local.models.llama_cpp import LlamaCppModel
from factcheck_local.models.prompts import load_prompt
from factcheck_local.pipeline.relation.llm import ADAPTED_PROMPT
from factcheck_local.pipeline.relation.scorer import LogProbabilities, Premise
from training.adapter import measure, mixture, scorer
from training.adapter.export import main as export
from training.adapter.export import taken_up, tensor_name, truncated, weights_of, widened
from training.adapter.groups import (
    COUNTS,
    Claim,
    Group,
    authored,
    pairs,
    sets,
    sets_side_by_side,
    wordings,
)
from training.adapter.mixture import MOST_PASSAGE_TOKENS, SETS, batches, in_other_words
from training.adapter.model import LowRank
from training.adapter.packing import Packed, Packer
from training.losses import loss_of
from training.measures import Row
from training.mixture import Source, sets_file, without
from training.overlap import Held
from training.rates import falling

DATA = Path(__file__).parents[2] / "training" / "data" / "authored"

GROUP = Group(
    "authored",
    "Leave",
    "Staff receive 27 days.",
    (Claim("Staff get 27 days.", "entailment"), Claim("Staff get 30.", "contradiction")),
)


def letters(text: str) -> list[int]:
    """A tokeniser of single characters, so that sizes can be counted by hand."""
    return [ord(c) for c in text]


@pytest.fixture
def packer() -> Packer:
    return Packer(letters, chat_format("chatml"), load_prompt(ADAPTED_PROMPT))


def text_of(tokens: torch.Tensor) -> str:
    return "".join(map(chr, tokens.tolist()))


def test_a_claim_sees_the_passage_and_itself(packer: Packer) -> None:
    packed = packer.pack([GROUP])
    ((begin, end, sees),) = packed.segments
    assert (begin, end) == (0, len(packed.tokens))
    for claim, last in zip(GROUP.claims, packed.ends.tolist(), strict=True):
        read = text_of(packed.tokens[sees[last]])
        assert GROUP.passage in read
        assert [c.text in read for c in GROUP.claims].count(True) == 1
        assert claim.text in read
        assert read.endswith("<|im_end|>\n<|im_start|>assistant\n")
        # Positions are those of this prompt alone.
        assert packed.positions[sees[last]].tolist() == list(range(len(read)))
    assert packer.size(GROUP) == len(packed.tokens)


def test_groups_do_not_see_each_other(packer: Packer) -> None:
    one, both = packer.pack([GROUP]), packer.pack([GROUP, GROUP])
    (_, end, sees), (begin, stop, again) = both.segments
    assert (end, begin, stop) == (len(one.tokens), len(one.tokens), 2 * len(one.tokens))
    assert (sees == one.segments[0][2]).all()
    assert (again == sees).all()
    assert both.ends.tolist() == [*one.ends.tolist(), *(one.ends + begin).tolist()]


def test_the_prompt_is_that_of_the_product(smollm: LlamaCppModel) -> None:
    context = smollm._llama
    packer = Packer(
        lambda text: context.tokenize(text, markup=True),
        chat_format("chatml"),
        load_prompt(ADAPTED_PROMPT),
    )
    packed = packer.pack([GROUP])
    prompt = load_prompt(ADAPTED_PROMPT)
    begin = [] if context.begin_token is None else [context.begin_token]
    opening = smollm._tokens(
        prompt.opening(title=GROUP.title, passage=GROUP.passage), unfinished=True
    )
    for claim, last in zip(GROUP.claims, packed.ends.tolist(), strict=True):
        ending = context.tokenize(prompt.close(claim=claim.text), markup=False)
        turn = context.tokenize("<|im_end|>\n<|im_start|>assistant\n", markup=True)
        expected = opening[len(begin) :] + ending + turn
        sees = packed.segments[0][2][last]
        assert packed.tokens[sees].tolist() == expected


def test_a_passage_that_is_too_long_is_passed_over_and_none_is_cut(packer: Packer) -> None:
    long = Group("one", "", "x" * (MOST_PASSAGE_TOKENS + 1), GROUP.claims)
    whole = Group("one", "", "x" * MOST_PASSAGE_TOKENS, GROUP.claims)
    stream = batches([Source("one", 1.0, [long, whole])], packer, tokens=3000, seed=1)
    assert {group.passage for _ in range(5) for group in next(stream)} == {whole.passage}
    text = text_of(packer.pack([whole]).tokens)
    assert f"{whole.passage}\n\nClaim: Staff get 27 days.\nLetter:" in text


def test_a_measured_passage_is_read_whole_as_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    class Network:
        tokenize = staticmethod(letters)

        def restore(self, weights: dict[str, torch.Tensor]) -> None:
            assert weights.keys() == trained.keys()
            assert all(torch.allclose(w, trained[n], atol=0.01) for n, w in weights.items())

        def logits(self, packed: Packed) -> torch.Tensor:
            read.append(text_of(packed.tokens))
            return torch.zeros(len(packed.ends), 3)

    places: list[dict[str, object]] = []

    def load(_base: Path, **place: object) -> Network:
        places.append(place)
        return Network()

    monkeypatch.setattr(scorer, "load", load)
    name = "model.layers.5.self_attn.q_proj"
    trained = {f"{name}.a": torch.ones(1, 64), f"{name}.b": torch.ones(32, 1)}
    torch.save(
        {"adapter": trained, "rank": 1, "alpha": 2.0, "first_layer": 5}, tmp_path / "adapter.pt"
    )
    arguments = [str(tmp_path / "adapter.pt"), "--out", str(tmp_path / "adapter.gguf")]
    assert CliRunner().invoke(export, arguments).exit_code == 0
    for file in ("adapter.pt", "adapter.gguf"):  # as a run left it, and exported
        model = scorer.TorchPairScorer.load(
            tmp_path / "model.gguf", tmp_path / file, template="chatml", device="cpu"
        )
        model.score(Premise("Leave", "x" * 5000), ["Staff get 27 days."])
        assert read.pop().count("x") >= 5000
    assert places == [{"rank": 1, "alpha": 2.0, "device": "cpu", "first_layer": 5}] * 2


def test_scores_are_kept_for_the_adapter_that_gave_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another adapter reads anew, and a label that was mended counts as it is now."""
    reads: list[str] = []

    class Scorer:
        id = "fake"

        def __init__(self, sha256: str) -> None:
            self.sha256 = sha256

        def score(self, _: Premise, hypotheses: Sequence[str]) -> LogProbabilities:
            reads.append(self.sha256)
            return np.full((len(hypotheses), 3), -np.log(3.0))

    labels = ["entailment", "contradiction"]
    shown: list[list[str]] = []

    def held_out(*_: object) -> list[Group]:
        return [replace(GROUP, claims=tuple(Claim(f"claim {n}", x) for n, x in enumerate(labels)))]

    def table(rows: Sequence[Row]) -> str:
        shown.append([row.label for row in rows])
        return ""

    monkeypatch.setattr(measure, "held_out", held_out)
    monkeypatch.setattr(measure, "table", table)
    (tmp_path / "file").touch()
    given = ["--base", "file", "--adapter", "file", "--public", ".", "--out", "scores.jsonl"]
    monkeypatch.chdir(tmp_path)
    for sha256 in ("one", "one", "other"):
        load = lambda *_, sha256=sha256, **__: Scorer(sha256)  # noqa: E731
        monkeypatch.setattr(scorer.TorchPairScorer, "load", load)
        measure.main(given, standalone_mode=False)
        labels[1] = "neutral"
    assert reads == ["one", "other"]
    assert shown == [["entailment", "contradiction"], *[["entailment", "neutral"]] * 2]
    shipped = Scorer("shipped")
    shipped.id = "smollm2-135m/relate-v1"
    cards = []

    def load_shipped(card: ModelCard) -> Scorer:
        cards.append(card.id)
        return shipped

    monkeypatch.setattr(measure, "load_pair_scorer", load_shipped)
    given = ["--model", "smollm2-135m", "--public", ".", "--out", "scores.jsonl"]
    measure.main(given, standalone_mode=False)
    assert (cards, reads[2:]) == (["smollm2-135m"], ["shipped"])
    with pytest.raises(click.UsageError, match="give --base and --adapter, or --model"):
        measure.main([*given, "--base", "file"], standalone_mode=False)


def test_the_loss_by_hand() -> None:
    logits = torch.log(torch.tensor([[0.7, 0.2, 0.1], [0.5, 0.3, 0.2]]))
    assert loss_of(logits, ["contradiction", "neutral"], 0.0).item() == pytest.approx(
        -math.log(0.2) - math.log(0.2), rel=1e-6
    )
    # "Not entailed" is what contradiction and neutral have together.
    assert loss_of(logits, ["contradiction", "not_entailment"], 0.0).item() == pytest.approx(
        -math.log(0.2) - math.log(0.5), rel=1e-6
    )
    smoothed = -0.9 * math.log(0.7) - 0.1 / 3 * (math.log(0.7) + math.log(0.2) + math.log(0.1))
    assert loss_of(logits[:1], ["entailment"], 0.1).item() == pytest.approx(smoothed, rel=1e-6)


def test_an_adapter_begins_as_nothing_and_is_a_product() -> None:
    base = torch.nn.Linear(3, 2, bias=False)
    low = LowRank(base, rank=2, alpha=4.0)
    x = torch.tensor([[1.0, 2.0, 3.0]])
    assert torch.equal(low(x), base(x))
    with torch.no_grad():
        low.a.copy_(torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))
        low.b.copy_(torch.tensor([[1.0, 0.0], [0.0, 10.0]]))
    # Scaled by 4 / 2.
    assert torch.allclose(low(x) - base(x), torch.tensor([[2.0, 40.0]]))


def test_what_is_held_out_is_never_drawn() -> None:
    for name in ("policies", "tables"):
        kept = authored(DATA / f"{name}.jsonl", held_out=False)
        held = authored(DATA / f"{name}.jsonl", held_out=True)
        assert not {g.passage for g in kept} & {g.passage for g in held}
        count = len((DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines())
        assert len(kept) + len(held) == count
        assert 0 < len(held) < count / 5


def test_a_set_labels_every_pair(tmp_path: Path) -> None:
    path = tmp_path / "two.jsonl"
    row = {
        "set": "x",
        "passages": [{"id": i, "title": i, "text": i} for i in ("p1", "p2", "p3")],
        "claims": [{"text": "c", "entailed_by": ["p1"], "contradicted_by": ["p2"], "kind": ""}],
    }
    path.write_text(json.dumps(row))
    groups = [*sets(path, held_out=False), *sets(path, held_out=True)]
    assert [g.claims[0].label for g in groups] == ["entailment", "contradiction", "neutral"]


def test_passages_side_by_side_are_labelled_by_what_they_say_together(tmp_path: Path) -> None:
    path = tmp_path / "several.jsonl"
    claims = [
        {"text": "stated", "entailed_by": ["p1", "p3"], "contradicted_by": [], "kind": ""},
        {"text": "disputed", "entailed_by": ["p1"], "contradicted_by": ["p2"], "kind": ""},
        {"text": "open", "entailed_by": [], "contradicted_by": [], "kind": ""},
    ]
    ids = ("p1", "p2", "p3", "p4", "p5", "p6")
    row = {
        "set": "x",
        "passages": [{"id": i, "title": f"title {i}", "text": f"text {i}"} for i in ids],
        "claims": claims,
    }
    path.write_text(json.dumps(row))
    (whole,) = [
        *sets_side_by_side(path, held_out=False),
        *sets_side_by_side(path, held_out=True),
    ]
    assert whole.passage.startswith("[1] title p1\ntext p1\n\n[2] title p2")
    rng, seen = random.Random(2), set()
    for _ in range(60):
        group = whole.drawn(rng)
        there = {i for i in ids if f"text {i}" in group.passage}
        labels = {claim.text: claim.label for claim in group.claims}
        seen.add(len(there))
        assert labels["open"] == "neutral"
        assert labels["stated"] == ("entailment" if there & {"p1", "p3"} else "neutral")
        disputed = {"p1": "entailment", "p2": "contradiction"}
        said = [disputed[i] for i in sorted(there & disputed.keys())] or ["neutral"]
        assert labels.get("disputed") == (None if len(said) == 2 else said[0])
    assert seen == set(COUNTS)


def test_passages_side_by_side_have_their_share_and_none_that_is_held_out() -> None:
    own = DATA.parent
    held = {group.passage for name in SETS for group in sets(sets_file(own, name), held_out=True)}
    found = [s for s in sources_of_sets(own) if s.name.startswith("side-by-side/")]
    assert len(found) == len(SETS)
    assert not any(text in group.passage for s in found for group in s.groups for text in held)
    several = sum(s.share for s in found)
    assert several / sum(s.share for s in sources_of_sets(own)) == pytest.approx(0.6)


def sources_of_sets(own: Path) -> list[Source]:
    """All sources of a run, without the public ones' files."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mixture, "PUBLIC", {})
        return mixture.sources(own, own, side_by_side=0.6)


def test_claims_in_other_words_have_their_share_and_their_labels(tmp_path: Path) -> None:
    lines = [
        {"key": "1", "claims": ["stated", "open"], "worded": ["stated at Ardent", None]},
        {"key": "2", "claims": ["denied"], "worded": ["denied at Ardent"]},
    ]
    (tmp_path / "items.jsonl").write_text("\n".join(map(json.dumps, lines)))
    claims = (Claim("stated", "entailment"), Claim("open", "neutral"))
    other = Group("b", "", "q", (Claim("open", "neutral"),))
    found = [Source("a", 3.0, [Group("a", "", "p", claims)]), Source("b", 1.0, [other])]
    *same, worded = in_other_words(found, wordings(tmp_path), 0.2)
    assert same == found
    assert worded.name == "worded/a"
    assert worded.share / (worded.share + 4.0) == pytest.approx(0.2)
    assert worded.groups == [Group("a", "", "p", (Claim("stated at Ardent", "entailment"),))]


def test_open_claims_of_sets_are_sampled() -> None:
    claims = [Claim("e", "entailment"), *(Claim(f"n{i}", "neutral") for i in range(12))]
    drawn = Group("sets/x", "", "p", tuple(claims)).drawn(random.Random(0))
    assert sorted(c.label for c in drawn.claims) == ["entailment", *["neutral"] * 3]


def test_pairs_of_a_premise_are_together(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    rows = [
        {"premise": p, "hypothesis": h, "label": "neutral"}
        for p, h in (("one", "a b c"), ("two", "d e f"), ("one", "g h i"))
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    groups = [*pairs(path, held_out=False), *pairs(path, held_out=True)]
    assert sorted(len(g.claims) for g in groups) == [1, 2]
    more = [*pairs(path, held_out=False, least=2), *pairs(path, held_out=True, least=2)]
    assert [g.passage for g in more] == ["one"]


def test_shares_are_of_tokens(packer: Packer) -> None:
    long = Group("long", "", "y" * 300, GROUP.claims)
    short = Group("short", "", "z", GROUP.claims)
    sources = [Source("long", 0.75, [long]), Source("short", 0.25, [short])]
    stream = batches(sources, packer, tokens=2000, seed=1)
    drawn = [group for _ in range(40) for group in next(stream)]
    tokens = {
        name: sum(packer.size(g) for g in drawn if g.source == name) for name in ("long", "short")
    }
    assert tokens["long"] / sum(tokens.values()) == pytest.approx(0.75, abs=0.02)


def test_a_seed_gives_the_same_order(packer: Packer) -> None:
    sources = [Source("one", 1.0, [GROUP, Group("one", "", "other", GROUP.claims)])]
    first = batches(sources, packer, tokens=600, seed=3)
    again = batches(sources, packer, tokens=600, seed=3)
    assert [next(first) for _ in range(5)] == [next(again) for _ in range(5)]


def test_the_rate_rises_stays_and_falls() -> None:
    assert falling(0.0, 1.0) == 0.0
    assert falling(0.015, 1.0) == pytest.approx(0.5)
    assert falling(0.3, 1.0) == 1.0
    assert falling(0.675, 1.0) == pytest.approx(0.5)
    assert falling(1.0, 1.0) == pytest.approx(0.02)


def test_names_of_a_gguf_file() -> None:
    name = tensor_name("model.layers.11.self_attn.o_proj.b")
    assert name == "blk.11.attn_output.weight.lora_b"
    with pytest.raises(ValueError, match="not a parameter of an adapter"):
        tensor_name("model.embed_tokens.weight")


def test_an_exported_adapter_is_read_again(tmp_path: Path) -> None:
    draw = torch.Generator().manual_seed(0)
    weights = {
        f"model.layers.{layer}.{place}.{part}": torch.randn(shape, generator=draw).half().float()
        for layer in (0, 11)
        for place in ("self_attn.q_proj", "mlp.down_proj")
        for part, shape in (("a", (4, 64)), ("b", (32, 4)))
    }
    saved = {"adapter": weights, "rank": 4, "alpha": 8.0, "first_layer": 0}
    torch.save(saved, tmp_path / "adapter.pt")
    out = tmp_path / "adapter.gguf"
    done = CliRunner().invoke(export, [str(tmp_path / "adapter.pt"), "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert f'sha256 = "{hashlib.sha256(out.read_bytes()).hexdigest()}"' in done.output
    read = weights_of(out)
    assert read.keys() == weights.keys()
    for name, weight in weights.items():
        # Of the wide half 8 bits are kept, with a scale for 32.
        off = 0.5 / 127 * weight.abs().max() * 1.01 if name.endswith(".a") else 0.0
        assert (read[name] - weight).abs().max() <= off, name


def test_a_lower_rank_keeps_the_largest_singular_values(tmp_path: Path) -> None:
    draw = torch.Generator().manual_seed(0)
    a, b = torch.randn(6, 64, generator=draw), torch.randn(32, 6, generator=draw)
    name = "model.layers.0.self_attn.q_proj"
    weights = {f"{name}.a": a, f"{name}.b": b}
    for rank in (6, 4):
        low = truncated(weights, rank)
        assert (low[f"{name}.a"].shape, low[f"{name}.b"].shape) == ((rank, 64), (32, rank))
        u, s, v = torch.linalg.svd(b @ a, full_matrices=False)
        nearest = (u[:, :rank] * s[:rank]) @ v[:rank]
        assert torch.allclose(low[f"{name}.b"] @ low[f"{name}.a"], nearest, atol=1e-4)
    saved = {"adapter": weights, "rank": 6, "alpha": 12.0, "first_layer": 0}
    torch.save(saved, tmp_path / "adapter.pt")
    out = tmp_path / "adapter.gguf"
    given = [str(tmp_path / "adapter.pt"), "--out", str(out), "--rank", "4"]
    assert CliRunner().invoke(export, given).exit_code == 0
    assert weights_of(out)[f"{name}.a"].shape == (4, 64)
    above = CliRunner().invoke(export, [*given[:-1], "7"])
    assert above.exit_code == 2
    assert "adapter.pt has 6" in above.output
    # The scale, alpha / rank, is the trained one.
    assert GGUFReader(out).fields["adapter.lora.alpha"].contents() == pytest.approx(8.0)


def test_a_wider_adapter_begins_as_the_same_map() -> None:
    draw = torch.Generator().manual_seed(0)
    narrow = {"a": torch.randn(4, 6, generator=draw), "b": torch.randn(5, 4, generator=draw)}
    fresh = {"a": torch.randn(8, 6, generator=draw), "b": torch.zeros(5, 8)}
    wide = widened(narrow | {"left.out": torch.zeros(1, 1)}, fresh)
    assert torch.allclose(wide["b"] @ wide["a"], narrow["b"] @ narrow["a"], atol=1e-6)
    assert wide["a"][4:].abs().min() > 0, "what is new can be learned"
    assert fresh["b"].abs().max() == 0


def test_an_adapter_is_taken_up_as_the_same_map_or_not_at_all(tmp_path: Path) -> None:
    def weights(rank: int, layers: Sequence[int]) -> dict[str, torch.Tensor]:
        shapes = {"a": (rank, 64), "b": (32, rank)}
        return {
            f"model.layers.{layer}.self_attn.q_proj.{part}": torch.ones(shape)
            for layer in layers
            for part, shape in shapes.items()
        }

    saved = {"adapter": weights(4, (6, 7)), "rank": 4, "alpha": 8.0, "first_layer": 6}
    torch.save(saved, tmp_path / "adapter.pt")
    out = tmp_path / "adapter.gguf"
    exported = CliRunner().invoke(export, [str(tmp_path / "adapter.pt"), "--out", str(out)])
    assert exported.exit_code == 0
    name = "model.layers.6.self_attn.q_proj"
    fresh = {n: torch.zeros_like(w) for n, w in weights(5, (6, 7)).items()}
    found = taken_up(out, fresh, 2.0)
    assert torch.allclose(
        found[f"{name}.b"] @ found[f"{name}.a"], torch.full((32, 64), 4.0), atol=0.05
    )
    with pytest.raises(click.BadParameter, match="alpha / rank 2, this run 1"):
        taken_up(out, fresh, 1.0)
    for layers in ((7,), (5, 6, 7)):
        with pytest.raises(click.BadParameter, match="--first-layer 6"):
            taken_up(out, weights(5, layers), 2.0)


def test_the_mean_of_two_adapters_is_that_of_their_maps(tmp_path: Path) -> None:
    name = "model.layers.3.self_attn.q_proj"
    draw = torch.Generator().manual_seed(0)

    def made(rank: int, file: str) -> torch.Tensor:
        """An adapter of rank 1 in so many rows, exported and as it was trained; its map."""
        a, b = torch.randn(1, 64, generator=draw), torch.randn(32, 1, generator=draw)
        weights = {f"{name}.a": a.repeat(rank, 1) / rank, f"{name}.b": b.repeat(1, rank)}
        saved = {"adapter": weights, "rank": rank, "alpha": 2.0 * rank, "first_layer": 3}
        torch.save(saved, tmp_path / f"{file}.pt")
        arguments = [str(tmp_path / f"{file}.pt"), "--out", str(tmp_path / f"{file}.gguf")]
        assert CliRunner().invoke(export, arguments).exit_code == 0
        return b @ a

    one, two = made(4, "one"), made(3, "two")
    both = tmp_path / "both.gguf"
    given = [str(tmp_path / "one.pt"), "--mean", str(tmp_path / "two.gguf"), "--out", str(both)]
    for share, options in ((0.5, []), (0.75, ["--share", "0.75"])):
        assert CliRunner().invoke(export, [*given, "--rank", "2", *options]).exit_code == 0
        found = weights_of(both)
        assert found[f"{name}.a"].shape == (2, 64)
        wanted = share * one + (1 - share) * two
        assert torch.allclose(found[f"{name}.b"] @ found[f"{name}.a"], wanted, atol=0.1)
    assert float(GGUFReader(both).fields["adapter.lora.alpha"].contents()) == 4.0
    exported = [str(tmp_path / "one.gguf"), *given[1:], "--rank", "2"]
    assert CliRunner().invoke(export, exported).exit_code == 0
    found = weights_of(both)
    wanted = (one + two) / 2
    assert torch.allclose(found[f"{name}.b"] @ found[f"{name}.a"], wanted, atol=0.1)
    alone = CliRunner().invoke(export, [given[0], "--share", "0.75", "--out", str(both)])
    assert alone.exit_code == 2
    assert "--mean" in alone.output
    torch.save(torch.load(tmp_path / "one.pt") | {"alpha": 4.0}, tmp_path / "one.pt")
    refused = CliRunner().invoke(export, given)
    assert refused.exit_code == 2
    assert "--mean" in refused.output


def test_of_a_layer_that_one_adapter_leaves_alone_the_mean_is_half(tmp_path: Path) -> None:
    def made(file: str, *layers: int) -> Path:
        weights: dict[str, torch.Tensor] = {}
        for layer in layers:
            name = f"model.layers.{layer}.self_attn.q_proj"
            weights |= {f"{name}.a": torch.ones(1, 64), f"{name}.b": torch.ones(32, 1)}
        torch.save({"adapter": weights, "rank": 1, "alpha": 2.0}, tmp_path / f"{file}.pt")
        out = tmp_path / f"{file}.gguf"
        arguments = [str(tmp_path / f"{file}.pt"), "--out", str(out)]
        assert CliRunner().invoke(export, arguments).exit_code == 0
        return out

    for first, second in (((3, 4), (4,)), ((4,), (3, 4))):
        one, two, both = made("one", *first), made("two", *second), tmp_path / "both.gguf"
        said = CliRunner().invoke(export, [str(one), "--mean", str(two), "--out", str(both)])
        assert said.exit_code == 0, said.output
        found = weights_of(both)
        for layer, share in ((3, 0.5), (4, 1.0)):
            name = f"model.layers.{layer}.self_attn.q_proj"
            assert torch.allclose(
                found[f"{name}.b"] @ found[f"{name}.a"], torch.tensor(share), atol=0.01
            )


def test_what_a_dev_set_has_is_left_out(tmp_path: Path) -> None:
    dev = tmp_path / "dev.jsonl"
    other = Group("one", "", "A passage that no dev set has a sentence of.", GROUP.claims)
    source = Source("one", 1.0, [replace(GROUP, passage="Staff receive 27 days of leave."), other])
    dev.write_text(json.dumps({"premise": "Staff receive 27 days of leave.", "hypothesis": "No."}))
    assert without([source], Held.of([dev])) == [Source("one", 1.0, [other])]
