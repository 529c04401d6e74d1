"""The encoder's training: pairs of groups, batches, loss, a run that goes on, and the way back."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import click
import numpy as np
import pytest
import torch
from transformers import AutoTokenizer, BertForSequenceClassification

from factcheck_local.core.types import Relation
from factcheck_local.evaluate.lines import FILE
from factcheck_local.models.onnx_encoder import OnnxNliEncoder
from factcheck_local.pipeline.relation import Premise
from factcheck_local.pipeline.relation.calibration import Calibration
from factcheck_local.pipeline.relation.scorer import LogProbabilities
from tests.models.tiny_bert import random_bert, save_with_tokenizer
from training.adapter import mixture as adapter_mixture
from training.adapter.groups import Claim, Group, soft
from training.encoder import calibrate, evaluate, export, label, mixture, restore, train, unlabelled
from training.encoder.evaluate import Judged
from training.encoder.reading import Reader, batches, cut
from training.measures import Row
from training.mixture import Source, in_turn
from training.overlap import Held

LABELS = ("entailment", "contradiction", "neutral")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random base with a head for three labels."""
    model = random_bert(outputs=3)
    model.config.id2label = dict(enumerate(LABELS))
    for parameter in model.parameters():
        # Untrained biases are all alike, and an export keeps one of them.
        if parameter.dim() == 1:
            torch.nn.init.normal_(parameter.data, mean=1.0, std=0.2)
    return save_with_tokenizer(model, tmp_path_factory.mktemp("encoder") / "base")


def groups(name: str, count: int, title: str = "", words: int = 9) -> list[Group]:
    claims = tuple(Claim(f"staff get {n} days .", LABELS[n % 3]) for n in range(4))
    return [
        Group(name, title, " ".join([f"{i} staff", *["leave"] * (words - 2)]), claims)
        for i in range(count)
    ]


def test_sources_keep_their_shares_and_the_seed_the_order() -> None:
    sources = [
        Source("short", 1.0, groups("short", 5)),
        Source("long", 3.0, groups("long", 3, words=50)),
        Source("none", 9.0, []),
    ]

    def size(group: Group) -> int:
        return len(group.passage.split())

    drawn = list(islice(in_turn(sources, size, 1), 400))
    assert drawn == list(islice(in_turn(sources, size, 1), 400))
    assert drawn != list(islice(in_turn(sources, size, 2), 400))
    taken: Counter[str] = Counter()
    for group, count in drawn:
        assert count == size(group)
        taken[group.source] += count
    # Never further from its share than the longest group is long.
    assert abs(taken["short"] - sum(taken.values()) / 4) <= 50


