"""Models, and wheels of the package, in one file, for a machine without a network."""

from __future__ import annotations

from factcheck_local.bundle.export import export_bundle
from factcheck_local.bundle.unpack import import_bundle

__all__ = ["export_bundle", "import_bundle"]
