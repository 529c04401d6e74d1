"""What there is to index: the files below the given paths, and their names.

Every file belongs to a *root*, a folder that a store remembers under a label. A
source is named ``label/path below the root``; the only root of a fresh store
has the empty label, so that its sources are plain relative paths. A root keeps
its label whatever is indexed later, so sources keep their names.
"""

from __future__ import annotations

import errno
import os
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

from factcheck_local.core.errors import InputError
from factcheck_local.indexer.folder import outermost
from factcheck_local.indexer.loaders import why_unsupported
from factcheck_local.indexer.manifest import SourceRecord
from factcheck_local.indexer.reliability import PROFILE_NAME, is_glob, matches
from factcheck_local.indexer.reliability.statements import writable
from factcheck_local.indexer.store import Store

#: Why a run that was asked for other files leaves one as it is, ...
NOT_INCLUDED = "not included"

#: ... and why one is left out whose name is in the store.
NAME_TAKEN = "a file of another indexed folder has this name"


class SourceEntry(NamedTuple):
    """A source and what is to be said of it."""

    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class Root:
    """An indexed folder and its label."""

    label: str
    path: Path

    def name(self, path: Path) -> str:
        """A file's path below the folder, with forward slashes."""
        return path.relative_to(self.path).as_posix()

    def source(self, path: Path) -> str:
        """What citations call the file."""
        return f"{self.label}/{self.name(path)}" if self.label else self.name(path)

    def below(self, path: Path) -> str:
        """What the sources in a folder of it begin with; of a file its own source."""
        if path == self.path:
            return f"{self.label}/" if self.label else ""
        return self.source(path) + ("/" if path.is_dir() else "")


@dataclass(slots=True)
class Survey:
    """What a run has to do.

    Attributes:
        files: the files to look at, by source, each with its root.
        gone: sources in the store that are no longer to be there, and why.
        skipped: what lies there and is not indexed, and why.
        below: the sources looked at, folders of them with a slash at their end; ``""`` is all
            those of the root without a label.
        roots: the folders that were looked into or at, whether or not there is a file.
    """

    files: dict[str, tuple[Root, Path]] = field(default_factory=dict)
    gone: list[SourceEntry] = field(default_factory=list)
    skipped: list[SourceEntry] = field(default_factory=list)
    below: list[str] = field(default_factory=list)
    roots: set[Root] = field(default_factory=set)


def survey(
    paths: Sequence[Path],
    store: Store,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    forget: Sequence[Path] = (),
) -> Survey:
    """Look for files below the paths, and in the store for what is gone from there.

    Files given by name are taken whatever the globs say and even if hidden.
    ``include`` narrows the run: what it leaves out stays in the store as it is.
    What ``exclude`` matches leaves the store, and what lies at or below a path of ``forget``,
    which need not exist any more. New roots are remembered.

    Raises:
        InputError: if a path does not exist or cannot be stored, a glob is none, there is
            nothing to index, nothing of what is to be forgotten is in the store, or it is
            to be indexed as well.
    """
    for glob in (*include, *exclude):
        if not is_glob(glob):
            raise InputError(f"no glob: {glob!r}")
    given = existing(paths)
    known = known_roots(store)
    new = _new_roots(given, known, store)
    records = store.sources()
    owners = {record.source: record.root for record in records}
    roots = {root.path: root for root in (*known, *new)}
    search = _Search(roots, outermost(store.path.resolve()), owners, include, exclude)
    for path in given:
        search.look(path)
    search.settle(records, given)
    found = search.found
    for path in forget:
        search.forget(path, records)
    if not found.files and not found.gone:
        reasons = sorted({entry.reason for entry in found.skipped}) or ["no files"]
        where = ", ".join(map(str, paths)) or "nothing given"
        raise InputError(f"nothing to index: {where} ({'; '.join(reasons[:3])})")
    used = {root for root, _ in found.files.values()}
    for root in new:
        if root in used:
            try:
                at = os.path.relpath(root.path, store.path.resolve().parent)
            except ValueError:  # on another drive of Windows
                at = str(root.path)
            if writable(root.label + at) != root.label + at:
                raise InputError(f"{writable(str(root.path))}: its name is not valid UTF-8")
            store.add_root(root.label, Path(at).as_posix())
    return found


