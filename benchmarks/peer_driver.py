"""Asks FactReasoner for the relation of pairs; started by ``benchmarks.peer_factreasoner``.

    PEER_PYTHON benchmarks/peer_driver.py TASK.json RESULT.json

Runs under the interpreter that has FactReasoner, so it imports nothing of ours.
TASK.json: {"base_url", "model", "temperature", "pairs": [[premise, hypothesis], …]}.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import sys
import time
from pathlib import Path
from typing import Any


def main() -> None:
    """Score the pairs one after the other, each with its own time."""
    task = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    # By name: the package is not in the environment in which this file is checked.
    nli: Any = importlib.import_module("fact_reasoner.core.nli")
    backends: Any = importlib.import_module("fact_reasoner.backends")
    options: Any = importlib.import_module("mellea.backends").ModelOption
    backend = backends.build_backend(
        "vllm",
        model_id=task["model"],
        base_url=task["base_url"],
        model_options=(
            {} if task["temperature"] is None else {options.TEMPERATURE: task["temperature"]}
        ),
    )
    extractor = nli.NLIExtractor(backend, nli_method="logprobs")
    failures = 0
    fallback = extractor._fallback

    def counted() -> dict[str, Any]:
        nonlocal failures
        failures += 1
        answer: dict[str, Any] = fallback()
        return answer

    # What failed comes back as neutral with probability 1; only this tells the two apart.
    extractor._fallback = counted
    rows = []
    for number, (premise, hypothesis) in enumerate(task["pairs"], start=1):
        before, begun = failures, time.perf_counter()
        found = extractor.run(premise, hypothesis)
        rows.append(
            {
                "label": found["label"],
                "probability": found["probability"],
                "seconds": time.perf_counter() - begun,
                "failed": failures > before,
            }
        )
        print(f"FactReasoner {number}/{len(task['pairs'])} {rows[-1]}", file=sys.stderr)
    result = {"version": importlib.metadata.version("fact-reasoner"), "rows": rows}
    Path(sys.argv[2]).write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main()
