"""The server: kills under load, many clients at once, search at 50,000 passages, memory.

    python -m benchmarks.server kills clients search memory --note "nothing ran beside it"

For the search, the sample handbook is filled up to 50,000 passages with its own sentences mixed
anew; their vectors are made up (seeded unit vectors around a topic's), the handbook's and the
queries' are the embedder's. The other parts have twelve short documents. Checks are of claims
that are given, by the encoder. Writes ``server.json`` and ``server.md``, where a part replaces
that of an earlier run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from benchmarks.server_process import (
    Server,
    claim,
    make_store,
    resident,
    wait_for,
)
from factcheck_local import __version__
from factcheck_local.evaluate.machine import machine
from factcheck_local.models.cards import find_card
from factcheck_local.models.offline import go_offline
from factcheck_local.models.registry import DEFAULT_EMBEDDER
from factcheck_local.serve.audit import verified
from factcheck_local.serve.check import ENDED
from factcheck_local.serve.jobs import Jobs

CORPUS = Path(__file__).parents[1] / "corpora" / "handbook"
KILLS, CLIENTS, PASSAGES, SEARCHES, CHECKS, STEP = 20, 64, 50_000, 300, 1_000, 50

#: Of queries and claims; a number makes each one of its own.
QUERIES = (
    "How many days of leave do full-time staff get?",
    "When does the car park open?",
    "Who approves travel abroad?",
    "What is the notice period during probation?",
    "How long are expense receipts kept?",
    "May staff work from another country?",
    "Which laptop do new colleagues get?",
    "Who pays for a course?",
)


def kills(folder: Path) -> dict[str, Any]:
    """Kill the worker and the server in turn under load; every check that was asked for is done.

    A request whose answer the kill cut off is made again with its idempotency key, as a client
    does.
    """
    make_store(folder / "store", _notes(folder), 0)
    server = Server(folder / "store", folder / "data", 4, "--queue", "8")
    dice, stop = random.Random(0), threading.Event()
    asked: dict[str, str] = {}

    def load(number: int) -> None:
        with server.client(server.keys[number]) as client:
            count = 0
            while not stop.is_set():
                key, text = f"{number}-{count}", f"Staff {number} get {count} days of leave."
                try:
                    said = client.post(
                        "/v1/checks", json=claim(text), headers={"Idempotency-Key": key}
                    )
                except httpx.TransportError:
                    time.sleep(0.1)
                    continue
                if said.status_code in (200, 202):
                    asked[key] = said.json()["id"]
                    count += 1
                elif said.status_code != 429:
                    raise RuntimeError(said.text)
                time.sleep(0.3)

    clients = [threading.Thread(target=load, args=(n,)) for n in range(4)]
    for one in clients:
        one.start()
    jobs = Jobs(folder / "data" / "checks.sqlite")
    for point in range(KILLS):
        # Something has to be done in between: a check that ends its process each time has failed.
        done = jobs.counts().get("done", 0)
        wait_for(lambda done=done: jobs.counts().get("done", 0) > done)  # type: ignore[misc]
        time.sleep(dice.uniform(0.0, 2.0))
        print("kill", point + 1, jobs.counts(), flush=True)
        if point % 2:
            wait_for(lambda: bool(server.children()))
            os.kill(server.children()[0], signal.SIGKILL)
        else:
            server.process.kill()
            server.process.wait()
            server.start()
    stop.set()
    for one in clients:
        one.join()
    wait_for(lambda: set(jobs.counts()) <= set(ENDED))
    server.stop()
    checks = [job.id for job in jobs.latest(None, limit=10**6)]
    ends = {id_: [e.name for e in jobs.events(id_) if e.name in ENDED] for id_ in checks}
    logged = Counter(
        line["about"]["check"]
        for line in verified(folder / "data" / "audit.jsonl")
        if line["what"] == "check.submitted"
    )
    return {
        "kills": KILLS,
        "checks": len(asked),
        "lost": len(set(asked.values()) - set(checks)),
        "not_done": sum(end != ["done"] for end in ends.values()),
        "doubled": len(checks) - len(set(asked.values())),
        "begun_again": sum(jobs.find(id_).attempts > 1 for id_ in checks),
        "logged_other_than_once": sum(logged[id_] != 1 for id_ in checks),
        "audit_lines": server.audit_lines(),
    }


def clients(folder: Path) -> dict[str, Any]:
    """Many clients at once, each asking for checks and searches by turns."""
    make_store(folder / "store", _notes(folder), 0)
    server = Server(folder / "store", folder / "data", CLIENTS)
    statuses: Counter[str] = Counter()
    seconds: list[float] = []
    end = time.monotonic() + 60.0

    def ask(number: int) -> None:
        with server.client(server.keys[number]) as client:
            count = 0
            while time.monotonic() < end:
                text = f"{QUERIES[count % len(QUERIES)]} {number} {count}"
                count += 1
                path, body = "/v1/search", {"query": text}
                if count % 2:
                    path, body = "/v1/checks", claim(text)
                begun = time.perf_counter()
                try:
                    status = str(client.post(path, json=body).status_code)
                except httpx.TransportError as error:
                    status = type(error).__name__
                seconds.append(time.perf_counter() - begun)
                statuses[f"{path} {status}"] += 1

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(CLIENTS)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    server.stop()
    return {
        "clients": CLIENTS,
        "requests": dict(sorted(statuses.items())),
        "errors": sum(n for s, n in statuses.items() if s.split()[1] not in ("200", "202", "429")),
        "latency": _spread(seconds),
        "audit_lines": server.audit_lines(),
    }


def search(folder: Path) -> dict[str, Any]:
    """Searches one after the other, nine a second at most, alone and beside checks that run."""
    passages = make_store(folder / "store", CORPUS, PASSAGES)
    server = Server(folder / "store", folder / "data", 2)
    found: dict[str, Any] = {"passages": passages, "searches": SEARCHES}
    with server.client(server.admin) as admin, server.client(server.keys[0]) as client:
        client.post("/v1/search", json={"query": "warm up"})
        for beside in (False, True):
            for retrieval in ("dense", "fused"):
                if beside:
                    for n in range(50):
                        texts = [f"{query} {retrieval} {n}" for query in QUERIES]
                        admin.post("/v1/checks", json=claim(*texts))
                name = f"{retrieval}{' beside a check' if beside else ''}"
                found[name] = _searched(client, retrieval)
                waiting = admin.get("/v1/checks?state=queued&limit=200").json()["checks"]
                if beside and not waiting:
                    raise RuntimeError("the checks ended before the searches did")
                for job in waiting:
                    admin.delete(f"/v1/checks/{job['id']}")
                print(name, found[name], flush=True)
    server.stop()
    return found


def _searched(client: httpx.Client, retrieval: str) -> dict[str, float]:
    seconds = []
    for n in range(SEARCHES):
        body = {"query": f"{QUERIES[n % len(QUERIES)]} {n}", "retrieval": retrieval}
        begun = time.perf_counter()
        client.post("/v1/search", json=body).raise_for_status()
        seconds.append(time.perf_counter() - begun)
        # Within the rate that a caller may ask at.
        time.sleep(max(0.0, 0.11 - seconds[-1]))
    return _spread(seconds)


def memory(folder: Path) -> dict[str, Any]:
    """Memory of both processes after every fifty of many checks."""
    make_store(folder / "store", _notes(folder), 0)
    server = Server(folder / "store", folder / "data", 1)
    jobs = Jobs(folder / "data" / "checks.sqlite")
    rows: list[dict[str, int]] = []
    with server.client(server.keys[0]) as client:
        for done in range(STEP, CHECKS + 1, STEP):
            for n in range(done - STEP, done):
                body = claim(f"{QUERIES[n % len(QUERIES)]} It is {n}.")
                while client.post("/v1/checks", json=body).status_code == 429:
                    time.sleep(0.2)
            wait_for(lambda done=done: jobs.counts() == {"done": done})  # type: ignore[misc]
            (worker,) = server.children()
            memories = {"server": resident(server.process.pid), "worker": resident(worker)}
            rows.append({"checks": done} | memories)
            print(rows[-1], flush=True)
    server.stop()
    return {"rows": rows}


def _notes(folder: Path) -> Path:
    """Short documents, so that a check is short."""
    place = folder / "notes"
    place.mkdir()
    for n in range(12):
        text = f"# Note {n}\n\nTeam {n} gets {20 + n} days of leave and meets in room {n}.\n"
        (place / f"note{n}.md").write_text(text)
    return place


def _spread(seconds: list[float]) -> dict[str, float]:
    """Percentiles, in milliseconds."""
    p50, p95, p99 = np.percentile(seconds, [50, 95, 99]) * 1000
    return {"p50_ms": float(p50), "p95_ms": float(p95), "p99_ms": float(p99)}


PARTS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "kills": kills,
    "clients": clients,
    "search": search,
    "memory": memory,
}


def to_markdown(found: Mapping[str, Mapping[str, Any]]) -> str:
    """A section for each part."""
    lines = ["# The server", ""]
    for part in (name for name in PARTS if name in found):
        row = found[part]
        lines += [f"## {part}", "", " ".join((PARTS[part].__doc__ or "").split()), ""]
        if part == "memory":
            lines += ["| checks done | server, MB | worker, MB |", "|---:|---:|---:|"]
            lines += [
                f"| {r['checks']} | {r['server'] / 1e6:.0f} | {r['worker'] / 1e6:.0f} |"
                for r in row["rows"]
            ]
        else:
            lines += ["| | |", "|---|---:|"]
            for name, value in row.items():
                if name in ("signature", "note"):
                    continue
                many = value.items() if isinstance(value, dict) else [("", value)]
                lines += [
                    f"| {name} {of} | {round(v, 1) if isinstance(v, float) else v} |"
                    for of, v in many
                ]
        lines += ["", f"Beside it: {row['note']}.", "", f"`{row['signature']}`", ""]
    return "\n".join(lines)


def main() -> None:
    """Measure the parts that are named."""
    go_offline()
    parser = argparse.ArgumentParser(description="the server under load")
    parser.add_argument("parts", nargs="+", choices=list(PARTS))
    parser.add_argument("--note", required=True, help="What ran beside it on this machine.")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    options = parser.parse_args()
    path = options.out / "server.json"
    found = json.loads(path.read_text()) if path.is_file() else {}
    embedder = find_card(DEFAULT_EMBEDDER)
    signature = (
        f"factcheck-local:{__version__}|encoder|smollm2-135m|{embedder.id}"
        f"@{embedder.sha256[:12]}|machine:{machine()}"
    )
    for part in options.parts:
        with tempfile.TemporaryDirectory() as folder:
            row = PARTS[part](Path(folder))
        found[part] = row | {"note": options.note, "signature": signature}
        print(part, json.dumps(row), flush=True)
        path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        (options.out / "server.md").write_text(to_markdown(found), encoding="utf-8")


if __name__ == "__main__":
    main()
