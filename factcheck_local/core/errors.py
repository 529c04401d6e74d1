"""Every error that the package raises on purpose.

The tree::

    FactcheckError            one clear line, an optional hint, an exit code
    ├── InputError            what the user handed in is wrong (exit code 2)
    │   ├── DocumentError     a file of the corpus cannot be read or has no text
    │   ├── ProfileError      the reliability profile is wrong, with the place
    │   ├── StoreError        no store, a foreign store, or one made otherwise
    │   ├── RecordError       an answer, a record, a pair or a graph is malformed
    │   ├── BundleError       a bundle is malformed, cut off, or does not fit
    │   └── ModelError        a model is unknown, not pulled, broken or misfit
    │       └── ChecksumError a model's file is not the one its card names
    ├── EgressError           something would reach an address that nobody named
    ├── InferenceError        the graphical model has no answer (Z = 0, say)
    └── ScoringError          a model ran and gave nothing usable for one item

``InputError`` ends a command. ``ScoringError`` ends one atom: it becomes
``unscored`` with the message as its reason, never a verdict.
"""


class FactcheckError(Exception):
    """Base of the tree; ``str(error)`` is one line that says what and where."""

    exit_code = 2

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class InputError(FactcheckError):
    """What the user handed in cannot be used."""


class DocumentError(InputError):
    """A document of the corpus cannot be read, or holds no text."""


class ProfileError(InputError):
    """The reliability profile is malformed or names a prior outside (0, 1)."""


class StoreError(InputError):
    """The store is missing, was made by something else, or made otherwise."""


class RecordError(InputError):
    """An answer, a record, a line of pairs or a fact graph is malformed."""


class BundleError(InputError):
    """A bundle of models is malformed, cut off, or does not fit on the disk."""


class ModelError(InputError):
    """A model is unknown, not pulled, broken, or not fit for its role."""


class ChecksumError(ModelError):
    """A model's file differs from the one whose sha256 its card names."""


class EgressError(FactcheckError):
    """Something in this process would reach an address that the user did not name.

    No ``OSError`` on purpose: a library would take that for a server that is busy.
    """


class InferenceError(FactcheckError):
    """The graphical model has no defined answer."""


class ScoringError(FactcheckError):
    """A model ran and gave nothing usable for one item."""


class TooLongError(ScoringError):
    """A text is longer than a model reads; the others beside it may fit."""
