"""Tests of factcheck_local.models."""
