"""Tests of what keeps the process on its machine, and of what carries it to another."""
