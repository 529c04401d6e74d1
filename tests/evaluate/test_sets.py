"""Sets of passages as a benchmark: what is expected, which are held out, from file to figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from factcheck_local.core.errors import RecordError
from factcheck_local.evaluate import summary
from factcheck_local.evaluate.data import sets
from factcheck_local.evaluate.lines import FILE
from factcheck_local.indexer.chunker import chunk
from factcheck_local.indexer.loaders import markdown
from tests.cli.helpers import factcheck, refused
from training.adapter import groups

ROOT = Path(__file__).parent.parent.parent
AUTHORED = ROOT / "training" / "data" / "authored" / "sets"

#: Names that the rule takes out of training, and one that it leaves in.
HELD_OUT, OTHER = "sundara-leave", "trellisbord"

TABLE = "| Room | Seats |\n|---|---:|\n| Birch | 12 |\n| Elm | 40 |"
SET: dict[str, Any] = {
    "set": HELD_OUT,
    "passages": [
        {"id": "p1", "title": "House rules > Rooms", "text": f"As of May:\n\n{TABLE}"},
        {"id": "p2", "title": "Visitors", "text": "Room Elm has 36 seats. The gate opens at six."},
        {"id": "p3", "title": "Kitchen", "text": "Lunch is served at noon."},
    ],
    "claims": [
        {"text": "Lunch is at noon.", "entailed_by": ["p3"], "contradicted_by": [], "kind": "x"},
        {"text": "Birch seats 9.", "entailed_by": [], "contradicted_by": ["p1"], "kind": "x"},
        {"text": "Elm seats 40.", "entailed_by": ["p1"], "contradicted_by": ["p2"], "kind": "x"},
        {"text": "Lunch is free.", "entailed_by": [], "contradicted_by": [], "kind": "x"},
    ],
}


def written(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_expected_verdicts_of_all_four_kinds(tmp_path: Path) -> None:
    (item,) = sets.load(written(tmp_path / "a.jsonl", SET), held_out=True).items
    assert item.record.atoms is not None
    assert [a.label for a in item.record.atoms] == [
        *("supported", "contradicted", "conflicting", "not_found")
    ]
    assert item.gold == {"a0": True, "a1": False, "a2": False, "a3": False}
    assert item.record.contexts is None
    text = item.record.answer.text
    assert [a.span.of(text) for a in item.record.atoms if a.span] == [
        claim["text"] for claim in SET["claims"]
    ]


def test_a_passage_is_a_document_with_its_title_as_headings(tmp_path: Path) -> None:
    found = sets.load(written(tmp_path / "a.jsonl", SET), held_out=True)
    assert found.items[0].where == ("source=sundara-leave/*",)
    assert list(found.documents) == [f"sundara-leave/p{n}.md" for n in (1, 2, 3)]
    first = found.documents["sundara-leave/p1.md"]
    assert first == f"# House rules\n\n## Rooms\n\nAs of May:\n\n{TABLE}\n"
    (passage,) = chunk(markdown.load(first.encode(), "sundara-leave/p1.md"))
    assert passage.title == "House rules > Rooms"
    assert TABLE in passage.text


def test_the_folds(tmp_path: Path) -> None:
    written(tmp_path / "a.jsonl", SET)
    written(tmp_path / "b.jsonl", {**SET, "set": OTHER})
    names = {
        fold: [item.id for item in sets.load(tmp_path, held_out=fold).items]
        for fold in (True, False, None)
    }
    assert names == {True: [HELD_OUT], False: [OTHER], None: [HELD_OUT, OTHER]}
    assert {n.partition("/")[0] for n in sets.load(tmp_path, held_out=False).documents} == {OTHER}
    with pytest.raises(RecordError, match="no training set in it"):
        sets.load(tmp_path / "a.jsonl", held_out=False)
    (tmp_path / "empty").mkdir()
    with pytest.raises(RecordError, match="no set in it"):
        sets.load(tmp_path / "empty", held_out=None)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"set": None}, "expected 'set' to be a str"),
        ({"set": "—"}, "it has no letter"),
        ({"passages": ["text"]}, "expected an object with 'id', got 'text'"),
        ({"passages": [{"id": "p1", "title": "T"}]}, "expected 'text' to be a str"),
        ({"passages": [{"id": "p1", "title": "T", "text": " "}]}, "passage p1 has no title, or"),
        ({"passages": [{"id": "../p", "title": "T", "text": "T."}]}, "an id of its own: '../p'"),
        ({"passages": [SET["passages"][0]] * 2}, "an id of its own: 'p1'"),
        ({"claims": [3]}, "expected an object with 'text', got 3"),
        ({"claims": [{"text": " "}]}, "a claim has no text"),
        ({"claims": [{"text": "T."}]}, "expected 'entailed_by' to be a list"),
        (
            {"claims": [{"text": "T.", "entailed_by": ["p9"], "contradicted_by": []}]},
            "entailed_by names 'p9', which is no passage",
        ),
        (
            {"claims": [{"text": "T.", "entailed_by": ["p1"], "contradicted_by": ["p1"]}]},
            "p1 cannot entail and contradict",
        ),
    ],
)
def test_malformed_rows_are_refused_with_their_place(
    change: dict[str, Any], said: str, tmp_path: Path
) -> None:
    file = written(tmp_path / "a.jsonl", {**SET, "set": OTHER}, {**SET, **change})
    with pytest.raises(RecordError, match=r"a\.jsonl, line 2: ") as error:
        sets.load(file, held_out=None)
    assert said in str(error.value)


def test_two_sets_of_one_name_are_refused(tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", SET, {**SET, "set": "Sundara Leave"})
    with pytest.raises(RecordError, match=r"line 2: .*another set is called so"):
        sets.load(file, held_out=None)


def test_the_sets_that_are_held_out_stay_the_same() -> None:
    """A model was trained without these: the rule must never hand one of them to training."""
    found = sets.load(AUTHORED, held_out=True)
    assert sorted(item.id for item in found.items) == [
        "ardent-valve-annual-reports-documents",
        "beverlinde-registry",
        "brackenmoor-home-insurance",
        "brannock-university-hospital-documents",
        "bryndal-water-laboratories-methods-documents",
        "calder-row-hotels-staff-intranet",
        "castellane-logistics-winter-hiring-at-the-ravensund-depot",
        "corvane-appliance-warranty",
        "fh-traunfeld-exams",
        "fjordlast-notice",
        "gantry-hall-event-venue-documents",
        "haldane-post-parental-documents",
        "halden-runbooks-documents",
        "halvard-quist-the-move-to-dockside",
        "halvern-appliances-dishwashers-documents",
        "halvorsund-university-fees-documents",
        "halyard-forms-remote-software-firm-engineering-intranet",
        "harbour-trust-volunteer-guide",
        "harrow-lifts-service-contract-documents",
        "hollinbrook-day-clinic-documents",
        "hradnik-cars",
        "inkwren-notes-releases",
        "ivorsund-glass-shift-work",
        "kaldera-heat-pumps-installer-and-service-manual",
        "karst-home-care-electric-cars-for-the-rounds",
        "kestorby-bank-accounts-documents",
        "larkmoor-leave-documents",
        "library-of-brennmoor-documents",
        "longshore-investigations-newsroom-handbook",
        "marrow-street-housing-association-documents",
        "merrowdale-veterinary-practices-staff-intranet",
        "mica-sensor-development-project-documents",
        "nordhavn-support-sla",
        "nordlys-laboratory-manual",
        "obermark-photonics-visitors",
        "ostrander-kitchenware-recall-of-the-vapo-6",
        "ostravent-biologics-sop-documents",
        "quillfern-expenses-documents",
        "quillon-group-data-protection-documents",
        "ravensholt-logistics-warehouses",
        "skeinlog-retention",
        "solhaven-dairy-food-safety-documents",
        "sundara-leave",
        "tarnholt-backup-documents",
        "tessellate-foods-pack-and-line-sheets",
        "the-fen-courier-standards-and-style",
        "turkwel-lakeside-university-examinations-and-fees",
        "veltrum-medical-infusion-pumps-documents",
        "verano-espresso-machines-documents",
        "verdance-gifts-conduct-documents",
        "wexcombe-parking",
        "wexel-trail-cameras-documents",
    ]
    assert len(sets.load(AUTHORED, held_out=False).items) == 244 - 52


def test_training_takes_the_same_rule() -> None:
    for file in sorted(AUTHORED.glob("*.jsonl")):
        trained = {g.title for g in groups.sets(file, held_out=False)}
        if file.stem == "pages":  # ``load`` refuses a file without one
            assert groups.sets(file, held_out=True) == []
            continue
        kept = sets.load(file, held_out=True)
        for name, text in kept.documents.items():
            (passage,) = chunk(markdown.load(text.encode(), name))
            assert passage.title not in trained
        assert len(groups.sets(file, held_out=True)) == len(kept.documents)


def test_the_rule_of_the_other_sources_is_their_own() -> None:
    """The first bytes of SHA-256 of "a" are ca978112ca1bbdca: 14598366882391440330."""
    assert 0xCA978112CA1BBDCA % 5 == 0
    assert groups.is_held_out("sets", "a")
    for kind, one_in in (("authored", 12), ("wice", 12), ("check-covid", 6), ("scifact", 6)):
        assert groups.is_held_out(kind, "a") == (0xCA978112CA1BBDCA % one_in == 0)


def test_every_authored_passage_stays_whole_under_its_title() -> None:
    found = sets.load(AUTHORED, held_out=None)
    rows = {
        (row["set"], passage["id"]): passage
        for file in sorted(AUTHORED.glob("*.jsonl"))
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines())
        for passage in row["passages"]
    }
    assert len(rows) == len(found.documents)
    for passage, (name, text) in zip(rows.values(), found.documents.items(), strict=True):
        (whole,) = chunk(markdown.load(text.encode(), name))
        assert whole.title == passage["title"]
        assert whole.text.endswith(passage["text"].strip())


def test_the_command_on_the_shipped_encoder(tmp_path: Path) -> None:
    """Each set's claims against its own passages alone; the confusion of verdicts is shown."""
    other = {**SET, "set": "wexcombe-parking", "passages": SET["passages"][2:], "claims": []}
    other["claims"] = [{**SET["claims"][1], "contradicted_by": []}]
    data = written(tmp_path / "some.jsonl", SET, other, {**SET, "set": OTHER})
    out = tmp_path / "out"
    asked = ("bench", "sets", "--data", data, "--relation", "encoder", "--assessor", "fr2")
    options = ("--output", out, "--cache", tmp_path / "cache")
    done = factcheck(*asked, "--set", "strong=0.4", *options)
    assert done.code == 0
    result = json.loads((out / summary.SUMMARY).read_text())
    assert result["bench"] == "sets"
    assert result["command"] == (
        f"factcheck bench sets --data {data.name} --assessor fr2 --relation encoder "
        "--set strong=0.4"
    )
    assert result["settings"].endswith("|strong:0.4|conflict_within:0.2|thresholds:own")
    scores = result["methods"]["fr2"]
    assert (scores["items"], scores["claims"]) == (2, 5)
    confusion = scores["confusion"]
    assert {name: sum(row.values()) for name, row in confusion.items()} == {
        **{"supported": 1, "contradicted": 1, "conflicting": 1},
        "not_found": 2,
    }
    right = sum(confusion[name][name] for name in confusion)
    assert scores["measures"]["right_of_four"]["value"] == right / 5
    assert "| method | expected \\ given | supported |" in done.out
    lines = [json.loads(line) for line in (out / FILE).read_text().splitlines()]
    assert [line["item"] for line in lines] == ["sundara-leave", "wexcombe-parking"]
    other_fold = factcheck(*asked, "--fold", "training", *options)
    assert other_fold.code == 0
    result = json.loads((out / summary.SUMMARY).read_text())
    assert (result["bench"], result["methods"]["fr2"]["claims"]) == ("sets-training", 4)
    assert result["command"].endswith("--relation encoder --fold training")


def test_a_fold_is_for_sets_alone(tmp_path: Path) -> None:
    said = refused("bench", "wice", "--data", tmp_path, "--fold", "all")
    assert said.startswith("--fold is for sets, not for wice")
