"""What one setting is: its values, its default, its effect, and what it needs to have one."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Literal, Union, get_args, get_origin

from factcheck_local.core.errors import InputError

#: How --set writes that there is no value.
NONE = "none"

_TRUE, _FALSE = ("true", "yes", "on"), ("false", "no", "off")


@dataclass(frozen=True, slots=True)
class Needs:
    """What another setting has to be, so that a setting has an effect.

    Attributes:
        of: the other setting.
        said: the condition in words, as ``queries=llm``.
        holds: whether a value of the other one meets it.
    """

    of: str
    said: str
    holds: Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table of settings.

    Attributes:
        name: as in ``Settings``.
        default: its value where nothing sets it.
        effect: what it does, in one sentence or two.
        kind: ``str``, ``int``, ``float``, ``bool``, or ``tuple`` for several texts.
        optional: whether None is a value.
        choices: the values that there are; empty for any.
        compared: values that only ``factcheck bench`` takes, to compare methods.
        renamed: what values of earlier versions are called now.
        low: the least number; None for no bound.
        high: the greatest number, likewise.
        needs: on what its effect depends; None for nothing.
    """

    name: str
    default: Any
    effect: str
    kind: type
    optional: bool
    choices: tuple[str, ...]
    compared: tuple[str, ...]
    renamed: Mapping[str, str]
    low: float | None
    high: float | None
    needs: Needs | None

    @property
    def expected(self) -> str:
        """Its values in words."""
        if self.choices:
            said = ", ".join(self.choices)
        elif self.kind is bool:
            said = "true or false"
        elif self.kind is tuple:
            said = "texts"
        elif self.kind is str:
            said = "a name"
        else:
            noun = "a whole number" if self.kind is int else "a number"
            bounds = f"from {self.low:g}" if self.low is not None else ""
            bounds += f" to {self.high:g}" if self.high is not None else ""
            said = f"{noun} {bounds}".rstrip()
        return f"{said}, or {NONE}" if self.optional else said

    def check(self, value: object) -> None:
        """Refuse what is no value of this setting.

        Raises:
            InputError: naming the setting, what is expected and what came.
        """
        if isinstance(value, str) and value in self.renamed:
            new = self.renamed[value]
            raise InputError(f"{self.name}: {value} is called {new} now", hint=f"{self.name}={new}")
        if (value is None and self.optional) or self._is_one(value):
            return
        near = get_close_matches(str(value), (*self.choices, *self.compared), n=1)
        raise InputError(
            f"{self.name}: expected {self.expected}, got {value!r}",
            hint=f"{self.name}={near[0]}" if near else None,
        )

    def _is_one(self, value: object) -> bool:
        if self.choices:
            return isinstance(value, str) and value in (*self.choices, *self.compared)
        if self.kind is tuple:
            return isinstance(value, tuple) and all(isinstance(part, str) for part in value)
        if self.kind is float:
            if type(value) not in (int, float):
                return False
        elif type(value) is not self.kind:
            return False
        if isinstance(value, (int, float)) and self.kind is not bool:
            return (self.low is None or value >= self.low) and (
                self.high is None or value <= self.high
            )
        return bool(value) or self.kind is not str

    def parse(self, text: str) -> Any:  # noqa: ANN401
        """The value that a text stands for, as ``--set NAME=VALUE`` writes it.

        Raises:
            InputError: see ``check``.
        """
        value: Any = text
        if self.optional and text.lower() == NONE:
            value = None
        elif self.kind is bool and text.lower() in (*_TRUE, *_FALSE):
            value = text.lower() in _TRUE
        elif self.kind is tuple:
            value = tuple(filter(None, (part.strip() for part in text.split(","))))
        elif self.kind in (int, float):
            try:
                value = self.kind(text)
            except ValueError:
                value = text
        return self._chosen(value)

    def from_toml(self, value: object) -> Any:  # noqa: ANN401
        """The value that a file's value stands for; ``"none"`` is None, as TOML has no such.

        Raises:
            InputError: see ``check``.
        """
        if self.optional and value == NONE:
            value = None
        elif isinstance(value, list):
            value = tuple(value)
        elif self.kind is float and type(value) is int:
            value = float(value)
        return self._chosen(value)

    def _chosen(self, value: object) -> object:
        if value in self.compared:
            raise InputError(
                f"{self.name}: {value} is there to be compared with",
                hint=f"factcheck bench NAME --{self.name} {value}",
            )
        self.check(value)
        return value

    def shown(self, value: object) -> str:
        """A value as ``parse`` reads it."""
        if value is None:
            return NONE
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, (tuple, list)):
            return ",".join(map(str, value))
        return str(value)


def setting(
    default: Any,  # noqa: ANN401
    effect: str,
    *,
    choices: tuple[str, ...] = (),
    compared: tuple[str, ...] = (),
    renamed: Mapping[str, str] = types.MappingProxyType({}),
    low: float | None = None,
    high: float | None = None,
    needs: Needs | None = None,
) -> Any:  # noqa: ANN401
    """A field of a dataclass of settings; see ``Setting``."""
    about = {
        "effect": effect,
        "choices": choices,
        "compared": compared,
        "renamed": renamed,
        "low": low,
        "high": high,
        "needs": needs,
    }
    return field(default=default, metadata=about)


def described(name: str, default: object, annotation: Any, about: Any) -> Setting:  # noqa: ANN401
    """The row of a field: what its annotation says, and what ``setting`` was given."""
    optional = get_origin(annotation) in (Union, types.UnionType)
    if optional:
        (annotation,) = (part for part in get_args(annotation) if part is not type(None))
    choices, kind = about["choices"], get_origin(annotation) or annotation
    if kind is Literal:
        choices, kind = get_args(annotation), str
    return Setting(name, default, kind=kind, optional=optional, **{**about, "choices": choices})


def unknown(name: str, known: tuple[str, ...], what: str) -> InputError:
    """The error for a name that there is not, with the nearest that there is."""
    near = get_close_matches(name.replace("-", "_"), known, n=3, cutoff=0.5)
    return InputError(
        f"no {what} {name!r}", hint=" or ".join(near) if near else "factcheck settings lists them"
    )
