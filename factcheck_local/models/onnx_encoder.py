"""An NLI encoder as one ONNX file, run by onnxruntime on the CPU.

Each pair is a run of its own, on one thread, and as many run at once as there
are cores. The quantised kernels scale activations by the whole input, so in a
batch a pair's probabilities would depend on its neighbours; alone they do not,
and no time goes into padding.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from factcheck_local.core.errors import TooLongError
from factcheck_local.models.cards import ModelCard
from factcheck_local.models.cores import available_cores
from factcheck_local.models.labels import label_columns
from factcheck_local.models.loading import reading
from factcheck_local.models.onnx_files import inputs_of, open_session, open_tokenizer
from factcheck_local.models.windows import least_neutral, windows

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
#: Key of the model's metadata: the labels in the order of the outputs, as JSON.
LABELS_KEY = "labels"


class OnnxNliEncoder:
    """A three-way NLI classifier; implements ``PairClassifier``.

    Several threads may ask it at the same time: callers whose passages have a claim or two each
    keep the cores busy in that way.

    Args:
        model_id: name of the model's card.
        sha256: hash of its files, as checked by the caller.
        folder: folder with ``model.onnx`` and ``tokenizer.json``.
        max_tokens: tokens of a pair that are read at once; a longer premise is read in windows.
        n_threads: pairs classified at once; None takes the cores this process may use.

    Attributes:
        at_once: the same number: threads that may ask at the same time with gain.

    Raises:
        ModelError: if the folder holds no such model, or it does not name the
            three labels.
    """

    def __init__(
        self,
        model_id: str,
        sha256: str,
        folder: Path,
        *,
        max_tokens: int = 256,
        n_threads: int | None = None,
    ) -> None:
        self.id = model_id
        self.sha256 = sha256
        with reading(folder, "an ONNX encoder"):
            # 8-bit products overflow on processors without VNNI otherwise, and scores are wrong.
            self._session = open_session(folder / MODEL_FILE, {"session.x64quantprecision": "1"})
            self._tokenizer = open_tokenizer(folder / TOKENIZER_FILE)
            self._uncut = open_tokenizer(folder / TOKENIZER_FILE)
            named = self._session.get_modelmeta().custom_metadata_map[LABELS_KEY]
            labels = dict(enumerate(json.loads(named)))
        self._columns = label_columns(labels, where=str(folder))
        self._room = max_tokens - self._tokenizer.num_special_tokens_to_add(is_pair=True)
        # Windows fit, but for a token more where one begins within a word.
        self._tokenizer.enable_truncation(max_tokens, strategy="only_first")
        self.at_once = n_threads or available_cores()
        self._workers = ThreadPoolExecutor(self.at_once)

    @classmethod
    def from_card(cls, card: ModelCard) -> Self:
        """Build from a card whose files were checked."""
        return cls(
            card.id, card.sha256, card.folder, max_tokens=int(card.options.get("max_tokens", 256))
        )

    def classify(self, pairs: Sequence[tuple[str, str]]) -> npt.NDArray[np.float64]:
        """p(entailment), p(contradiction), p(neutral) of each pair; see ``PairClassifier``.

        A premise that does not fit is read in windows, of which the least neutral one counts.

        Raises:
            TooLongError: if a hypothesis is longer than the model reads.
        """
        self._refuse_long(list(dict.fromkeys(h for _, h in pairs)))
        rows = list(self._workers.map(self._one, pairs))
        return np.array(rows).reshape(len(pairs), 3)

    def _one(self, pair: tuple[str, str]) -> npt.NDArray[np.float64]:
        premise, hypothesis = pair
        room = self._room - len(self._alone(hypothesis).ids)
        pieces = windows(premise, self._alone(premise).offsets, room)
        return least_neutral(np.array([self._read(piece, hypothesis) for piece in pieces]))

    def _alone(self, text: str) -> Any:  # noqa: ANN401
        return self._uncut.encode(text, add_special_tokens=False)

    def _read(self, premise: str, hypothesis: str) -> npt.NDArray[np.float64]:
        inputs = inputs_of(self._session, self._tokenizer.encode(premise, hypothesis))
        logits = self._session.run(None, inputs)[0][0].astype(np.float64)
        odds = np.exp(logits - logits.max())
        found: npt.NDArray[np.float64] = (odds / odds.sum())[self._columns]
        return found

    def _refuse_long(self, hypotheses: Sequence[str]) -> None:
        """Only premises are read in windows: half a claim is another claim."""
        for hypothesis in hypotheses:
            # One token of the premise has to be left.
            if len(self._alone(hypothesis).ids) >= self._room:
                raise TooLongError(f"{self.id}: a claim does not fit in {self._room} tokens")
