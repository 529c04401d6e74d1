"""Relations become a Markov network, its posteriors verdicts, each with its quotes."""
