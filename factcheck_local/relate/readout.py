"""Reads an LLM's judgement from its last hidden state, beside its label tokens.

The state in front of the answer holds more than the three label tokens show. A
linear map of the state, standardised, and of the three log probabilities gives
the logits of the labels; it is fitted on labelled pairs of many kinds (a linear
probe, Alain & Bengio 2017) by ``training.readout`` and weighs a few KB.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from factcheck_local.errors import ChecksumError, ModelError
from factcheck_local.models.contracts import FloatArray
from factcheck_local.relate.contract import LogProbabilities

#: Digits of a readout's hash that name it: enough to tell readouts of one model apart.
SHORT = 8


@dataclass(frozen=True, slots=True)
class Readout:
    """A linear map to logits of entailment, contradiction and neutral.

    Attributes:
        states: shape (3, d), weights of the hidden state.
        labels: shape (3, 3), weights of the label tokens' log probabilities.
        bias: shape (3,).
    """

    states: npt.NDArray[np.float32]
    labels: npt.NDArray[np.float32]
    bias: npt.NDArray[np.float32]

    @classmethod
    def load(cls, path: Path, sha256: str) -> Self:
        """Read a file written by ``save``.

        Raises:
            ChecksumError: if the file is not the one that the card names.
            ModelError: if it cannot be read or is no readout.
        """
        try:
            data = path.read_bytes()
        except OSError as error:
            raise ModelError(f"{path}: cannot be read: {error.strerror}") from error
        if hashlib.sha256(data).hexdigest() != sha256:
            raise ChecksumError(f"{path}: its sha256 is not the one that the model's card names")
        try:
            # No pickles: they could run code on loading.
            with np.load(path, allow_pickle=False) as arrays:
                found = cls(arrays["states"], arrays["labels"], arrays["bias"])
        except (OSError, ValueError, KeyError) as error:
            raise ModelError(f"{path}: not a readout: {error}") from error
        shapes = found.labels.shape, found.bias.shape, found.states.shape[:-1]
        if shapes != ((3, 3), (3,), (3,)):
            raise ModelError(f"{path}: not a readout: its arrays have the shapes {shapes}")
        return found

    def save(self, path: Path) -> str:
        """Write the readout; returns the file's sha256."""
        half = self.states.astype(np.float16)
        np.savez_compressed(path, states=half, labels=self.labels, bias=self.bias)
        return hashlib.sha256(path.read_bytes()).hexdigest()

    def apply(self, log_p: LogProbabilities, states: FloatArray) -> LogProbabilities:
        """Log probabilities, shape (n, 3), from those of the tokens and states (n, d).

        Raises:
            ModelError: if the states are not as long as the model's that it was fitted on.
        """
        if states.shape[1] != self.states.shape[1]:
            raise ModelError(
                f"a readout for states of {self.states.shape[1]} values, got {states.shape[1]}"
            )
        logits = (
            states.astype(np.float64) @ self.states.T.astype(np.float64)
            + log_p @ self.labels.T.astype(np.float64)
            + self.bias
        )
        found: LogProbabilities = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
        return found


@dataclass(frozen=True, slots=True)
class ReadoutFile:
    """Where a card says that its readout for a prompt is: beside the cards."""

    path: Path
    sha256: str

    @classmethod
    def of_card(cls, readouts: Mapping[str, Any], prompt_id: str) -> Self | None:
        """The readout that a card names for a prompt, if any.

        Raises:
            ModelError: if the entry is malformed.
        """
        if prompt_id not in readouts:
            return None
        try:
            name, sha256 = str(readouts[prompt_id]["file"]), str(readouts[prompt_id]["sha256"])
        except (KeyError, TypeError) as error:
            raise ModelError(f"readout of {prompt_id}: expected a file and its sha256") from error
        folder = Path(str(resources.files("factcheck_local.models"))) / "readouts"
        return cls(folder / name, sha256)

    @property
    def short(self) -> str:
        """What tells this readout from others of the same model and prompt."""
        return f"readout-{self.sha256[:SHORT]}"

    def load(self) -> Readout:
        """Read it; see ``Readout.load``."""
        return Readout.load(self.path, self.sha256)
