"""An answer as atomic claims: segments, atoms, rewording; or as a record brings them."""
