"""Edits of an answer through the real pipeline and a real store, with scripted models."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factcheck_local.cli import correct as correct_module
from factcheck_local.cli import verify as verify_module
from factcheck_local.core.types import Thresholds
from factcheck_local.correct import Unsupported, correct
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.claims.split import segment
from factcheck_local.pipeline.settings import Settings

from .helpers import Done, factcheck, refused
from .worlds import fake, index, scripted, write

PAGES = {
    "leave": "# Leave\n\nAnnual leave is 25 days.",
    "pets": "At most 2 animals may come.",
    "old": "Probation lasts 3 months.",
    "new": "Probation lasts 4 months.",
}
#: One sentence for each verdict but unscored.
WRONG = "Annual leave is 30 days."
RIGHT = "At most 2 animals may come."
OPEN = "The moon is made of cheese."
DISPUTED = "Probation lasts 4 months."
ANSWER = f"# Your start\n\n{RIGHT} {WRONG}\n{OPEN}\n\n- {DISPUTED}\n\nAnything else?"

FIXED = "Annual leave is 25 days."
UNSOLVED = "- Probation lasts 4 months [sources disagree: new.md:1, old.md:1]."


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path / "docs", **PAGES)
    index(tmp_path / "docs", tmp_path / "store")
    (tmp_path / "answer.md").write_text(ANSWER)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "store"


def script(monkeypatch: pytest.MonkeyPatch, reply: str = FIXED) -> list[FactChecker]:
    return fake(monkeypatch, verify_module, correct_module, correct=lambda _turn: reply)


def proposed(store: Path, *options: str) -> dict[str, Any]:
    done = factcheck("correct", "answer.md", "--store", store, "--json", *options)
    assert (done.code, done.err) == (0, "")
    found: dict[str, Any] = json.loads(done.out)
    return found


def test_each_sentence_gets_the_edit_of_its_verdict(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(monkeypatch)
    found = proposed(store)
    assert found["text"] == ANSWER.replace(WRONG, FIXED).replace(
        OPEN, "The moon is made of cheese [unverified]."
    ).replace(f"- {DISPUTED}", UNSOLVED)
    edits = {e["old"]: e for e in found["edits"]}
    assert {old: e["action"] for old, e in edits.items()} == {
        WRONG: "replace",
        OPEN: "mark",
        DISPUTED: "mark",
    }
    for old, edit in edits.items():
        assert ANSWER[edit["start"] : edit["end"]] == old
    (claim,) = edits[WRONG]["claims"]
    assert (claim["text"], claim["verdict"]) == (WRONG, "contradicted")
    (cited,) = claim["citations"]
    assert (cited["place"], cited["quote"]) == ("leave.md:3", FIXED)
    (checked,) = edits[WRONG]["checked"]
    assert (checked["text"], checked["verdict"]) == (FIXED, "supported")
    assert checked["probability"] > 0.5
    sides = [c["relation"] for c in edits[DISPUTED]["claims"][0]["citations"]]
    assert sorted(sides) == ["contradiction", "entailment"]


def test_a_patch_that_says_what_it_rests_on(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(monkeypatch)
    done = factcheck("correct", "answer.md", "--store", store)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    head = lines.index("--- a/answer.md")
    assert all(line.startswith("# ") for line in lines[:head])
    assert lines[0] == f"# line 3, replaced: {WRONG}"
    assert "#     leave.md:3 (contradiction): “Annual leave is 25 days.”" in lines
    assert any(line.startswith("#   now supported ") for line in lines)
    assert (store.parent / "answer.md").read_text() == ANSWER, "nothing is written unasked"
    if git := shutil.which("git"):
        subprocess.run(
            [git, "apply", "-"], input=done.out.encode(), cwd=store.parent, check=True,
            env={"GIT_CEILING_DIRECTORIES": str(store.parent.parent)},
        )  # fmt: skip
        assert (store.parent / "answer.md").read_text() == (
            f"# Your start\n\n{RIGHT} {FIXED}\nThe moon is made of cheese [unverified].\n\n"
            f"{UNSOLVED}\n\nAnything else?"
        )


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("Annual leave is 40 days.", "a number that nobody gave: 40"),
        # Passes the lexical checks, since the answer has the word and the number.
        (
            "Annual leave is 30 or 25 days.",
            "is contradicted itself: Annual leave is 30 or 25 days.",
        ),
        ("", "the model did not change the sentence"),
    ],
)
def test_what_does_not_hold_is_marked_instead(
    reply: str, why: str, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(monkeypatch, reply)
    (edit,) = (e for e in proposed(store)["edits"] if e["old"] == WRONG)
    assert edit["action"] == "mark"
    assert edit["new"] == "Annual leave is 30 days [contradicted by leave.md:3]."
    assert why in edit["refused"]
    (draft,) = edit["drafts"]
    assert (draft["text"], draft["refused"]) == (reply, edit["refused"])
    assert [c["text"] for c in draft["checked"]] == ([reply] if "itself" in why else [])


def test_unsupported_sentences_go_or_stay_as_asked(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(monkeypatch, "")
    removed = proposed(store, "--unsupported", "remove")["text"]
    # The conflict is not for us to decide.
    assert removed == f"# Your start\n\n{RIGHT}\n\n{UNSOLVED}\n\nAnything else?"
    kept = proposed(store, "--unsupported", "keep")
    assert kept["text"] == ANSWER
    assert kept["patch"] == ""
    assert [e["action"] for e in kept["edits"]] == ["keep"] * 3


def test_a_marked_answer_is_not_marked_again(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (store.parent / "answer.md").write_text(f"{OPEN} {RIGHT}")
    script(monkeypatch)
    assert factcheck("correct", "answer.md", "--store", store, "--write").code == 0
    once = (store.parent / "answer.md").read_text()
    assert once == f"The moon is made of cheese [unverified]. {RIGHT}"
    done = factcheck("correct", "answer.md", "--store", store, "--write")
    assert "written" not in done.err
    assert (store.parent / "answer.md").read_text() == once


def test_claims_of_one_sentence_are_one_edit(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sentence = "Annual leave is 30 days and the moon is made of cheese."
    (store.parent / "answer.md").write_text(f"{RIGHT}\n{sentence}")
    fake(
        monkeypatch,
        correct_module,
        correct=lambda _turn: sentence.replace("30", "25"),
        split=lambda said: said.replace(" and the", ".\nThe"),
    )
    found = proposed(store)
    (edit,) = found["edits"]
    assert [c["verdict"] for c in edit["claims"]] == ["contradicted", "not_found"]
    # Of the other claim the verdict is known: nothing changes in it.
    assert [(c["text"], c["verdict"]) for c in edit["checked"]] == [(FIXED, "supported")]
    assert found["text"] == (
        f"{RIGHT}\nAnnual leave is 25 days and the moon is made of cheese [unverified]."
    )


@pytest.mark.parametrize(
    ("second", "action"),
    [
        # Split anew, the other claim has other words, none of which is new in the sentence.
        ("It is the moon that is made of cheese.", "replace"),
        ("The moon is made of cheese in 25 days.", "keep"),
        ("The moon is not made of cheese.", "keep"),
    ],
)
def test_a_claim_that_was_open_may_stay_so_in_other_words(
    store: Path, monkeypatch: pytest.MonkeyPatch, second: str, action: str
) -> None:
    first = "The moon is made of cheese."
    sentence = f"Annual leave is 30 days and {first[0].lower()}{first[1:]}"
    (store.parent / "answer.md").write_text(f"{RIGHT}\n{sentence}")
    # More than the wrong claim changes, and of that more than one run of words, so the sentence is
    # split anew.
    new = sentence.replace("30", "25").replace("Annual", "The annual").replace("and", "and so")
    if "not" in second:
        new = new.replace("made", "not made")

    def split(said: str) -> str:
        said = said.replace("The annual", "Annual").replace("and so", "and")
        days, _, moon = said.partition(" and ")
        return f"{days}.\n{second if '25' in days else moon.capitalize()}" if moon else said

    fake(monkeypatch, correct_module, correct=lambda _turn: new, split=split)
    found = proposed(store, "--unsupported", "keep")
    assert [edit["action"] for edit in found["edits"]] == [action]


def test_what_is_said_twice_is_corrected_twice(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (store.parent / "answer.md").write_text(f"{WRONG} {RIGHT}\n\n* {WRONG}\n")
    script(monkeypatch)
    found = proposed(store)
    assert len(found["edits"]) == 2
    assert found["text"] == f"{FIXED} {RIGHT}\n\n* {FIXED}\n"


# ---------------------------------------------------------------- write, run


def stored(store: Path) -> Path:
    path = store.parent / "run.json"
    options = ("--store", store, "--format", "json", "--output", path)
    assert factcheck("verify", "answer.md", *options).code == 0
    return path


def test_write_keeps_every_other_byte(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(monkeypatch)
    path = store.parent / "answer.md"
    path.write_bytes(f"\ufeff{RIGHT}\r\n\r\n{WRONG}\r\n".encode())
    path.chmod(0o600)
    done = factcheck("correct", "answer.md", "--store", store, "--write")
    assert (done.code, done.err) == (0, "written to answer.md\n")
    assert path.read_bytes() == f"\ufeff{RIGHT}\r\n\r\n{FIXED}\r\n".encode()
    assert path.stat().st_mode & 0o777 == 0o600
    assert refused("correct", "-", "--write", stdin=b"x") == "standard input: cannot be written to"
    (store.parent / "r.json").write_text('{"output": "x"}')
    assert refused("correct", "r.json", "--write").startswith("r.json: a record cannot be written")


@pytest.mark.skipif(shutil.which("git") is None, reason="git applies the patches")
@pytest.mark.parametrize("of_a_run", [False, True])
def test_a_patch_is_one_of_the_file_with_its_byte_order_mark(
    store: Path, monkeypatch: pytest.MonkeyPatch, *, of_a_run: bool
) -> None:
    script(monkeypatch)
    path = store.parent / "answer.md"
    path.write_bytes(f"\ufeff{WRONG}\n".encode())
    made = stored(store) if of_a_run else path
    done = factcheck("correct", made, *([] if of_a_run else ["--store", store]))
    subprocess.run(
        ["git", "apply", "-"], input=done.out.encode(), cwd=store.parent, check=True,
        env={"GIT_CEILING_DIRECTORIES": str(store.parent.parent), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert path.read_bytes() == f"\ufeff{FIXED}\n".encode()


@pytest.mark.parametrize("name", ["answers.json", "answers.jsonl"])
def test_a_patch_of_a_record_is_one_of_its_answer(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    script(monkeypatch)
    record = {
        "output": WRONG,
        "atoms": [{"id": "a1", "text": WRONG, "original": WRONG, "contexts": ["c1"]}],
        "contexts": [{"id": "c1", "title": "Leave", "text": FIXED}],
    }
    # The mark is that of the file, not of the answer in it.
    Path(name).write_bytes(f"\ufeff{json.dumps(record)}\n".encode())
    done = factcheck("correct", name)
    assert done.code == 0, done.err
    patch = done.out[done.out.index("--- ") :].splitlines()
    assert patch[:2] == ["--- a/answers.md", "+++ b/answers.md"]
    assert [line for line in patch if line.startswith(("-A", "+A"))] == [f"-{WRONG}", f"+{FIXED}"]


def test_a_stored_run_is_not_verified_again(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = script(monkeypatch)
    run = stored(store)
    made.clear()
    direct = factcheck("correct", "answer.md", "--store", store)
    done = factcheck("correct", run)
    assert done == direct
    assert isinstance(made[-1].settings, Settings)
    assert made[-1].settings == made[0].settings
    assert made[-1].store is None
    assert factcheck("correct", run, "--write").err == "written to answer.md\n"
    assert (store.parent / "answer.md").read_text().startswith(f"# Your start\n\n{RIGHT} {FIXED}")
    # The run is of the answer as it was.
    assert refused("correct", run, "--write") == (
        f"answer.md: is no longer the answer that {run} is of"
    )
    (store.parent / "answer.md").unlink()
    assert "the answer that it is of is not there" in refused("correct", run, "--write")
    assert refused("correct", run, "-k", 2).startswith("a stored run keeps its settings")
    value = json.loads(run.read_text())
    value["atoms"][0]["span"]["end"] = 10_000
    run.write_text(json.dumps(value))
    assert refused("correct", run) == f"{run}: claim a1 stands beyond the end of the answer"
    del value["contexts"]
    run.write_text(json.dumps(value))
    assert "not a complete assessment: KeyError('contexts')" in refused("correct", run)


def test_a_stored_run_of_a_judge_gives_nothing_to_correct_from(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = script(monkeypatch)
    run = stored(store)
    value = json.loads(run.read_text())
    value["run"]["settings"] = Settings.effective({"assessor": "factverify"}).as_dict()
    run.write_text(json.dumps(value))
    made.clear()
    assert refused("correct", run) == (
        "assessor factverify: a judge gives no evidence to correct from"
    )
    assert made == []


@pytest.mark.parametrize("command", ["correct", "recheck", "replay"])
@pytest.mark.parametrize(("field", "value"), [("text", None), ("text", 3), ("question", ["?"])])
def test_a_stored_answer_that_is_no_text_is_refused(
    store: Path, monkeypatch: pytest.MonkeyPatch, command: str, field: str, value: object
) -> None:
    script(monkeypatch)
    run = stored(store)
    found = json.loads(run.read_text())
    found["answer"][field] = value
    run.write_text(json.dumps(found))
    assert refused(command, run) == (
        f"{run}: expected the answer's {field} to be a text, got {value!r}"
    )


def test_a_stored_run_is_corrected_with_its_own_calibration(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which a store may have given it, and no store is named now."""
    script(monkeypatch)
    run = json.loads(factcheck("verify", "answer.md", "--store", store, "--format", "json").out)
    relation = next(m for m in run["run"]["models"] if m["role"] == "relation")
    relation["calibration"] = {"slope": 0.5, "bias": [0.1, 0.2, 0.3]}
    fitted = {"supported": 0.9, "contradicted": 0.0, "alpha": 0.05}
    run["run"]["risk"] = {**fitted, "claims": 40, "data": "ours", "assessor": "fr2"}
    Path("run.json").write_text(json.dumps(run))
    given: list[object] = []
    risks: list[Thresholds | None] = []
    usual = vars(correct_module)["FactChecker"].__init__

    def noted(self: FactChecker, *arguments: Any, **options: Any) -> None:  # noqa: ANN401
        given.append((options.get("recorded") or {}).get("calibration"))
        usual(self, *arguments, **options)
        risks.append(self.risk)

    monkeypatch.setattr(vars(correct_module)["FactChecker"], "__init__", noted)
    assert factcheck("correct", "run.json").code == 0
    assert factcheck("correct", "run.json", "--store", store).code == 0
    assert given == [relation["calibration"], None], "a store that is named counts"
    assert risks == [Thresholds(**run["run"]["risk"]), None]


