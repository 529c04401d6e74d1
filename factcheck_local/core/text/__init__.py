"""Text: lexical checks, sentence offsets, and what no model is to read."""
