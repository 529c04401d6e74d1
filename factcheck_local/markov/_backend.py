"""The few array operations of belief propagation, on numpy or on a torch device."""

import importlib
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from factcheck_local.core.errors import InferenceError
from factcheck_local.markov.arrays import Indices
from factcheck_local.markov.factors import Table

#: A ``numpy.ndarray`` or a ``torch.Tensor``, as the device asks for.
Array: TypeAlias = Any

#: `_Numpy` or `_Torch`.
Backend: TypeAlias = Any


class _Numpy:
    """Arrays in main memory."""

    exp, log, clip = staticmethod(np.exp), staticmethod(np.log), staticmethod(np.clip)

    @staticmethod
    def array(values: Table) -> Array:
        return values

    @staticmethod
    def index(values: Indices) -> Array:
        return values

    @staticmethod
    def numpy(values: Array) -> Table:
        found: Table = values
        return found

    @staticmethod
    def take(values: Array, where: Array) -> Array:
        """Columns of (S, n)."""
        return values[:, where]

    @staticmethod
    def largest(values: Array) -> Array:
        """(S,) the largest absolute value of each row."""
        return np.abs(values).max(axis=1, initial=0.0)

    @staticmethod
    def adder(target: Indices, count: int) -> Callable[[Array], Array]:
        """Sums columns of (S, D) by their target, ascending, into (S, count)."""
        present, first = np.unique(target, return_index=True)

        def add(values: Array) -> Array:
            total = np.zeros((len(values), count))
            if len(first):
                total[:, present] = np.add.reduceat(values, first, axis=1)
            return total

        return add


class _Torch:
    """Tensors in double precision on a device.

    Raises:
        InferenceError: if torch has no such device.
    """

    def __init__(self, device: str) -> None:
        self._torch: Any = importlib.import_module("torch")
        self._device = device
        try:
            self._torch.zeros(1, device=device)
        except (RuntimeError, AssertionError) as error:  # a build without CUDA asserts
            reason = str(error).partition("\n")[0]
            raise InferenceError(f"device {device!r} cannot be used: {reason}") from error
        self.exp, self.log, self.clip = self._torch.exp, self._torch.log, self._torch.clamp

    def array(self, values: Table) -> Array:
        return self._torch.tensor(values, dtype=self._torch.float64, device=self._device)

    def index(self, values: Indices) -> Array:
        return self._torch.tensor(values, dtype=self._torch.int64, device=self._device)

    @staticmethod
    def numpy(values: Array) -> Table:
        found: Table = values.cpu().numpy()
        return found

    @staticmethod
    def take(values: Array, where: Array) -> Array:
        return values[:, where]

    @staticmethod
    def largest(values: Array) -> Array:
        return values.abs().amax(dim=1) if values.shape[1] else values.sum(dim=1)

    def adder(self, target: Indices, count: int) -> Callable[[Array], Array]:
        into = self.index(target)

        def add(values: Array) -> Array:
            total = self._torch.zeros(
                (len(values), count), dtype=self._torch.float64, device=self._device
            )
            return total.index_add(1, into, values)

        return add


def of(device: str) -> Backend:
    """The operations for a device: ``cpu`` is numpy, anything else torch's name for one.

    ``torch:cpu`` is torch on the processor: the code of the other devices.
    """
    if device == "cpu":
        return _Numpy()
    return _Torch(device.removeprefix("torch:"))
