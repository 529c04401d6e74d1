"""How much of what a model server can do is had of it.

    python -m benchmarks.model_server [--seconds 0.1] [--at-once 8] [--errors 0.03] [--pairs 1200]

A server made up for this answers every question after ``--seconds``, refuses (429) whoever
comes while it is busy with ``--at-once`` others, and fails (503) on a share of the rest. Passages
with their claims are scored through it, by the product's own stage. Prints pairs a second beside
the most that such a server can answer, and whether each pair got its own answer. Seconds are
those of the made-up server: what a real one gives hangs on its model.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from factcheck_local import __version__
from factcheck_local.models.openai_server.model import ServerModel
from factcheck_local.models.openai_server.options import ServerOptions
from factcheck_local.pipeline.relation import CalibratedRelationModel, Premise, relate
from factcheck_local.pipeline.relation.llm import LlmPairScorer

CLAIMS_PER_PASSAGE = 3


class MadeUpServer:
    """Answers with a probability of A that is read off the claim's own number."""

    def __init__(self, seconds: float, at_once: int, errors: float, seed: int) -> None:
        room, draw, lock = threading.Semaphore(at_once), random.Random(seed), threading.Lock()
        self.refused = self.failed = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # Head and body go out one by one; the second would wait 40 ms for the first's receipt.
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                self.reply(200, {"data": [{"id": "made-up", "object": "model"}]})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if not room.acquire(blocking=False):
                    with lock:
                        outer.refused += 1
                    self.reply(429, {"error": "busy"})
                    return
                try:
                    with lock:
                        fails = draw.random() < errors
                        outer.failed += fails
                    time.sleep(seconds)
                finally:
                    room.release()
                self.reply(*((503, {"error": "no"}) if fails else (200, self.answer(body))))

            def answer(self, body: dict[str, Any]) -> dict[str, Any]:
                claim = body["messages"][-1]["content"].partition("Number ")[2]
                p = share(int(claim.split()[0]))
                top = [
                    {"token": token, "logprob": math.log(q)}
                    for token, q in (("A", p), ("B", (1 - p) / 2), ("C", (1 - p) / 2))
                ]
                logprobs = {"content": [{"token": "A", "logprob": 0.0, "top_logprobs": top}]}
                return {"choices": [{"message": {"content": "A"}, "logprobs": logprobs}]}

            def reply(self, status: int, body: dict[str, Any]) -> None:
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                """Nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def close(self) -> None:
        """Stop answering."""
        self._server.shutdown()
        self._server.server_close()


def share(number: int) -> float:
    """p(entailment) that the server gives to a claim, in (0, 1)."""
    return 0.05 + 0.9 * (number * 37 % 101) / 101


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="what is had of a model server")
    parser.add_argument("--seconds", type=float, default=0.1)
    parser.add_argument("--at-once", type=int, default=8)
    parser.add_argument("--errors", type=float, default=0.03)
    parser.add_argument("--pairs", type=int, default=1200)
    parser.add_argument("--concurrency", type=int, default=ServerOptions("http://x/v1").concurrency)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    server = MadeUpServer(chosen.seconds, chosen.at_once, chosen.errors, chosen.seed)
    model = ServerModel("made-up", ServerOptions(server.url, concurrency=chosen.concurrency))
    numbers = range(chosen.pairs)
    pairs = [(f"p{n // CLAIMS_PER_PASSAGE}", f"c{n}") for n in numbers]
    begun = time.perf_counter()
    found = relate(
        pairs,
        {p: Premise("Made up", f"Passage {p}.") for p, _ in pairs},
        {f"c{n}": f"Number {n} holds." for n in numbers},
        CalibratedRelationModel(LlmPairScorer(model)),
    )
    taken = time.perf_counter() - begun
    model.close()
    server.close()
    right = sum(
        abs(pair.relation.entailment - share(int(pair.hypothesis[1:]))) < 1e-6
        for pair in found.pairs
    )
    most = chosen.at_once / chosen.seconds * (1 - chosen.errors)
    rate = len(found.pairs) / taken
    print(
        f"{len(found.pairs)} of {chosen.pairs} pairs, {right} with their own answer, in "
        f"{taken:.1f} s: {rate:.1f} a second, {rate / most:.0%} of {most:.1f}; "
        f"{server.refused} refused, {server.failed} failed, {len(found.failures)} given up"
    )
    print(
        f"signature: factcheck-local:{__version__}|seconds:{chosen.seconds}|"
        f"at_once:{chosen.at_once}|errors:{chosen.errors}|concurrency:{chosen.concurrency}|"
        f"seed:{chosen.seed}"
    )


if __name__ == "__main__":
    main()
