"""Training of the adapter that takes answers apart: kinds and claims of their parts."""
