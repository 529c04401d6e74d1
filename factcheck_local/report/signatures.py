"""Detached Ed25519 signatures (RFC 8032) with the user's own keys in PEM files.

A signature is the 64 bytes alone, over a file's bytes as they are, so OpenSSL makes and
checks the same ones: ``openssl pkeyutl -verify -pubin -inkey KEY.pub -rawin -in FILE
-sigfile FILE.sig``.
"""

from __future__ import annotations

from collections.abc import Callable

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    load_pem_private_key,
    load_pem_public_key,
)

from factcheck_local.core.errors import InputError


def sign(data: bytes, key: bytes, name: str, *, passphrase: Callable[[], str]) -> bytes:
    """The signature of some bytes.

    Args:
        data: what is signed.
        key: a private key as PEM (PKCS #8).
        name: of the key, for messages.
        passphrase: asked for that of a key that is encrypted.

    Raises:
        InputError: if the key is none for Ed25519, or the passphrase is not the key's.
    """
    try:
        try:
            loaded = load_pem_private_key(key, None)
        except TypeError:
            # What cryptography raises where a key is encrypted and no passphrase given.
            loaded = load_pem_private_key(key, passphrase().encode())
    except (ValueError, UnsupportedAlgorithm) as error:
        raise InputError(
            f"{name}: not a private key in PEM, or not its passphrase",
            hint="openssl genpkey -algorithm ed25519 -out KEY",
        ) from error
    if not isinstance(loaded, Ed25519PrivateKey):
        raise InputError(f"{name}: expected an Ed25519 key, got another kind")
    return loaded.sign(data)


def is_signed(data: bytes, signature: bytes, key: bytes, name: str) -> bool:
    """Whether a signature is that of these bytes by this key.

    Args:
        data: what was signed.
        signature: what ``sign`` gave, or anything else.
        key: a public key as PEM.
        name: of the key, for messages.

    Raises:
        InputError: if the key is no public one for Ed25519.
    """
    try:
        loaded = load_pem_public_key(key)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise InputError(
            f"{name}: not a public key in PEM", hint="openssl pkey -in KEY -pubout -out KEY.pub"
        ) from error
    if not isinstance(loaded, Ed25519PublicKey):
        raise InputError(f"{name}: expected an Ed25519 key, got another kind")
    try:
        loaded.verify(signature, data)
    except InvalidSignature:
        return False
    return True
