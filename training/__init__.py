"""How the shipped encoder is made, from raw data to its file."""
