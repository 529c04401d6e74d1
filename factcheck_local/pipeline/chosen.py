"""Where settings come from: options, --set, factcheck.toml, a preset, the defaults."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from factcheck_local.core.errors import InputError
from factcheck_local.pipeline.setting import Setting, unknown
from factcheck_local.pipeline.settings import (
    SETTINGS,
    Settings,
    check_value,
    is_idle,
    no_effect,
)

#: The file that holds settings, in the working directory or beside the store.
FILE_NAME = "factcheck.toml"

#: Settings under a name; a file may have more of its own, as [presets.NAME].
PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "quick": {"relation": "encoder"},
        "default": {},
        "careful": {"assessor": "fr4"},
        "sure": {"thresholds": "shipped"},
    }
)

#: What each preset is for.
ABOUT_PRESETS = {
    "quick": "the small encoder reads claim and passage: many times as fast, and less often right",
    "default": "the defaults",
    "careful": "passages are read against each other, documents are believed less where others "
    "contradict them, and copies count once: about three times as slow",
    "sure": "a claim that is not certain enough is undecided, so that few of those called "
    "supported are not; how few, the report says",
}

_OPTIONS, _ASSIGNED, _DEFAULT = "the command line", "--set", "default"

#: Origins that were meant for this very run.
SAID_NOW = frozenset({_OPTIONS, _ASSIGNED})


@dataclass(frozen=True, slots=True)
class _Layer:
    """Settings of one origin; ``place`` names it in front of an error."""

    origin: str
    values: Mapping[str, Any]
    place: str = ""


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """What a factcheck.toml says.

    Attributes:
        path: of the file.
        values: its settings, of the table [verify].
        preset: the preset that it names; None for none.
        presets: its own, by name.
    """

    path: Path
    values: Mapping[str, Any]
    preset: str | None
    presets: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Chosen:
    """Settings and where each comes from.

    Attributes:
        settings: of the run.
        origins: by the name of a setting, in words.
        places: the same of those that were set, to stand in front of an error.
        idle: the places of those that have lost their effect by what a stronger place says.
    """

    settings: Settings
    origins: Mapping[str, str]
    places: Mapping[str, str]
    idle: Mapping[str, str]


def choose(
    options: Mapping[str, Any],
    assigned: Sequence[str] = (),
    preset: str | None = None,
    folders: Iterable[Path] = (),
    given: Mapping[str, Any] | None = None,
) -> Chosen:
    """Settings out of all the places that may set one; the first that does wins.

    Args:
        options: of the command line, by setting.
        assigned: texts ``NAME=VALUE`` of ``--set``.
        preset: a preset's name; None for the one that the file names, if it does.
        folders: where to look for ``FILE_NAME``; the first that has one counts.
        given: what the store brings in place of defaults.

    A setting that has no effect is refused, but for one that has lost it by what a
    stronger place says: that one goes back to its default.

    Raises:
        InputError: for an unknown name or value, or a setting without an effect, with its place.
    """
    layers = _layers(options, assigned, preset, find_file(folders))
    return _merged([*layers, _Layer("the store", given or {})])


def choose_each(
    assessors: Sequence[str],
    usual: Sequence[str],
    options: Mapping[str, Any],
    assigned: Sequence[str] = (),
    preset: str | None = None,
) -> dict[str, Chosen]:
    """The settings of several assessors that are compared, by assessor.

    No file is read for it: figures have to come again wherever their command line is run.

    Args:
        assessors: their names; none for the one that ``assigned`` or the preset names.
        usual: those where nothing names one.
        options: as in ``choose``.
        assigned: likewise.
        preset: likewise; one of ``PRESETS``.

    Raises:
        InputError: see ``choose``; a setting has an effect if it has one for some assessor.
    """
    layers = _layers(options, assigned, preset, None)
    if not assessors:
        named = [layer.values["assessor"] for layer in layers if "assessor" in layer.values]
        assessors = named[:1] or usual
    found = {a: _merged([_Layer(_OPTIONS, {"assessor": a}), *layers]) for a in assessors}
    for name, place in next(iter(found.values())).idle.items():
        if all(name in chosen.idle for chosen in found.values()):
            raise no_effect(name, place)
    return found


def _layers(
    options: Mapping[str, Any],
    assigned: Sequence[str],
    preset: str | None,
    file: SettingsFile | None,
) -> list[_Layer]:
    """What the user said, the strongest place first."""
    layers = [_Layer(_OPTIONS, options), _Layer(_ASSIGNED, _parsed(assigned), "--set ")]
    if file is not None:
        layers.append(_Layer(str(file.path), file.values, f"{file.path}: "))
    name = preset or (file.preset if file else None)
    if name is not None:
        presets = {**PRESETS, **(file.presets if file else {})}
        if name not in presets:
            raise unknown(name, tuple(presets), "preset")
        layers.append(_Layer(f"preset {name}", presets[name], f"preset {name}: "))
    return layers


def _merged(layers: Sequence[_Layer]) -> Chosen:
    """The first layer that sets a setting decides it."""
    rank = {
        row: next((i for i, layer in enumerate(layers) if row in layer.values), len(layers))
        for row in SETTINGS
    }
    values: dict[str, Any] = {}
    origins = dict.fromkeys(SETTINGS, _DEFAULT)
    places: dict[str, str] = {}
    idle: dict[str, str] = {}
    for name, row in SETTINGS.items():
        if rank[name] == len(layers):
            continue
        layer = layers[rank[name]]
        try:
            check_value(row, layer.values[name])
        except InputError as error:
            raise InputError(f"{layer.place}{error}", hint=error.hint) from error
        if is_idle(row, values):
            if rank[_cause(row, values)] >= rank[name]:
                raise no_effect(name, layer.place)
            idle[name] = layer.place
            continue
        values[name], origins[name], places[name] = layer.values[name], layer.origin, layer.place
    return Chosen(Settings(**values), origins, places, idle)


def _cause(row: Setting, values: Mapping[str, Any]) -> str:
    """The setting whose value leaves an idle one without effect, directly or through others."""
    if row.needs is None:
        return row.name
    other = SETTINGS[row.needs.of]
    return _cause(other, values) if is_idle(other, values) else other.name


def _parsed(assigned: Sequence[str]) -> dict[str, Any]:
    """The values of ``NAME=VALUE``; what stands later wins."""
    found = {}
    for text in assigned:
        name, sign, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not sign:
            raise InputError(f"--set: expected NAME=VALUE, got {text!r}")
        if name not in SETTINGS:
            raise _unknown_setting(name, "--set ")
        try:
            found[name] = SETTINGS[name].parse(value.strip())
        except InputError as error:
            raise InputError(f"--set {error}", hint=error.hint) from error
    return found


def find_file(folders: Iterable[Path]) -> SettingsFile | None:
    """The file of the first folder that has one; None if none has.

    Raises:
        InputError: if it cannot be read, or says what no setting can be.
    """
    for folder in folders:
        path = folder / FILE_NAME
        if path.is_file():
            return read_file(path)
    return None


def read_file(path: Path) -> SettingsFile:
    """What a factcheck.toml says.

    Raises:
        InputError: naming the file and what in it is wrong.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    if others := sorted(set(tables) - {"verify", "presets"}):
        raise InputError(f"{path}: expected the tables verify and presets, got {others[0]!r}")
    verify = _table(tables.get("verify", {}), f"{path}: verify")
    preset = verify.pop("preset", None)
    if not isinstance(preset, str | None):
        raise InputError(f"{path}: verify.preset: expected a name, got {preset!r}")
    presets = _table(tables.get("presets", {}), f"{path}: presets")
    return SettingsFile(
        path,
        _values(verify, f"{path}: verify."),
        preset,
        {
            name: _values(_table(own, f"{path}: presets.{name}"), f"{path}: presets.{name}.")
            for name, own in presets.items()
        },
    )


def _table(value: object, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{place}: expected a table, got {value!r}")
    return dict(value)


def _values(table: Mapping[str, Any], place: str) -> dict[str, Any]:
    found = {}
    for name, value in table.items():
        if name not in SETTINGS:
            raise _unknown_setting(name, place)
        try:
            found[name] = SETTINGS[name].from_toml(value)
        except InputError as error:
            raise InputError(f"{place}{error}", hint=error.hint) from error
    return found


def _unknown_setting(name: str, place: str) -> InputError:
    error = unknown(name, tuple(SETTINGS), "setting")
    return InputError(f"{place.rstrip(' .')}: {error}", hint=error.hint)
