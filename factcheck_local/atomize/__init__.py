"""From the units of an answer to atoms: one piece of information each."""

from factcheck_local.atomize.stage import Atomized, atomize, merge_repeats

__all__ = ["Atomized", "atomize", "merge_repeats"]
