"""Training on a GPU that has torch and nothing else: prepared here, read there."""
