"""Training of the adapter that makes an instructed LLM a relation model."""
