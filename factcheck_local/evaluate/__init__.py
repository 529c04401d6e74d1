"""Assessors side by side: the same atoms and contexts, gold labels, measures and tables."""
