"""Passages for claims: search, fusion, rerankers, near duplicates, further queries."""
