"""Checks on more than one machine: answers as work for Ray's actors, each with models of its own.

Nothing else in the package needs Ray; it comes with the extra ``scale``.
"""
