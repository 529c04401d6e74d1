"""What the benchmarks of relation models share: pairs, scores kept, measures, reports."""
