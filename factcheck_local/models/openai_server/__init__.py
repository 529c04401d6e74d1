"""Chat models behind an OpenAI-compatible server, at an address that the user names."""
