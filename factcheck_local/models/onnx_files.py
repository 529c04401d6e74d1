"""What models in ONNX files have in common: a session of onnxruntime, a tokenizer, their inputs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


def open_session(path: Path, settings: Mapping[str, str] | None = None) -> Any:  # noqa: ANN401
    """A file's session on the CPU, of one thread: several texts are read at once.

    Args:
        path: the ONNX file.
        settings: of the session, by onnxruntime's names for them.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # Otherwise a message on standard error for every unusual graph.
    options.log_severity_level = 4
    for name, value in (settings or {}).items():
        options.add_session_config_entry(name, value)
    # What is reported of sessions; what is of the import itself, ``go_offline`` switches off.
    onnxruntime.disable_telemetry_events()
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def open_tokenizer(path: Path) -> Any:  # noqa: ANN401
    """A ``tokenizer.json``, which reads all of a text and fills up none."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    # Content is data: "</s>" in a passage does not end it.
    tokenizer.encode_special_tokens = True
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def inputs_of(session: Any, encoded: Any) -> dict[str, npt.NDArray[np.int64]]:  # noqa: ANN401
    """One encoded text or pair as the inputs that a session wants, each of shape (1, tokens)."""
    given = {
        "input_ids": encoded.ids,
        "attention_mask": encoded.attention_mask,
        "token_type_ids": encoded.type_ids,
    }
    return {i.name: np.array([given[i.name]], dtype=np.int64) for i in session.get_inputs()}
