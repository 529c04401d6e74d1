"""What one run of the pipeline ends in, and what it takes to repeat it."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from factcheck_local import __version__
from factcheck_local.core.text.language import Language
from factcheck_local.core.types import Assessment, Thresholds
from factcheck_local.models.device import CPU, VARIABLE
from factcheck_local.models.prompts import load_prompt, prompt_names
from factcheck_local.pipeline.settings import Settings, as_named_now

#: Libraries whose version may move a number in its last digits.
LIBRARIES = (
    "chromadb",
    "llama-cpp-python",
    "numpy",
    "onnxruntime",
    "sentence-transformers",
    "tokenizers",
    "torch",
    "transformers",
)


def prompts_here() -> tuple[dict[str, str], ...]:
    """Every prompt of the package, used by a run or not, by id and sha256."""
    return tuple(load_prompt(name).described() for name in prompt_names())


def environment() -> dict[str, str]:
    """What a run is made with beside models and settings: it should move no verdict."""
    layers = os.environ.get("FACTCHECK_GPU_LAYERS", "all where there is a GPU")
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "gpu_layers": layers,
        "device": os.environ.get(VARIABLE, CPU),
        **_libraries(),
    }


@cache
def _libraries() -> dict[str, str]:
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            # One that is not installed moves nothing.
            continue
    return found


def unlike(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What of a run's conditions is not the same, a line each.

    Args:
        then: the ``run`` of an assessment, see ``report.to_dict``.
        now: of these the ``version``, ``settings``, ``prompts``, ``models``, ``risk`` and
            ``index`` to compare; what it lacks is not looked at.
    """
    # As JSON has them: a tuple is a list there.
    here = json.loads(json.dumps(now))
    before, after = (dict(_conditions(side, here)) for side in (then, here))
    return [
        f"{name} {before.get(name)}, here {after.get(name)}"
        for name in {**before, **after}
        if before.get(name) != after.get(name)
    ]


def _conditions(run: Mapping[str, Any], parts: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Each condition with its name."""
    for part in parts:
        value: Any = run.get(part)
        if part == "settings":
            yield from ((f"setting {name}", chosen) for name, chosen in as_named_now(value).items())
        elif part == "prompts":
            yield from ((f"prompt {prompt['id']}", prompt["sha256"]) for prompt in value or ())
        elif part == "models":
            for model in value:
                fields = {k: v for k, v in model.items() if k != "role"}
                yield from ((f"{model['role']} model's {k}", v) for k, v in fields.items())
        elif part == "risk":
            yield "thresholds of verdicts", _shown(value)
        elif part == "index":
            yield "index digest", value["digest"] if value else None
        else:
            yield part, value


def _shown(risk: Mapping[str, Any] | None) -> str:
    if not risk:
        return "none"
    return f"{risk['supported']} and {risk['contradicted']} ({risk['data']}, {risk['claims']})"


@dataclass(frozen=True, slots=True)
class Run:
    """An assessment and what it takes to repeat it.

    Attributes:
        assessment: what was found.
        settings: all of them.
        models: role, id, sha256 and calibration of each model.
        index: the store and its digest; None for a record with contexts of its own.
        started: ISO 8601, UTC.
        seconds: by stage.
        given: what the record brought beside the answer: ``atoms``, ``contexts``.
        version: of the package.
        risk: thresholds of the verdicts; None where nothing is undecided.
        language: of the answer, or a part of it, where the models do not read that.
        prompts: see ``prompts_here``.
        environment: see ``environment``.
    """

    assessment: Assessment
    settings: Settings
    models: tuple[dict[str, Any], ...]
    index: dict[str, Any] | None
    started: str
    seconds: dict[str, float]
    given: tuple[str, ...] = ()
    risk: Thresholds | None = None
    language: Language | None = None
    version: str = __version__
    prompts: tuple[dict[str, str], ...] = field(default_factory=prompts_here)
    environment: dict[str, str] = field(default_factory=environment)
