"""Models, and wheels of the package, in one file, for a machine without a network."""

from __future__ import annotations

from factcheck_local.models.bundle.export import export_bundle
from factcheck_local.models.bundle.unpack import import_bundle

__all__ = ["export_bundle", "import_bundle"]
