"""Tests of what the package promises to those who import it."""
