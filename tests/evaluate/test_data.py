"""The benchmarks' data as items: small files in the data sets' own forms."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from factcheck_local.core.errors import RecordError
from factcheck_local.evaluate import atoms, factor
from factcheck_local.evaluate.data import factcheckbench, felm, handbook, record, wice

ROOT = Path(__file__).parent.parent.parent
SHARED = ROOT.parent / "shared" / "data"

RESPONSE: dict[str, Any] = {
    "id": 7,
    "prompt": "When is lunch?",
    "response": "At noon. It is free.",
    "sentences": {
        "sentence1": {
            "text": "At noon.",
            "claims": ["Lunch is at noon."],
            "claims_factuality_label": [True],
            "auto_evidence": [["Lunch is served at noon.", "The gate opens at six."]],
            "auto_evidence_url": [["http://a.example/1", "http://a.example/2"]],
            "human_evidence": ["NA"],
        },
        "sentence2": {
            "text": "It is free.",
            "claims": ["Lunch is free.", "Lunch is hot."],
            "claims_factuality_label": [False, "unknown"],
            "auto_evidence": [["Guests pay 9 euros."], []],
            "auto_evidence_url": [["http://a.example/3"], []],
            "human_evidence": ["http://a.example/4\n\nGuests have to pay 9 euros.", " "],
        },
    },
}


def lines(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_factcheckbench_with_each_claim_s_own_evidence(tmp_path: Path) -> None:
    file = lines(tmp_path / "responses.jsonl", RESPONSE)
    (item,) = factcheckbench.load(file, oracle=True).items
    assert item.gold == {"a0": True, "a1": False}
    assert item.record.atoms is not None
    assert item.record.contexts is not None
    texts = {c.id: (c.text, c.link) for c in item.record.contexts}
    assert [[texts[i] for i in a.context_ids] for a in item.record.atoms] == [
        [
            ("Lunch is served at noon.", "http://a.example/1"),
            ("The gate opens at six.", "http://a.example/2"),
        ],
        [
            ("Guests pay 9 euros.", "http://a.example/3"),
            ("Guests have to pay 9 euros.", "http://a.example/4"),
        ],
        [],
    ]


def test_factcheckbench_with_retrieval_open(tmp_path: Path) -> None:
    lines(tmp_path / "responses.jsonl", RESPONSE)
    found = factcheckbench.load(tmp_path, oracle=False)
    assert found.items[0].record.contexts is None
    assert sorted(found.documents.values()) == [
        "Guests have to pay 9 euros.",
        "Guests pay 9 euros.",
        "Lunch is served at noon.",
        "The gate opens at six.",
    ]


def test_wice(tmp_path: Path) -> None:
    rows = [
        {"claim": "A.", "label": "supported", "evidence": ["One.", "Two."]},
        {"claim": "B.", "label": "partially_supported", "evidence": ["One.", "Two."]},
        {"claim": "C.", "label": "not_supported", "evidence": ["Three."]},
    ]
    found = wice.load(lines(tmp_path / "dev.jsonl", *rows), oracle=True)
    assert [i.gold for i in found.items] == [{"a0": True}, {"a0": False}, {"a0": False}]
    assert [i.where for i in found.items] == [
        ("source=article0000.txt",),
        ("source=article0000.txt",),
        ("source=article0001.txt",),
    ]
    assert found.documents == {"article0000.txt": "One.\nTwo.", "article0001.txt": "Three."}
    assert {i.where for i in wice.load(tmp_path, oracle=False).items} == {()}
    split = wice.load(tmp_path, oracle=True, pipeline=True)
    assert [i.record.atoms for i in split.items] == [None] * 3
    assert [[s.wrong for s in i.segments] for i in split.items] == [[False], [True], [True]]
    whole = [s.span.of(i.record.answer.text) for i in split.items for s in i.segments]
    assert whole == ["A.", "B.", "C."]


FELM = {
    "index": "3",
    "domain": "wk",
    "prompt": "Who?",
    "segmented_response": ["Ann did it.", "***", "In 1999."],
    "labels": [True, True, False],
    "type": [None, "None", "knowledge_error"],
    "ref_contents": ["x" * 150, "y" * 150],
}


def test_felm_segments_are_atoms_at_their_place(tmp_path: Path) -> None:
    (item,) = felm.load(lines(tmp_path / "felm.jsonl", FELM), oracle=True).items
    text = item.record.answer.text
    assert item.record.atoms is not None
    assert [a.span.of(text) for a in item.record.atoms if a.span] == ["Ann did it.", "In 1999."]
    assert [(s.span.of(text), s.wrong) for s in item.segments] == [
        ("Ann did it.", False),
        ("***", False),
        ("In 1999.", True),
    ]
    assert [s.error for s in item.segments] == [None, None, "knowledge_error"]
    assert item.gold == {"a0": True, "a2": False}
    assert (item.group, item.where) == ("wk", ("source=answer3.txt",))


def test_felm_with_the_pipeline_s_atoms(tmp_path: Path) -> None:
    file = lines(tmp_path / "felm.jsonl", FELM, {**FELM, "index": "4", "ref_contents": ""})
    found = felm.load(file, oracle=False, pipeline=True)
    assert [i.record.atoms for i in found.items] == [None, None]
    assert list(found.documents) == ["answer3.txt"]


def test_the_sample_handbook() -> None:
    found = handbook.load(ROOT / "corpora" / "handbook")
    assert len(found.items) == 5
    assert sum(len(i.gold) for i in found.items) == 84
    for item in found.items:
        for a in item.record.atoms or ():
            assert a.span is not None
            assert a.span.of(item.record.answer.text) == a.original


def test_records(tmp_path: Path) -> None:
    given = {
        "output": "Lunch is at noon. It is free.",
        "atoms": [
            {"id": "a0", "text": "Lunch is at noon.", "label": "S"},
            {"id": "a1", "text": "Lunch is free.", "label": "NS"},
            {"id": "a2", "text": "Lunch is.", "label": "IR"},
        ],
    }
    (item,) = record.load(lines(tmp_path / "r.jsonl", given)).items
    assert item.gold == {"a0": True, "a1": False}


def test_factor(tmp_path: Path) -> None:
    (tmp_path / "expert_factor.csv").write_text(
        "context,completion,contradiction_0,contradiction_1,contradiction_2\n"
        '"It is, he said,",true,"false, 1",false 2,false 3\n'
    )
    ((item,), digest) = factor.load(tmp_path)
    assert (item.context, item.true) == ("It is, he said,", "true")
    assert item.false == ("false, 1", "false 2", "false 3")
    assert len(digest) == 64


def test_biographies(tmp_path: Path) -> None:
    given = {
        "input": "Question: Tell me a bio of Ann.",
        "output": "Ann sings. Ann sings. I hope that helps.",
        "annotations": [
            {
                "text": "Ann sings.",
                "is-relevant": True,
                "human-atomic-facts": [{"text": "Ann sings."}],
            },
            {"text": "Ann sings.", "is-relevant": True, "human-atomic-facts": None},
            {"text": "I hope that helps.", "is-relevant": False},
            {"text": "Not there.", "is-relevant": True},
        ],
    }
    file = lines(tmp_path / "ChatGPT.jsonl", given, {"output": "No comment.", "annotations": None})
    ((item,), _) = atoms.load(file)
    assert item.answer.question == "Tell me a bio of Ann."
    assert [(s.span.start, s.relevant, s.atoms) for s in item.sentences] == [
        (0, True, ("Ann sings.",)),
        (11, True, ()),
        (22, False, ()),
    ]


@pytest.mark.parametrize(
    ("load", "row", "said"),
    [
        (factcheckbench.load, {"prompt": "x"}, "line 1: expected 'response' to be a str"),
        (wice.load, {"evidence": [], "claim": 3}, "line 1: expected 'claim' to be a str"),
        (felm.load, {"segmented_response": ["a"], "labels": []}, "1 segments and 0 labels"),
    ],
)
def test_a_row_that_is_not_as_expected(
    load: Callable[..., object], row: object, said: str, tmp_path: Path
) -> None:
    with pytest.raises(RecordError, match=said):
        load(lines(tmp_path / "rows.jsonl", row), oracle=True)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sentence1": []}, r"expected an object with 'claims_factuality_label', got \[\]"),
        ({"sentence1": {"claims": [3], "claims_factuality_label": [True]}}, "claims to be texts"),
    ],
)
def test_a_sentence_of_factcheckbench_that_is_not_as_expected(
    change: dict[str, Any], said: str, tmp_path: Path
) -> None:
    file = lines(tmp_path / "r.jsonl", RESPONSE, {**RESPONSE, "sentences": change})
    with pytest.raises(RecordError, match=rf"r\.jsonl, line 2: .*{said}"):
        factcheckbench.load(file, oracle=True)


@pytest.mark.parametrize("evidence", [3, "text", [3], [{"text": "x"}], [[3, None]]])
def test_evidence_of_factcheckbench_that_is_no_text_is_passed_over(
    evidence: object, tmp_path: Path
) -> None:
    odd = {**RESPONSE["sentences"]["sentence1"], "auto_evidence": evidence}
    row = {**RESPONSE, "sentences": {"sentence1": odd}}
    (item,) = factcheckbench.load(lines(tmp_path / "r.jsonl", row), oracle=True).items
    assert item.record.contexts == ()


@pytest.mark.parametrize(
    ("annotations", "said"),
    [
        (3, "expected 'annotations' to be a list"),
        (["It is."], "expected an object with 'text', got 'It is.'"),
        (
            [{"text": "It is.", "human-atomic-facts": ["It is."]}],
            "expected an object with 'text', got 'It is.'",
        ),
        ([{"text": "It is.", "human-atomic-facts": 3}], "'human-atomic-facts' to be a list"),
        ([{"text": "It is.", "model-atomic-facts": [{}]}], "expected 'text' to be a str"),
    ],
)
def test_annotations_that_are_not_as_expected(
    annotations: object, said: str, tmp_path: Path
) -> None:
    file = lines(tmp_path / "b.jsonl", {"output": "It is.", "annotations": annotations})
    with pytest.raises(RecordError, match=rf"b\.jsonl, line 1: .*{said}"):
        atoms.load(file)


def test_a_row_of_factor_that_ends_early(tmp_path: Path) -> None:
    header = "context,completion,contradiction_0,contradiction_1,contradiction_2\n"
    (tmp_path / "expert_factor.csv").write_text(f"{header}It is,true,1,2,3\nIt is\n")
    with pytest.raises(RecordError, match=r"expert_factor\.csv, line 3: too few columns"):
        factor.load(tmp_path)
    (tmp_path / "expert_factor.csv").write_text("context,completion\nIt is,true\n")
    with pytest.raises(RecordError, match="expected a column 'contradiction_0'"):
        factor.load(tmp_path)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    for load in (record.load, handbook.load, factor.load, atoms.load):
        with pytest.raises(RecordError):
            load(tmp_path / "missing")


@pytest.mark.skipif(not SHARED.is_dir(), reason="the development data is not here")
def test_the_real_files() -> None:
    found = factcheckbench.load(SHARED / "factcheckbench", oracle=True)
    assert len(found.items) == 47
    gold = [g for i in found.items for g in i.gold.values()]
    assert (len(gold), sum(gold)) == (320, 244)
    assert len(wice.load(SHARED / "wice", oracle=False).items) == 349
    assert len(felm.load(SHARED / "felm", oracle=True).items) == 424
    assert len(factor.load(SHARED / "factor")[0]) == 236
    assert len(atoms.load(SHARED / "factscore")[0]) > 30
    assert len(record.load(SHARED / "factreasoner" / "flaherty_wikipedia.json").items) == 1
