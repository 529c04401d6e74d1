"""The queue of checks: nothing is lost, nothing is done twice, whoever dies when."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factcheck_local.core import sqlite as sqlite_module
from factcheck_local.core.errors import StoreError
from factcheck_local.core.sqlite import connect
from factcheck_local.serve import jobs as module
from factcheck_local.serve.check import ENDED, Claimed, Problem
from factcheck_local.serve.jobs import Jobs


@pytest.fixture
def jobs(tmp_path: Path) -> Jobs:
    return Jobs(tmp_path / "checks.sqlite")


def submit(jobs: Jobs, digest: str, owner: str = "ann", key: str | None = None) -> str:
    return jobs.submit(owner, {"body": digest}, digest, most=10, key=key).id


def claim(jobs: Jobs) -> Claimed:
    found = jobs.claim()
    assert found is not None
    return found


def names(jobs: Jobs, id_: str) -> list[str]:
    told = jobs.events(id_)
    assert [event.number for event in told] == list(range(1, len(told) + 1))
    return [event.name for event in told]


def test_a_check_from_asking_to_its_result(jobs: Jobs) -> None:
    first, second = submit(jobs, "one"), submit(jobs, "two")
    assert jobs.ahead(jobs.find(second)) == 1
    mine = claim(jobs)
    assert (mine.check.id, mine.check.state, mine.check.attempts) == (first, "running", 1)
    assert jobs.tell(mine, "progress", {"stage": "relate", "done": 1, "all": 2})
    assert jobs.result(first) is None
    assert jobs.finish(mine, {"summary": 1})
    assert jobs.result(first) == {"summary": 1}
    assert names(jobs, first) == ["queued", "running", "progress", "done"]
    assert [event.name for event in jobs.events(first, after=2)] == ["progress", "done"]
    assert jobs.counts() == {"done": 1, "queued": 1}
    done = jobs.find(first)
    assert done.started is not None
    assert done.finished is not None
    assert done.created <= done.started <= done.finished
    assert claim(jobs).check.id == second
    assert jobs.claim() is None


def test_the_same_check_is_not_done_again(jobs: Jobs) -> None:
    first = submit(jobs, "one")
    assert submit(jobs, "one") == first
    jobs.finish(claim(jobs), {})
    assert submit(jobs, "one") == first
    assert submit(jobs, "one", owner="bob") != first, "another's is not shown"
    jobs.cancel(submit(jobs, "two"))
    again = submit(jobs, "two")
    assert jobs.find(again).state == "queued"
    # One that failed is tried again, too.
    claim(jobs)
    failed = claim(jobs)
    assert failed.check.id == again
    jobs.fail(failed, "no")
    assert submit(jobs, "two") != again


def test_an_idempotency_key_stands_for_one_request(jobs: Jobs) -> None:
    first = submit(jobs, "one", key="k")
    jobs.cancel(first)
    assert submit(jobs, "one", key="k") == first, "whatever became of it"
    with pytest.raises(Problem, match="came with another request before") as refused:
        submit(jobs, "two", key="k")
    assert refused.value.status == 409
    # The outcome may be decided by something else by now; the request is the same.
    asked = {"body": "one"}
    assert jobs.submit("ann", asked, "one of another index", most=10, key="k").id == first
    assert submit(jobs, "two", owner="bob", key="k") != first
    # A version before kept the check's digest with the key.
    with jobs.writing() as db:
        db.execute("UPDATE keys_used SET digest = 'of before'")
    assert submit(jobs, "one", key="k") == first
    with pytest.raises(Problem):
        submit(jobs, "two", key="k")


def test_a_full_queue_takes_no_more(jobs: Jobs) -> None:
    for n in range(3):
        jobs.submit("ann", {}, str(n), most=3)
    with pytest.raises(Problem, match="3 checks wait already") as refused:
        jobs.submit("ann", {}, "3", most=3, key="k")
    assert (refused.value.status, refused.value.headers) == (429, {"Retry-After": "30"})
    jobs.submit("ann", {}, "1", most=3)
    assert jobs.counts() == {"queued": 3}
    claim(jobs)
    jobs.submit("ann", {}, "3", most=3, key="k")
    assert jobs.counts() == {"queued": 3, "running": 1}


def test_a_check_that_cannot_be_announced_is_none(jobs: Jobs) -> None:
    def refuse(_id: str) -> None:
        raise StoreError("no")

    announced: list[str] = []
    with pytest.raises(StoreError, match="no"):
        jobs.submit("ann", {}, "one", most=3, key="k", first=refuse)
    assert jobs.counts() == {}
    made = jobs.submit("ann", {}, "one", most=3, key="k", first=announced.append)
    assert announced == [made.id]
    jobs.submit("ann", {}, "one", most=3, first=announced.append)
    assert announced == [made.id], "only what is new"


def test_what_ran_when_its_process_died_runs_again(jobs: Jobs) -> None:
    id_ = submit(jobs, "one")
    lost = claim(jobs)
    assert jobs.recover() == [id_]
    # The dead one may come back late, as a process that was only stopped does.
    assert not jobs.tell(lost, "progress", {})
    assert not jobs.is_due(lost)
    mine = claim(jobs)
    assert mine.check.attempts == 2
    assert not jobs.finish(lost, {"of": "lost"})
    assert not jobs.fail(lost, "late")
    assert jobs.finish(mine, {"of": "mine"})
    assert not jobs.finish(lost, {"of": "lost"})
    assert jobs.result(id_) == {"of": "mine"}
    assert names(jobs, id_) == ["queued", "running", "queued", "running", "done"]
    assert jobs.recover() == []


def test_a_check_that_ends_its_process_each_time_fails(jobs: Jobs) -> None:
    id_ = submit(jobs, "one")
    for _ in range(module.ATTEMPTS):
        assert jobs.find(id_).state == "queued"
        claim(jobs)
        jobs.recover()
    assert jobs.find(id_).state == "failed"
    assert jobs.find(id_).problem == "the process that checked it ended 3 times"


def test_what_ran_when_its_process_was_told_to_end_runs_again_uncounted(jobs: Jobs) -> None:
    id_ = submit(jobs, "one")
    for _ in range(module.ATTEMPTS + 1):
        assert claim(jobs).check.attempts == 1
        assert jobs.recover(stopped=True) == [id_]
        assert jobs.find(id_).state == "queued"
    assert names(jobs, id_)[-2:] == ["running", "queued"]


def test_one_owner_does_not_fill_the_queue(jobs: Jobs) -> None:
    def ask(owner: str, digest: str) -> str:
        return jobs.submit(owner, {}, digest, most=4, most_own=2).id

    first = ask("ann", "0")
    ask("ann", "1")
    with pytest.raises(Problem, match="2 of your checks wait already"):
        ask("ann", "2")
    assert ask("ann", "0") == first, "the same is no other one"
    ask("bob", "0")
    claim(jobs)
    ask("ann", "2")
    ask("bob", "1")
    with pytest.raises(Problem, match="4 checks wait already"):
        ask("cid", "0")


def test_a_state_is_told_without_what_was_asked(jobs: Jobs) -> None:
    id_ = submit(jobs, "one")
    with jobs.writing() as db:
        db.execute("UPDATE checks SET request = 'no JSON'")
    assert jobs.state(id_) == "queued"
    with pytest.raises(Problem, match="no such check"):
        jobs.state("none")


def test_of_a_cancelled_check_only_what_is_named_is_kept(jobs: Jobs) -> None:
    first, second, third = (submit(jobs, digest) for digest in ("one", "two", "three"))
    jobs.finish(claim(jobs), {})
    jobs.tell(claim(jobs), "claim", {"text": "a claim"})
    for id_ in (first, second):
        jobs.cancel(id_, {"kept": 1})
    jobs.cancel(third)
    requests = [jobs.find(id_).request for id_ in (first, second, third)]
    assert requests == [{"body": "one"}, {"kept": 1}, {"body": "three"}]
    assert [e.name for e in jobs.events(second)] == ["queued", "running", "cancelled"]


def test_what_is_let_go_of_does_not_stay_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def built_otherwise(path: Path) -> sqlite3.Connection:
        """By a SQLite that leaves what is deleted where it was."""
        db = connect(path)
        db.execute("PRAGMA secure_delete = OFF")
        return db

    monkeypatch.setattr(sqlite_module, "connect", built_otherwise)
    jobs = Jobs(tmp_path / "checks.sqlite")
    text = "in secret " * 1000
    id_ = jobs.submit("ann", {"body": text}, "one", most=9).id
    jobs.tell(claim(jobs), "claim", {"text": text})

    def kept() -> bool:
        return any(b"in secret" in path.read_bytes() for path in tmp_path.iterdir())

    assert kept()
    jobs.cancel(id_, {"kept": 1})
    assert not kept()


def test_a_cancelled_check_gets_no_result(jobs: Jobs) -> None:
    id_ = submit(jobs, "one")
    mine = claim(jobs)
    assert jobs.cancel(id_).state == "cancelled"
    assert not jobs.is_due(mine)
    assert not jobs.finish(mine, {"late": True})
    assert jobs.result(id_) is None
    assert jobs.cancel(id_).state == "cancelled"
    assert names(jobs, id_) == ["queued", "running", "cancelled"]
    for call in (jobs.find, jobs.cancel, jobs.result, jobs.state):
        with pytest.raises(Problem, match="no such check") as missing:
            call("none")
        assert missing.value.status == 404


def test_what_has_not_ended_is_undone(jobs: Jobs) -> None:
    done, failed, cancelled, running, queued = (submit(jobs, str(n)) for n in range(5))
    jobs.finish(claim(jobs), {})
    jobs.fail(claim(jobs), "out of memory")
    jobs.cancel(cancelled)
    assert claim(jobs).check.id == running
    assert jobs.undone() == {running, queued}
    assert not {done, failed} & jobs.undone()


def test_lists_are_paged_and_filtered(jobs: Jobs) -> None:
    made = [submit(jobs, str(n), owner="ann" if n % 2 else "bob") for n in range(6)]
    assert [check.id for check in jobs.latest(None)] == made[::-1]
    assert [check.id for check in jobs.latest("ann")] == made[5::-2]
    page = jobs.latest(None, limit=2)
    assert [check.id for check in jobs.latest(None, before=page[-1].number)] == made[3::-1]
    claim(jobs)
    assert [check.id for check in jobs.latest(None, state="running")] == made[:1]


def test_many_threads_claim_each_check_once(jobs: Jobs) -> None:
    made = [jobs.submit("ann", {}, str(n), most=99).id for n in range(20)]
    claimed: list[str] = []

    def work() -> None:
        while (found := jobs.claim()) is not None:
            claimed.append(found.check.id)
            jobs.finish(found, {})

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(claimed) == sorted(made)


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "checks.sqlite"
    path.write_bytes(b"no database" * 1000)
    with pytest.raises(StoreError, match="checks cannot be kept"):
        Jobs(path)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(["submit", "claim", "finish", "fail", "die", "cancel"])))
def test_whatever_happens_every_check_is_in_one_state_and_ends_once(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str]
) -> None:
    jobs = Jobs(tmp_path_factory.mktemp("jobs") / "checks.sqlite")
    made: list[str] = []
    running: list[Claimed] = []
    for number, step in enumerate(steps):
        if step == "submit":
            made.append(submit(jobs, str(number)) if len(made) < 8 else made[0])
        elif step == "claim" and (found := jobs.claim()):
            running.append(found)
        elif step == "finish" and running:
            jobs.finish(running[-1], {})
        elif step == "fail" and running:
            jobs.fail(running[0], "no")
        elif step == "die":
            jobs.recover()
        elif step == "cancel" and made:
            jobs.cancel(made[number % len(made)])
    assert sum(jobs.counts().values()) == len(set(made))
    for id_ in set(made):
        told = names(jobs, id_)
        ended = [name for name in told if name in ENDED]
        state = jobs.find(id_).state
        assert told[-1] == state
        assert ended == ([state] if state in ENDED else [])
        assert (jobs.result(id_) is not None) == (state == "done")
