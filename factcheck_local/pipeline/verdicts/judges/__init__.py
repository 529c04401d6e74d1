"""Assessors that ask an LLM about each claim instead of building a network."""
