"""Measurements of the package, on models and data that are really there.

Run those that import each other from the top of the repository, as modules:
``python -m benchmarks.relation``. A package and no mere folder, since a library
that we depend on installs a package ``benchmarks`` too, which would win.
"""
