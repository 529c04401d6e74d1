"""Reviews: several people, what they agree on, and what calibrate makes of it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient

from factcheck_local.cli.calibrate import _read as _read_pairs
from factcheck_local.cli.risk import _read
from factcheck_local.core.errors import InputError
from factcheck_local.serve.audit import verified
from factcheck_local.serve.reviews import Agreement, Review, Reviews, state_of

from .conftest import asked, service_of, work
from .test_app import BOARD, LEAVE, key, submit

Serve = Callable[..., TestClient]


def word(claim: str, reviewer: str, verdict: str) -> Review:
    return Review(claim, reviewer, verdict, "", 0.0)  # type: ignore[arg-type]


def test_agreement_counts_claims_that_two_judged_and_words_that_are_clear() -> None:
    said = [
        word("a", "ann", "supported"),
        word("a", "bob", "supported"),
        word("b", "ann", "contradicted"),
        word("b", "bob", "not_found"),
        word("c", "ann", "unclear"),
        word("d", "bob", "supported"),
    ]
    verdicts = {"a": "supported", "b": "contradicted", "c": "supported", "d": "not_found"}
    # a and b were judged by two, a alike; of five clear words the run says three.
    assert Agreement.of(said, verdicts) == Agreement(claims=2, agreed=1, judged=5, as_run=3)
    assert Agreement.of([], verdicts) == Agreement(0, 0, 0, 0)
    assert [state_of(said[:n]) for n in (0, 1, 2)] == ["open", "agreed", "agreed"]
    assert state_of(said[2:4]) == "disputed"


def test_the_latest_word_counts_and_the_earlier_ones_stay(tmp_path: Path) -> None:
    reviews = Reviews(tmp_path / "reviews.sqlite")
    reviews.add("x", "a", "ann", "supported", "at first sight")
    reviews.add("x", "a", "bob", "supported", "")
    reviews.add("x", "a", "ann", "contradicted", "read again")
    reviews.add("y", "a", "ann", "unclear", "")
    again = Reviews(tmp_path / "reviews.sqlite")
    assert [(r.reviewer, r.verdict) for r in again.all("x")] == [
        ("ann", "supported"),
        ("bob", "supported"),
        ("ann", "contradicted"),
    ]
    latest = {r.reviewer: (r.verdict, r.reason) for r in again.latest("x")}
    assert latest == {"ann": ("contradicted", "read again"), "bob": ("supported", "")}


def test_two_reviewers_of_one_check(serve: Serve, tmp_path: Path) -> None:
    client = serve(needs_key=True)
    owner = key(client, "owner", "check")
    ann, bob = (key(client, name, "review") for name in ("ann", "bob"))
    id_ = submit(client, asked(LEAVE, BOARD), **owner)
    claims = f"/v1/checks/{id_}/claims"
    early = client.post(f"{claims}/a0/review", json={"verdict": "supported"}, headers=ann)
    assert early.status_code == 409, "nothing is there to be reviewed yet"
    work(client)
    assert client.get(f"/v1/checks/{id_}", headers=ann).json()["state"] == "done"

    def states(who: dict[str, str], query: str = "") -> list[tuple[str, str]]:
        found = client.get(f"/v1/reviews{query}", headers=who).json()["claims"]
        return [(row["claim"], row["state"]) for row in found]

    assert states(ann) == [("a0", "open"), ("a1", "open")]
    for who, claim, verdict in (
        (ann, "a0", "supported"),
        (bob, "a0", "supported"),
        (ann, "a1", "supported"),
        (bob, "a1", "not_found"),
    ):
        body = {"verdict": verdict, "reason": "as it stands there"}
        answered = client.post(f"{claims}/{claim}/review", json=body, headers=who)
        assert answered.status_code == 201
    assert states(bob) == [("a0", "agreed"), ("a1", "disputed")]
    assert states(bob, "?state=disputed") == [("a1", "disputed")]
    assert states(bob, "?state=open") == []
    shown = client.get(f"/v1/checks/{id_}/reviews", headers=bob).json()
    assert [review["reviewer"] for review in shown["reviews"]] == ["ann", "bob", "ann", "bob"]
    assert shown["agreement"] == {"claims": 2, "agreed": 1, "judged": 4, "as_run": 3}
    # What calibrate --risk reads: only what is agreed on is a label.
    text = client.get("/v1/reviews.jsonl", headers=ann).text
    assert [json.loads(line)["reviewed"] for line in text.splitlines()] == ["supported"]
    (tmp_path / "labels.jsonl").write_text(text)
    (label,), unlabelled = _read(str(tmp_path / "labels.jsonl"))
    assert (label.label.value, unlabelled) == ("supported", 0)
    done = [e["what"] for e in verified(service_of(client).config.folder / "audit.jsonl")]
    assert done.count("claim.reviewed") == 4
    assert "as it stands" not in (service_of(client).config.folder / "audit.jsonl").read_text()


def test_labels_of_passages_go_to_calibrate_where_all_say_the_same(
    serve: Serve, tmp_path: Path
) -> None:
    client = serve(needs_key=True)
    owner = key(client, "owner", "check")
    ann, bob = (key(client, name, "review") for name in ("ann", "bob"))
    id_ = submit(client, asked(LEAVE, BOARD), **owner)
    work(client)
    result = client.get(f"/v1/checks/{id_}", headers=ann).json()["result"]
    passages = [atom["evidence"][0]["context"] for atom in result["atoms"]]
    for who, labels in ((ann, ("entailment", "neutral")), (bob, ("entailment", "contradiction"))):
        for claim, passage, label in zip(("a0", "a1"), passages, labels, strict=True):
            body = {"verdict": "supported", "evidence": {passage: label}}
            path = f"/v1/checks/{id_}/claims/{claim}/review"
            assert client.post(path, json=body, headers=who).json()["evidence"] == {passage: label}
    wrong = {"verdict": "supported", "evidence": {passages[0]: "perhaps"}}
    assert client.post(path, json=wrong, headers=ann).status_code == 422
    for passage in ("none", passages[0]):
        unknown = {"verdict": "supported", "evidence": {passage: "neutral"}}
        refused = client.post(path, json=unknown, headers=ann)
        said = f"evidence: no such passage of this claim: {passage!r}"
        assert (refused.status_code, refused.json()["detail"]) == (422, said)
    assert len(client.get(f"/v1/checks/{id_}/reviews", headers=ann).json()["reviews"]) == 4
    lines = [json.loads(x) for x in client.get("/v1/reviews.jsonl", headers=ann).text.splitlines()]
    (pair,) = [line for line in lines if line["kind"] == "relation"]
    text = next(c["text"] for c in result["contexts"] if c["id"] == passages[0])
    assert (pair["premise"], pair["hypothesis"], pair["label"]) == (text, LEAVE, "entailment")
    # As calibrate takes them: too few, but nothing else is wrong with them.
    (tmp_path / "labels.jsonl").write_text(client.get("/v1/reviews.jsonl", headers=ann).text)
    with pytest.raises(InputError, match=r"pairs, and .* got 1: "):
        _read_pairs(str(tmp_path / "labels.jsonl"))


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("a9", {"verdict": "supported"}, 404),
        ("a0", {"verdict": "true"}, 422),
        ("a0", {}, 422),
        ("a0", {"verdict": "supported", "reason": "x" * 10_001}, 422),
        ("a0", {"verdict": "supported", "reviewer": "somebody else"}, 422),
    ],
)
def test_reviews_that_are_refused(
    serve: Serve, path: str, body: dict[str, object], status: int
) -> None:
    client = serve()
    id_ = submit(client, asked(LEAVE))
    work(client)
    answered = client.post(f"/v1/checks/{id_}/claims/{path}/review", json=body)
    assert answered.status_code == status
    assert client.get(f"/v1/checks/{id_}/reviews").json()["reviews"] == []


def test_a_reviewer_sees_no_check_that_could_see_more_than_they(serve: Serve) -> None:
    client = serve(needs_key=True)
    everything = key(client, "all", "check")
    board = key(client, "member", "check", groups=("board",))
    staff = key(client, "staff", "review", groups=("staff",))
    both = key(client, "both", "review", groups=("staff", "board"))
    chief = key(client, "chief", "review")
    wide, narrow = (submit(client, asked(BOARD), **who) for who in (everything, board))
    work(client)
    seen = {
        name: [
            id_
            for id_ in (wide, narrow)
            if client.get(f"/v1/checks/{id_}", headers=who).status_code == 200
            and client.get(f"/v1/checks/{id_}/reviews", headers=who).status_code == 200
            and id_ in client.get("/v1/reviews", headers=who).text
        ]
        for name, who in {"staff": staff, "both": both, "chief": chief}.items()
    }
    assert seen == {"staff": [], "both": [narrow], "chief": [wide, narrow]}
    for path in ("", "/reviews", "/report.html"):
        assert client.get(f"/v1/checks/{wide}{path}", headers=staff).status_code == 404
    assert "Lisbon" not in client.get("/v1/reviews", headers=staff).text
    assert client.delete(f"/v1/checks/{narrow}", headers=both).status_code == 403


def test_a_claim_with_any_sign_in_its_id_is_reviewed(serve: Serve) -> None:
    client = serve()
    claim = "policy/2024/§ 3?#a"
    record = {"output": LEAVE, "atoms": [{"id": claim, "text": LEAVE, "original": LEAVE}]}
    id_ = submit(client, {"record": record})
    work(client)
    path = f"/v1/checks/{id_}/claims/{quote(claim, safe='')}/review"
    assert client.post(path, json={"verdict": "supported"}).status_code == 201
    (kept,) = client.get(f"/v1/checks/{id_}/reviews").json()["reviews"]
    assert kept["claim"] == claim


def test_reviews_of_before_there_were_labels_are_read(tmp_path: Path) -> None:
    path = tmp_path / "reviews.sqlite"
    Reviews(path).add("x", "a", "ann", "supported", "")
    with closing(sqlite3.connect(path)) as db:
        db.execute("ALTER TABLE reviews DROP COLUMN evidence")
        db.commit()
    reviews = Reviews(path)
    reviews.add("x", "a", "bob", "unclear", "", {"p": "neutral"})
    assert [(r.reviewer, r.evidence) for r in reviews.all("x")] == [
        ("ann", {}),
        ("bob", {"p": "neutral"}),
    ]
