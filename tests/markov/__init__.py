"""Tests of factcheck_local.markov."""
