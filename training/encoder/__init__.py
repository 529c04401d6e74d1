"""An encoder of pairs as the fast relation model: mixture, training, measures and export."""