def existing(paths: Iterable[Path]) -> list[Path]:
    """The paths, resolved, outer ones first, without repetition.

    Raises:
        InputError: if one does not exist.
    """
    resolved = set()
    for path in paths:
        try:
            path.stat()
        except (FileNotFoundError, NotADirectoryError, ValueError) as error:
            raise InputError(f"{path}: no such file or folder") from error
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}") from error
        resolved.add(path.resolve())
    return sorted(resolved, key=lambda path: (len(path.parts), path))


def known_roots(store: Store) -> list[Root]:
    """The store's roots; kept relative, so that store and corpus can move together."""
    base = store.path.resolve().parent
    return [Root(label, Path(os.path.normpath(base / at))) for label, at in store.roots().items()]


def _new_roots(given: Sequence[Path], known: Sequence[Root], store: Store) -> list[Root]:
    """A root for each path that lies in none yet."""
    folders: list[Path] = []
    there = {root.path for root in known}
    for path in given:
        folder = path if path.is_dir() else path.parent
        if there.isdisjoint((folder, *folder.parents)):
            folders.append(folder)
            there.add(folder)
    if not known and len(folders) == 1:
        return [Root("", folders[0])]
    taken = {record.source.partition("/")[0] for record in store.sources()}
    taken.update(root.label for root in known)
    roots = []
    for folder in folders:
        name = folder.name or "root"
        number = 1
        while (label := name if number == 1 else f"{name}-{number}") in taken:
            number += 1
        taken.add(label)
        roots.append(Root(label, folder))
    return roots


