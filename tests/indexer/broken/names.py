"""Files that are odd by their name or kind, not by what is in them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ..helpers import write
from .case import Case, failed, skipped


def odd_names(folder: Path) -> Iterator[Case]:
    """Writes what is odd by its name or kind, not by what is in it."""
    text = b"# Tea\n\nTea is hot."
    here = os.fsencode(folder)
    names = {
        b"two\nlines.md": ("indexed", "1 passage$"),
        b"bell\x07\x1b[31m.txt": ("indexed", "1 passage$"),
        b"dots..md": ("indexed", "1 passage$"),
        b"a\\..\\b.md": ("indexed", "1 passage$"),
        "\u202egnp.md".encode(): ("indexed", "1 passage$"),
        b"bad\xff.md": ("skipped", "its name is not valid UTF-8$"),
        b"bad\xff/name.md": ("skipped", "its name is not valid UTF-8$"),
        b"folder.md/inside.md": ("indexed", "1 passage$"),
        b"..md": ("skipped", "hidden$"),
        b"no-extension": ("skipped", "no loader for files without extension$"),
        b"x." + b"y" * 200: ("skipped", "no loader for "),
    }
    for name, (outcome, reason) in names.items():
        path = Path(os.fsdecode(os.path.join(here, name)))
        path.parent.mkdir(exist_ok=True)
        write(path.parent, {path.name: text})
        yield Case(path.relative_to(folder).as_posix(), text, outcome, reason)
    os.mkfifo(folder / "pipe.md")
    yield skipped("pipe.md", b"", "not a regular file$")
    links = {
        "loop": (folder, "link to a place in the folder$"),
        "self.md": (folder / "self.md", "link to a place"),
        "dangling.md": (folder / "nowhere.md", "link to a place in the folder$"),
        "out.md": (folder.parent / "secret.md", "link to a place out of the folder$"),
        "root": (Path("/"), "link to a place out of the folder$"),
        "device.md": (Path("/dev/zero"), "link to a place out of the folder$"),
    }
    for link, (target, reason) in links.items():
        (folder / link).symlink_to(target)
        yield skipped(link, b"", reason)
    write(folder.parent, {"secret.md": "Nobody may read this secret."})
    if os.geteuid():  # root reads everything
        write(folder, {"closed.md": text})
        (folder / "closed.md").chmod(0)
        yield failed("closed.md", text, "cannot be read: Permission denied$")