def test_a_pair_has_the_title_in_front_as_in_use(base: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(base)
    titled, untitled = groups("g", 1, "the office")[0], groups("g", 1)[0]
    for group, premise in ((titled, f"the office. {titled.passage}"), (untitled, untitled.passage)):
        read = Reader(tokenizer, 64).pairs(group)
        assert [pair.claim for pair in read] == list(group.claims)
        for pair in read:
            assert pair.inputs == dict(tokenizer(premise, pair.claim.text))
        assert Reader(tokenizer, 64).size(group) == sum(map(len, read))


def test_a_pair_that_would_be_cut_is_left_out(base: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(base)
    group = groups("g", 1)[0]
    longest = max(map(len, Reader(tokenizer, 64).pairs(group)))
    assert Reader(tokenizer, longest).pairs(group)
    assert Reader(tokenizer, 8).pairs(group) == []
    assert Reader(tokenizer, 8).size(group) == 1


def test_batches_are_full_but_not_over_full(base: Path) -> None:
    reader = Reader(AutoTokenizer.from_pretrained(base), 64)
    pairs = [
        p for words in (5, 30, 12) for g in groups("g", 3, words=words) for p in reader.pairs(g)
    ]
    made = cut(sorted(pairs, key=len), 100)
    assert sorted(map(id, (p for batch in made for p in batch))) == sorted(map(id, pairs))
    for batch, after in zip(made, [*made[1:], None], strict=True):
        assert reader.padded(batch)["input_ids"].numel() <= 100
        if after:
            assert (len(batch) + 1) * len(after[0]) > 100
    source = Source("g", 1.0, groups("g", 3))
    first = next(batches([source], reader, tokens=100, seed=1))
    assert first == next(batches([source], reader, tokens=100, seed=1))


def test_the_loss_of_soft_labels_is_the_cross_entropy() -> None:
    p = (0.7, 0.1, 0.2)
    taught, sure = Claim("a", "entailment", p), Claim("b", "neutral")
    two_way = Claim("c", "not_entailment")
    logits = torch.tensor([[0.3, -1.0, 0.2], [1.0, 0.5, -0.5], [0.1, 0.0, 2.0]]).double()
    odds = np.exp(logits.numpy())
    log_p = np.log(odds / odds.sum(axis=1, keepdims=True))
    expected = [
        -float((np.array(p) * log_p[0]).sum()),
        -float(log_p[1, 2]),
        -float(np.log(np.exp(log_p[2, 1:]).sum())),
    ]
    for i, claim in enumerate((taught, sure, two_way)):
        assert train.mean_loss(logits[i : i + 1], [claim], 0.0).item() == pytest.approx(expected[i])
    together = train.mean_loss(logits, [taught, sure, two_way], 0.0)
    assert together.item() == pytest.approx(np.mean(expected))
    # Nowhere lower than at the teacher's own probabilities.
    at_teacher = torch.tensor([p]).log().requires_grad_()
    train.mean_loss(at_teacher, [taught], 0.0).backward()  # type: ignore[no-untyped-call]
    assert at_teacher.grad is not None
    assert at_teacher.grad.abs().max().item() < 1e-6


def test_soft_rows_of_one_passage_are_a_group(tmp_path: Path) -> None:
    rows = [
        {"title": "t", "premise": "one", "hypothesis": "a", "p": [0.2, 0.7, 0.1]},
        {"title": "", "premise": "one", "hypothesis": "b", "p": [0.6, 0.2, 0.2]},
        {"title": "t", "premise": "one", "hypothesis": "c", "p": [0.1, 0.1, 0.8]},
    ]
    path = tmp_path / "taught.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    first, second = soft(path)
    assert [(c.text, c.label, c.p) for c in first.claims] == [
        ("a", "contradiction", (0.2, 0.7, 0.1)),
        ("c", "neutral", (0.1, 0.1, 0.8)),
    ]
    assert (second.title, second.claims[0].label) == ("", "entailment")
    source = mixture.soft_source(path, 0.25)
    labelled = sum(mixture.AUTHORED.values()) + sum(mixture.SETS.values())
    labelled += sum(share for share, _ in mixture.PUBLIC.values())
    assert source.share / (source.share + labelled) == pytest.approx(0.25)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All files of both models' mixtures, each with the same few passages."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "authored" / "sets").mkdir(parents=True)
    (folder / "public").mkdir()
    made = groups("", 14)
    passages = [
        {"id": f"p{n}", "title": "the office", "text": g.passage} for n, g in enumerate(made)
    ]
    claims = [
        {"text": c.text, "entailed_by": [f"p{n}"], "contradicted_by": []}
        for n, g in enumerate(made)
        for c in g.claims
    ]
    for name in {**mixture.SETS, **adapter_mixture.SETS}:
        row = {"set": name, "passages": passages, "claims": claims}
        (folder / "authored" / "sets" / f"{name}.jsonl").write_text(json.dumps(row))
    for name in {**mixture.AUTHORED, **adapter_mixture.AUTHORED}:
        rows = [
            {
                "title": "the office",
                "passage": g.passage,
                "claims": [{"text": c.text, "label": c.label} for c in g.claims],
            }
            for g in made
        ]
        (folder / "authored" / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for name in mixture.PUBLIC:
        pairs = [
            {"premise": g.passage, "hypothesis": c.text, "label": c.label}
            for g in made
            for c in g.claims
        ]
        path = folder / f"{name}.jsonl" if "train-" in name else folder / "public" / f"{name}.jsonl"
        path.write_text("\n".join(map(json.dumps, pairs)))
    return folder


def test_a_passage_that_shares_a_held_out_sentence_is_not_read(data: Path, tmp_path: Path) -> None:
    everything = mixture.sources(data, data, Held.of([]))
    passage = everything[0].groups[0].passage
    held = tmp_path / "held.jsonl"
    held.write_text(json.dumps({"premise": passage + ".", "hypothesis": "Something else."}))
    for whole, rest in zip(everything, mixture.sources(data, data, Held.of([held])), strict=True):
        kept = [g for g in whole.groups if g.passage != passage]
        assert list(rest.groups) == kept
        assert len(kept) == max(0, len(whole.groups) - 1)


def test_a_run_that_is_broken_off_goes_on_as_if_it_had_not_been(
    base: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(out: Path, *others: object) -> dict[str, float]:
        arguments = ["--base", base, "--layers", 1, "--public", data, "--own", data, *others]
        arguments += ["--out", out, "--pairs", 60, "--tokens", 256, "--max-tokens", 64]
        train.main([str(a) for a in arguments], standalone_mode=False)
        found: dict[str, float] = json.loads((out / "run.json").read_text())
        return found

    whole = run(tmp_path / "whole")
    assert whole["pairs"] >= 60
    save = train._save

    def save_twice(path: Path, model: object, optimizer: object, done: train.Progress) -> None:
        save(path, model, optimizer, done)  # type: ignore[arg-type]
        if done.steps == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(train, "SAVE_SECONDS", -1)
        patch.setattr(train, "_save", save_twice)
        with pytest.raises(click.Abort):
            run(tmp_path / "broken")
    rest = run(tmp_path / "broken")
    assert (rest["steps"], rest["pairs"]) == (whole["steps"], whole["pairs"])
    assert whole["steps"] > 3
    # Nothing is left to do.
    assert run(tmp_path / "broken") == rest
    with pytest.raises(click.UsageError, match=r"begun otherwise: lr was 6e-05, is 0\.5"):
        run(tmp_path / "broken", "--lr", 0.5)
    trained = [
        BertForSequenceClassification.from_pretrained(tmp_path / name / "model")
        for name in ("whole", "broken")
    ]
    assert trained[0].config.num_hidden_layers == 1
    once, twice = (model.state_dict() for model in trained)
    assert all(torch.equal(p, twice[n]) for n, p in once.items())
    before = BertForSequenceClassification.from_pretrained(base).state_dict()
    changed = {n for n, p in once.items() if not torch.equal(p, before[n])}
    assert "classifier.weight" in changed
    assert not any("word_embeddings" in name for name in changed)


def test_the_rate_rises_stays_and_falls_to_nothing() -> None:
    total = 10_000
    assert train.rate(train.WARM_UP_PAIRS // 2, total, 1.0) == 0.5
    assert train.rate(5_000, total, 1.0) == train.rate(5_000, 3 * total, 1.0) == 1.0
    assert train.rate(8_000, total, 1.0) == pytest.approx(0.5)
    assert train.rate(total + 5, total, 1.0) == train.rate(0, total, 1.0) == 0.0
    rates = [train.rate(read, total, 1.0) for read in range(0, total + 1, 50)]
    top = rates.index(1.0)
    assert rates[:top] == sorted(rates[:top])
    assert rates[top:] == sorted(rates[top:], reverse=True)


def test_an_export_is_restored_to_what_int8_left_of_it(base: Path, tmp_path: Path) -> None:
    export.main([str(base), "--out", str(tmp_path / "int8")], standalone_mode=False)
    arguments = [tmp_path / "int8", "--base", base, "--out", tmp_path / "restored"]
    restore.main([str(a) for a in arguments], standalone_mode=False)
    before = BertForSequenceClassification.from_pretrained(base).state_dict()
    after = BertForSequenceClassification.from_pretrained(tmp_path / "restored").state_dict()
    assert set(after) == set(before)
    for name, weight in before.items():
        step = weight.abs().max().item() / 127
        assert (after[name] - weight).abs().max().item() <= step * 1.01, name


def test_the_mean_of_two_checkpoints_is_exported(base: Path, tmp_path: Path) -> None:
    other = BertForSequenceClassification.from_pretrained(base)
    for parameter in other.parameters():
        torch.nn.init.normal_(parameter.data, mean=1.0, std=0.2)
    other.save_pretrained(tmp_path / "other")
    model = BertForSequenceClassification.from_pretrained(base)
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    export.average(model, other)
    for name, weight in model.state_dict().items():
        torch.testing.assert_close(weight, (before[name] + other.state_dict()[name]) / 2)

    whole = save_with_tokenizer(model, tmp_path / "whole")
    exports = {
        "mean": [str(base), "--mean", str(tmp_path / "other")],
        "wanted": [str(whole)],
        "own": [str(base)],
    }
    for name, arguments in exports.items():
        export.main([*arguments, "--out", str(tmp_path / name)], standalone_mode=False)
    pair = [("staff get leave .", "staff get 2 days .")]
    mean, wanted, own = (
        OnnxNliEncoder(name, "", tmp_path / name, max_tokens=64, n_threads=1).classify(pair)
        for name in ("mean", "wanted", "own")
    )
    np.testing.assert_array_equal(mean, wanted)
    assert np.abs(mean - own).max() > 0.01


@pytest.mark.parametrize("change", ["labels", "size"])
def test_a_mean_wants_checkpoints_of_one_shape(base: Path, change: str) -> None:
    model = BertForSequenceClassification.from_pretrained(base)
    other = BertForSequenceClassification.from_pretrained(base)
    if change == "labels":
        other.config.id2label = dict(enumerate(LABELS[::-1]))
    else:
        other = random_bert(outputs=2)
        other.config.id2label = model.config.id2label
    with pytest.raises(click.ClickException, match="other labels, layers or sizes"):
        export.average(model, other)


def test_measures_of_what_was_read() -> None:
    read = [
        Judged(("entailment", "neutral"), np.array([[0.8, 0.1, 0.1], [0.1, 0.6, 0.3]])),
        Judged(("contradiction", "neutral"), np.array([[0.3, 0.3, 0.4], [0.2, 0.1, 0.7]])),
    ]
    assert evaluate.label_auroc(read, "entailment") == 1.0
    # Of three others one has more, two have less.
    assert evaluate.label_auroc(read, "contradiction") == pytest.approx(2 / 3)
    assert evaluate.false_denials(read) == 0.5
    assert evaluate.false_denials([Judged(("entailment",), read[0].p[:1])]) is None
    assert evaluate.accuracy(read, LABELS) == pytest.approx((1 + 0 + 0.5) / 3)
    decided = [Judged(j.gold[:1], j.p[:1]) for j in read]
    # Neutral is no answer where no pair is; a tie goes to the first label.
    assert evaluate.accuracy(decided, LABELS[:2]) == 0.5


class Reads:
    """Calls everything neutral, and keeps what it read."""

    id, sha256 = "reads", "0" * 64

    def __init__(self) -> None:
        self.premises: list[Premise] = []

    def score(self, premise: Premise, hypotheses: Sequence[str]) -> LogProbabilities:
        self.premises.append(premise)
        found: LogProbabilities = np.log(np.tile([0.1, 0.1, 0.8], (len(hypotheses), 1)))
        return found


def test_evaluate_reads_tables_as_in_use_and_takes_a_set_as_one() -> None:
    claims = (Claim("Solo has one.", "entailment"), Claim("Solo is old.", "neutral"))
    table = "| Plan | Seats |\n|---|---|\n| Solo | one |"
    passages = [Group("sets/x", "Plans", text, claims) for text in (table, "Nothing of plans.")]
    other = Group("one", "", "A passage alone.", (Claim("It is alone.", "entailment"),))
    model = Reads()
    found = evaluate.read_groups(model, [*passages, other])
    assert model.premises[0] == Premise("Plans", "- Plan: Solo; Seats: one")
    # Drawn together for an interval, as the claims are the same.
    assert [j.gold for j in found] == [("entailment", "neutral") * 2, ("entailment",)]
    assert [j.p.shape for j in found] == [(4, 3), (1, 3)]


def test_evaluate_reads_checkpoints_and_exports(
    base: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dev = tmp_path / "dev.jsonl"
    rows = [{"premise": "a b", "hypothesis": f"c {n}", "label": LABELS[n % 3]} for n in range(9)]
    dev.write_text("".join(json.dumps(row) + "\n" for row in rows))
    export.main([str(base), "--out", str(tmp_path / "int8")], standalone_mode=False)
    for folder in (base, tmp_path / "int8"):
        capsys.readouterr()
        arguments = [str(folder), "--own", str(data), "--dev", str(dev), "--max-tokens", "64"]
        evaluate.main(arguments, standalone_mode=False)
        lines = capsys.readouterr().out.splitlines()
        assert len({line.count("|") for line in lines}) == 1
        assert any(line.startswith("| dev | 9 |") for line in lines)
        assert lines[-1].startswith("| mean of authored and dev |")


def test_a_sentence_becomes_a_claim() -> None:
    sentence = "However, the port (8080 by default) is open for 30 days."
    made = Counter(unlabelled.turned(sentence, random.Random(seed)) for seed in range(300))
    plain = "The port is open for 30 days."
    changed = [text for text in made if text != plain]
    assert sum(made[text] for text in changed) / 300 == pytest.approx(unlabelled.CHANGED, abs=0.1)
    for text in changed:
        days = re.fullmatch(r"The port is open for (\d+) days\.", text)
        assert days is not None
        assert days[1] != "30"
    verbs = {unlabelled.turned("It is open.", random.Random(seed)) for seed in range(50)}
    assert verbs == {"It is open.", "It is not open."}


def test_a_claim_is_read_against_near_passages_and_its_own_half_of_the_time() -> None:
    angles = np.linspace(0, 1.5, 8)
    passages = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    rng = random.Random(1)
    found = [unlabelled.nearest(passages[0], passages, 0, rng) for _ in range(400)]
    assert {tuple(rows) for rows in found} == {(0, 1, 2), (1, 2, 3)}
    assert sum(0 in rows for rows in found) / 400 == pytest.approx(unlabelled.OWN, abs=0.1)


class Teacher:
    """Calls a claim entailed by how long it is, and counts what it reads."""

    id = "teacher"
    sha256 = "0" * 64

    def __init__(self) -> None:
        self.read: list[tuple[str, int]] = []

    def relate(self, premise: Premise, hypotheses: Sequence[str]) -> list[Relation]:
        self.read.append((premise.text, len(hypotheses)))
        return [Relation(len(h) / 100, 0.1, 0.9 - len(h) / 100) for h in hypotheses]


def test_a_teacher_labels_passage_by_passage_and_goes_on(tmp_path: Path) -> None:
    pairs, out, teacher = tmp_path / "pairs.jsonl", tmp_path / "soft", Teacher()
    rows = [
        {"title": "T", "premise": premise, "hypothesis": claim}
        for premise, claims in (("first", ["a", "bb"]), ("second", ["ccc"]), ("third", ["dddd"]))
        for claim in claims
    ]
    for some in (rows[:2], rows):
        pairs.write_text("".join(json.dumps(row) + "\n" for row in some))
        assert label.label(pairs, teacher, out) == 2
    assert teacher.read == [("first", 2), ("second", 1), ("third", 1)]
    # A kill in the middle of a line: that pair alone is read once more.
    (out / FILE).write_text((out / FILE).read_text()[:-5])
    assert label.label(pairs, teacher, out) == 1
    assert teacher.read[3:] == [("third", 1)]
    lines = [line for line in (out / FILE).read_text().splitlines() if line.endswith("}")]
    assert [{**json.loads(line), "key": ""} for line in lines] == [
        {**row, "p": [len(row["hypothesis"]) / 100, 0.1, 0.9 - len(row["hypothesis"]) / 100]}
        | {"key": ""}
        for row in rows
    ]
    # The torn line is no row of the training, and of a pair labelled again the last one counts.
    assert [len(group.claims) for group in soft(out / FILE)] == [2, 1, 1]
    again = json.loads(lines[0]) | {"key": "another teacher", "p": [0.0, 1.0, 0.0]}
    with (out / FILE).open("a") as file:
        file.write(json.dumps(again) + "\n")
    first, *_ = soft(out / FILE)
    assert [c.p and c.p[1] for c in first.claims] == [1.0, 0.1]


def test_what_a_bound_settles() -> None:
    log_p = np.log([[0.05, 0.05, 0.9], [0.1, 0.1, 0.8], [0.2, 0.1, 0.7], [0.8, 0.1, 0.1]])
    labels = ("neutral", "contradiction", "neutral", "entailment")
    rows = [Row("", "sets/a", label, p) for label, p in zip(labels, log_p.tolist(), strict=True)]
    as_it_is = Calibration()
    assert calibrate.settled(rows, as_it_is, 0.95) == (0.0, 0.0, 0.0)
    assert calibrate.settled(rows, as_it_is, 0.85) == (0.25, 0.0, 0.0)
    # Two of four are settled, one of them wrongly, which is one of two that are decided.
    assert calibrate.settled(rows, as_it_is, 0.75) == (0.5, 0.5, 0.5)


def test_calibrate_prints_a_calibration_and_what_bounds_settle(
    base: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dev = tmp_path / "some-dev.jsonl"
    rows = [{"premise": f"a {n}", "hypothesis": "c", "label": LABELS[n % 3]} for n in range(12)]
    dev.write_text("".join(json.dumps(row) + "\n" for row in rows))
    export.main([str(base), "--out", str(tmp_path / "int8")], standalone_mode=False)
    capsys.readouterr()
    arguments = [tmp_path / "int8", "--public", data, "--own", data, "--dev", dev]
    arguments += ["--max-tokens", 64, "--limit", 6]
    calibrate.main([str(a) for a in arguments], standalone_mode=False)
    printed = capsys.readouterr().out
    assert "| some-dev | 6 |" in printed
    assert "calibration: Calibration(slope=" in printed
    bounds = re.findall(r"^\| (0\.\d+) \|", printed, re.MULTILINE)
    assert [float(b) for b in bounds] == list(calibrate.BOUNDS)