def test_a_claim_that_has_no_place_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(monkeypatch)
    record = {
        "output": RIGHT,
        "atoms": [{"id": "a1", "text": WRONG, "contexts": ["c1"]}],
        "contexts": [{"id": "c1", "title": "Leave", "text": FIXED}],
    }
    (tmp_path / "record.json").write_text(json.dumps(record))
    done = factcheck("correct", tmp_path / "record.json")
    assert done.code == 0
    (line,) = done.out.splitlines()
    assert line.startswith("# not placed in the answer: contradicted ")
    assert line.endswith(WRONG)


def test_nothing_to_correct(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (store.parent / "answer.md").write_text(RIGHT)
    made = script(monkeypatch)
    done = factcheck("correct", "answer.md", "--store", store)
    assert done == Done(0, "", "nothing to correct\n")
    assert len(made) == 1


_VERDICTS = st.sampled_from(
    ["supported", "contradicted", "conflicting", "undecided", "not_found", "unscored", "skipped"]
)
_MODES: st.SearchStrategy[Unsupported] = st.sampled_from(["mark", "remove", "keep"])


@settings(deadline=None, max_examples=60)
@given(st.lists(_VERDICTS, min_size=7, max_size=7), _MODES, st.sampled_from(["", FIXED]))
def test_the_text_outside_of_edits_stays(
    verdicts: list[str], mode: Unsupported, reply: str
) -> None:
    text = (
        f"# Start\n\n{WRONG}  {OPEN}\r\n{RIGHT} x\n- {DISPUTED}\n- {WRONG}\n\n|a|b|\n|-|-|\n|c|d|\n"
    )
    checker = scripted([], lambda _turn: reply)(Settings())
    found = correct(_assessed(text, verdicts), checker, unsupported=mode)
    at = place = 0
    for edit in found.edits:
        gap = text[place : edit.span.start]
        assert text[edit.span.start : edit.span.end] == edit.old
        assert found.text[at:].startswith(gap + edit.new)
        at += len(gap) + len(edit.new)
        place = edit.span.end
    assert found.text[at:] == text[place:]
    wanted = {"contradicted", "conflicting", "undecided", "not_found"}
    assert bool(found.edits) == bool(wanted & set(verdicts))


def test_what_is_undecided_is_marked_and_never_rewritten_or_removed() -> None:
    text = "\n".join(f"- Rule {i} holds." for i in range(6)) + f"\n- {WRONG}\n"
    value = _assessed(text, ["undecided", *["supported"] * 5, "contradicted"])
    checker = scripted([], lambda _turn: FIXED)(Settings())
    marked = "Rule 0 holds [not decided by leave.md]."
    for mode in ("mark", "remove"):
        found = correct(value, checker, unsupported=mode)
        assert [(e.action, e.new) for e in found.edits] == [("mark", marked), ("replace", FIXED)]
    kept = correct(value, checker, unsupported="keep")
    assert [e.action for e in kept.edits] == ["keep", "replace"]


def _assessed(text: str, verdicts: list[str]) -> dict[str, Any]:
    """An assessment whose sentences have these verdicts, all with the same evidence."""
    units = [s for s in segment(text) if s.kind is None]
    assert len(units) == 7
    context = {"id": "c1", "source": "leave.md", "title": "", "text": FIXED, "prior": 0.9}
    quote = {"text": FIXED, "start": 0, "end": len(FIXED)}
    evidence = [
        {"context": "c1", "relation": r, "probability": 0.9, "quote": quote}
        for r in ("contradiction", "entailment")
    ]
    atoms = [
        {
            "id": f"a{i}",
            "kind": "fact",
            "text": unit.text,
            "span": {"start": unit.span.start, "end": unit.span.end},
            "verdict": verdict,
            "probability": 0.5,
            "evidence": evidence,
        }
        for i, (unit, verdict) in enumerate(zip(units, verdicts, strict=True))
    ]
    relations = [{"from": "c1", "to": a["id"]} for a in atoms]
    answer = {"path": None, "text": text, "question": None}
    return {"answer": answer, "atoms": atoms, "contexts": [context], "relations": relations}
