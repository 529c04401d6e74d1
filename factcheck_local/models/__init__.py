"""Models: contracts, cards with sha256, where weights come from, and the backends."""
