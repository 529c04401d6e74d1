"""Signatures: by the key's owner over the very bytes, whole or not there; OpenSSL agrees."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from factcheck_local.cli import sign as sign_module
from factcheck_local.report.schema import SCHEMA

from .helpers import factcheck, refused

RUN = json.dumps({"schema": SCHEMA, "atoms": []}).encode()


def make_key(
    folder: Path, name: str, encryption: KeySerializationEncryption | None = None
) -> tuple[Path, Path]:
    """A key of its own, private and public."""
    key = Ed25519PrivateKey.generate()
    encryption = encryption or NoEncryption()
    private, public = folder / f"{name}.pem", folder / f"{name}.pub"
    private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption))
    public.write_bytes(
        key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    )
    return private, public


@pytest.fixture
def key(tmp_path: Path) -> tuple[Path, Path]:
    return make_key(tmp_path, "me")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "run.json"
    path.write_bytes(RUN)
    return path


def test_any_other_byte_does_not_fit(run: Path, key: tuple[Path, Path], tmp_path: Path) -> None:
    signature = tmp_path / "run.json.sig"
    assert factcheck("sign", run, "--key", key[0]) == (0, "", f"written to {signature}\n")
    assert len(signature.read_bytes()) == 64
    good = factcheck("check-signature", run, "--key", key[1])
    assert good == (0, f"{run}: signed by the owner of {key[1]}\n", "")
    bad = (1, f"{run}: not signed by the owner of {key[1]}\n", "")
    for at in range(0, len(RUN), 7):
        run.write_bytes(RUN[:at] + bytes([RUN[at] ^ 1]) + RUN[at + 1 :])
        assert factcheck("check-signature", run, "--key", key[1]) == bad
    for other in (RUN + b"\n", RUN[:-1], b""):
        run.write_bytes(other)
        assert factcheck("check-signature", run, "--key", key[1]) == bad
    run.write_bytes(RUN)
    made = signature.read_bytes()
    for other in (bytes([made[0] ^ 1]) + made[1:], made[:-1], made + b"\n", b""):
        signature.write_bytes(other)
        assert factcheck("check-signature", run, "--key", key[1]) == bad


def test_the_former_name_says_the_new_one(run: Path, key: tuple[Path, Path]) -> None:
    assert factcheck("sign", run, "--key", key[0]).code == 0
    now = factcheck("check-signature", run, "--key", key[1])
    then = factcheck("verify-signature", run, "--key", key[1])
    said = "factcheck check-signature is the name of this command now\n"
    assert then == (now.code, now.out, said)
    assert "verify-signature" not in factcheck("--help").out


def test_another_key_does_not_fit(run: Path, key: tuple[Path, Path], tmp_path: Path) -> None:
    assert factcheck("sign", run, "--key", key[0]).code == 0
    _, other = make_key(tmp_path, "other")
    assert factcheck("check-signature", run, "--key", other).code == 1


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_openssl_checks_ours_and_we_check_its(
    run: Path, key: tuple[Path, Path], tmp_path: Path
) -> None:
    def openssl(*arguments: object) -> None:
        command = ["openssl", *map(str, arguments)]
        subprocess.run(command, check=True, capture_output=True)

    assert factcheck("sign", run, "--key", key[0]).code == 0
    raw = ("-rawin", "-in", run, "-sigfile", tmp_path / "run.json.sig")
    openssl("pkeyutl", "-verify", "-pubin", "-inkey", key[1], *raw)
    private, public = tmp_path / "theirs.pem", tmp_path / "theirs.pub"
    openssl("genpkey", "-algorithm", "ed25519", "-out", private)
    openssl("pkey", "-in", private, "-pubout", "-out", public)
    mine = tmp_path / "mine.sig"
    openssl("pkeyutl", "-sign", "-inkey", private, "-rawin", "-in", run, "-out", mine)
    done = factcheck("check-signature", run, "--key", public, "--signature", mine)
    assert done.code == 0


def test_a_passphrase_is_asked_for(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private, public = make_key(tmp_path, "locked", BestAvailableEncryption(b"secret"))
    said = iter(["secret", "wrong"])
    monkeypatch.setattr(sign_module, "_passphrase", lambda _key: next(said))
    assert factcheck("sign", run, "--key", private).code == 0
    assert factcheck("check-signature", run, "--key", public).code == 0
    assert refused("sign", run, "--key", private).startswith(
        f"{private}: not a private key in PEM, or not its passphrase"
    )


def test_keys_of_another_kind(run: Path, key: tuple[Path, Path], tmp_path: Path) -> None:
    curve = generate_private_key(SECP256R1())
    private, public = tmp_path / "curve.pem", tmp_path / "curve.pub"
    private.write_bytes(curve.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    public.write_bytes(
        curve.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    )
    expected = f"{private}: expected an Ed25519 key, got another kind"
    assert refused("sign", run, "--key", private) == expected
    assert not (tmp_path / "run.json.sig").exists()
    assert "not a private key in PEM" in refused("sign", run, "--key", key[1])
    assert factcheck("sign", run, "--key", key[0]).code == 0
    assert "not a public key in PEM" in refused("check-signature", run, "--key", key[0])
    expected = f"{public}: expected an Ed25519 key, got another kind"
    assert refused("check-signature", run, "--key", public) == expected


def test_only_a_run_is_signed(tmp_path: Path, key: tuple[Path, Path]) -> None:
    other = tmp_path / "other.json"
    other.write_text("{}")
    assert refused("sign", other, "--key", key[0]).startswith(f"{other}: not an assessment")
    missing = tmp_path / "missing.json"
    assert refused("sign", missing, "--key", key[0]).startswith(f"{missing}: cannot be read")
    assert refused("check-signature", other, "--key", key[1]).startswith(
        f"{other}.sig: cannot be read"
    )
    assert "expected --signature FILE" in refused("sign", "-", "--key", key[0], stdin=RUN)


def test_a_signature_replaces_neither_run_nor_key(run: Path, key: tuple[Path, Path]) -> None:
    for path in (run, key[0]):
        before = path.read_bytes()
        line = refused("sign", run, "--key", key[0], "--signature", path)
        assert line.startswith(f"{path}: is read, and would be overwritten")
        assert path.read_bytes() == before


def test_a_signature_is_whole_or_the_old_one(
    run: Path, key: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    signature = tmp_path / "run.json.sig"
    assert factcheck("sign", run, "--key", key[0]).code == 0
    before = signature.read_bytes()
    run.write_bytes(RUN + b"\n")

    def interrupted(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", interrupted)
    assert refused("sign", run, "--key", key[0]) == (
        f"{signature}: cannot be written: No space left on device"
    )
    assert signature.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "me.pem",
        "me.pub",
        "run.json",
        "run.json.sig",
    ]
