"""deploy/ and the steps that install it: what can be told of them without root and Docker."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from .pages import ROOT, blocks, takes_its_options

UNIT = ROOT / "deploy" / "factcheck.service"
INSTRUCTIONS = [
    (found[1], found[2])
    for line in re.sub(r"\\\n", " ", (ROOT / "deploy" / "Dockerfile").read_text()).splitlines()
    if (found := re.fullmatch(r"([A-Z]+) (.*)", line))
]
SYSTEMD, DOCKER = blocks("docs/server.md", "shell")

#: Options of `docker run` that the page uses, and whether a value follows.
RUN_OPTIONS = {"--rm": 0, "--read-only": 0, "--tmpfs": 1, "--cap-drop": 1, "--security-opt": 1}
RUN_OPTIONS |= {"-v": 1, "-p": 1, "--network": 1, "--entrypoint": 1}


def last(name: str) -> str:
    """What the last instruction of a name says."""
    return [text for found, text in INSTRUCTIONS if found == name][-1]


def called(script: str, folder: Path) -> list[list[str]]:
    """What a script of a page calls, in order; nothing of it is done."""
    words = set(re.findall(r"(?:^\s*|{ )([\w./-]+)(?= )", script, re.MULTILINE)) - {"facts"}
    log = folder / "calls"
    functions = "".join(
        f"""{word}() {{ printf '%s\\0' {word} "$@" >> {log}; echo >> {log}; }}\n"""
        for word in words
    )
    # Whatever has no function is not found.
    bash = [str(shutil.which("bash")), "-eu", "-c", functions + script]
    subprocess.run(bash, check=True, cwd=folder, env={"PATH": str(folder / "none")})
    return [line.rstrip("\0").split("\0") for line in log.read_text().splitlines()]


def of_factcheck(words: list[str], folder: Path) -> list[str]:
    """The arguments, with files in place of those that are elsewhere."""
    found = []
    for word in words:
        if re.match(r"/(run|srv|bundle|docs)\b|bundle\.tar", word):
            word = str(folder / Path(word).name)
            Path(word).touch()
        found.append(word)
    return found


def test_the_unit_is_sound_and_hardened(tmp_path: Path) -> None:
    (line,) = re.findall(r"^ExecStart=(.*)$", UNIT.read_text(), re.MULTILINE)
    program, *arguments = shlex.split(line)
    assert takes_its_options(arguments)
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd is not installed here")
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text().replace(program, "/bin/true"))
    done = subprocess.run(
        ["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    # Of 100, where more is worse.
    limit = ["--offline=true", "--threshold=15"]
    subprocess.run(
        ["systemd-analyze", "security", *limit, str(unit)], check=True, capture_output=True
    )


def test_the_steps_for_systemd(tmp_path: Path) -> None:
    calls = called(SYSTEMD, tmp_path)
    (home,) = re.findall(r"FACTCHECK_HOME=\S+", UNIT.read_text())
    (serve,) = re.findall(r"^ExecStart=(.*)$", UNIT.read_text(), re.MULTILINE)
    run = [words[6:] for words in calls if words[0] == "runuser"]
    assert [words[5] for words in calls if words[0] == "runuser"] == [home] * 2
    for program, *arguments in run:
        assert program == shlex.split(serve)[0]
        assert takes_its_options(of_factcheck(arguments, tmp_path))
    store = run[1][run[1].index("--store") + 1]
    assert store in shlex.split(serve)
    assert ["cp", "deploy/factcheck.service", "/etc/systemd/system/"] in calls


def test_the_image_is_made_without_a_network_and_runs_without_rights(tmp_path: Path) -> None:
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", last("USER"))
    assert last("VOLUME") == last("WORKDIR") == "/data"
    for text in (text for name, text in INSTRUCTIONS if name == "RUN"):
        subprocess.run(["bash", "-n", "-c", text], check=True)
        for command in text.split(" && "):
            program = command.split()[0]
            assert program.startswith("/opt/factcheck/bin/") or shutil.which(program), program
        assert "pip install" not in text or "--no-index" in text
    assert "http" not in " ".join(text for _, text in INSTRUCTIONS)
    entry, default = json.loads(last("ENTRYPOINT")), json.loads(last("CMD"))
    assert takes_its_options(of_factcheck([*entry, *default], tmp_path)[1:])


def test_the_steps_for_docker(tmp_path: Path) -> None:
    build, *runs = called(DOCKER, tmp_path)
    assert build[:5] == ["docker", "build", "--network", "none", "--file"]
    assert (ROOT / build[5]).is_file()
    assert len(runs) == 4
    entry, default = json.loads(last("ENTRYPOINT")), json.loads(last("CMD"))
    for words in runs:
        assert words[:2] == ["docker", "run"]
        rest, options = words[2:], {}
        while rest[0].startswith("-"):
            name = rest.pop(0)
            options[name] = rest.pop(0) if RUN_OPTIONS[name] else ""
        assert {"--read-only", "--cap-drop", "--security-opt"} <= options.keys()
        image, *arguments = rest
        assert image == build[build.index("--tag") + 1]
        whole = (
            ["factcheck"]
            if "--entrypoint" in options
            else [*entry, *([] if arguments else default)]
        )
        assert takes_its_options(of_factcheck([*whole, *arguments], tmp_path)[1:])