@dataclass(slots=True)
class _Search:
    """The search for files, and what it found so far.

    ``roots`` are by their paths. ``owners`` says which root has a source's name: the first that
    came with it.
    """

    roots: Mapping[Path, Root]
    store: Path
    owners: dict[str, str]
    include: Sequence[str]
    exclude: Sequence[str]
    found: Survey = field(default_factory=Survey)

    def look(self, path: Path) -> None:
        """Take a file, or the files below a folder."""
        self.found.roots.add(self._root(path))
        self.found.below.append(self._root(path).below(path))
        if path.is_dir():
            self.folder(path)
        else:
            self.take(path)

    def folder(self, top: Path) -> None:
        """Take the files below a folder; a link is never followed."""
        for path in self._below(top):
            if reason := self._why_skipped(path):
                self._skip(path, reason)
            else:
                self.take(path)

    def take(self, path: Path) -> None:
        """Put a file on the list, unless nothing reads it."""
        root = self._root(path)
        if reason := why_unsupported(path.name):
            self._skip(path, reason)
        elif self.owners.setdefault(root.source(path), root.label) != root.label:
            self._skip(path, NAME_TAKEN)
        else:
            self.found.files[root.source(path)] = (root, path)

    def settle(self, records: Iterable[SourceRecord], given: Iterable[Path]) -> None:
        """Decide on the sources of the store that the search had to come by and did not."""
        by_label, given = {root.label: root for root in self.roots.values()}, frozenset(given)
        # Folders with a label of their own that lie in one that was looked into.
        inner = [root for at, root in self.roots.items() if not given.isdisjoint(at.parents)]
        self.found.below += [root.below(root.path) for root in inner]
        self.found.roots.update(inner)
        spelled = {_folded(source): path for source, (_, path) in self.found.files.items()}
        for record in records:
            root = by_label.get(record.root)
            if root is None or record.source in self.found.files:
                continue
            path = root.path / record.name
            if not given.isdisjoint((path, *path.parents)):
                self._settle(record, root, path, spelled.get(_folded(record.source)))

    def forget(self, given: Path, records: Iterable[SourceRecord]) -> None:
        """Have what the store knows of a file or folder removed, whether or not that is there."""
        top = given.resolve()
        by_label = {root.label: root for root in self.roots.values()}
        gone = {entry.source for entry in self.found.gone}
        known = any(top in (at, *at.parents) for at in self.roots)
        for record in records:
            root = by_label.get(record.root)
            if root is None:
                continue
            path = root.path / record.name
            if top not in (path, *path.parents):
                continue
            if record.source in self.found.files:
                raise InputError(f"{given}: is to be indexed and to be forgotten")
            known = True
            if record.source not in gone:
                self.found.gone.append(SourceEntry(record.source, "forgotten"))
        if not known:
            raise InputError(f"{given}: nothing of it is in the store")
        for at, root in self.roots.items():
            if top in (at, *at.parents):
                self.found.below.append(root.below(at))
            elif at in top.parents:  # not `below`: a folder that is gone is none
                self.found.below += [root.source(top), f"{root.source(top)}/"]

    def _settle(self, record: SourceRecord, root: Root, path: Path, twin: Path | None) -> None:
        names = record.name, record.source
        # A search follows no link, neither to the file nor to a folder above it.
        if not _is_file(path) or path.resolve() != path:
            self.found.gone.append(SourceEntry(record.source, "file is gone"))
        elif glob := _matching(self.exclude, names):
            self.found.gone.append(SourceEntry(record.source, f"excluded by {glob}"))
        elif self.include and not _matching(self.include, names):
            return
        elif twin and os.path.samefile(twin, path):  # to some systems "A.md" is "a.md", too
            self.found.gone.append(SourceEntry(record.source, "file is gone"))
        else:
            self.found.files[record.source] = (root, path)  # hidden say, given by name before

    def _root(self, path: Path) -> Root:
        """The innermost root that a path lies in."""
        # Upwards, since there may be thousands of roots, and this is asked for each file.
        return next(self.roots[at] for at in (path, *path.parents) if at in self.roots)

    def _skip(self, path: Path, reason: str, mark: str = "") -> None:
        name = self._root(path).source(path) + mark
        self.found.skipped.append(SourceEntry(writable(name), reason))

    def _below(self, top: Path) -> Iterator[Path]:
        """Everything below a folder that is no folder to go into, in sorted order."""

        def unreadable(error: OSError) -> None:
            self._skip(Path(error.filename), f"cannot be read: {error.strerror}", "/")

        for at, folders, files in os.walk(top, onerror=unreadable):
            here = Path(at)
            entered = []
            for name in sorted(folders):
                path = here / name
                if os.path.islink(path):  # not path.is_symlink(), see `_is_file`
                    yield path
                elif path == self.store:
                    continue
                elif name.startswith("."):
                    self._skip(path, "hidden", "/")
                else:
                    entered.append(name)
            folders[:] = entered
            yield from (here / name for name in sorted(files))

    def _why_skipped(self, path: Path) -> str | None:
        """Why a file found in a folder is not indexed; None if it is."""
        root = self._root(path)
        names = root.name(path), root.source(path)
        reason = None
        if os.path.islink(path):
            # Not path.resolve(): that gives up on links that lead in a circle.
            inside = Path(os.path.realpath(path)).is_relative_to(root.path)
            reason = f"link to a place {'in' if inside else 'out of'} the folder"
        elif path.name.startswith("."):
            reason = "hidden"
        elif path.name == PROFILE_NAME:
            reason = "reliability profile"
        elif not _is_file(path):
            reason = "not a regular file"
        elif glob := _matching(self.exclude, names):
            reason = f"excluded by {glob}"
        elif self.include and not _matching(self.include, names):
            reason = NOT_INCLUDED
        return reason


def _is_file(path: Path) -> bool:
    """Whether it is a regular file, or may be one: in a folder that cannot be looked into.

    Of such a one it is said when it is read that it cannot be.
    """
    try:
        return S_ISREG(os.stat(path).st_mode)  # not path.is_file(): from Python 3.14 on False
    except OSError as error:
        return error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


def _folded(source: str) -> str:
    """A name as file systems compare it that know neither case nor two forms of a letter."""
    return unicodedata.normalize("NFC", source).casefold()


def _matching(globs: Iterable[str], names: Sequence[str]) -> str | None:
    """The first of the globs that matches one of a file's names."""
    return next((glob for glob in globs if any(matches(glob, name) for name in names)), None)
