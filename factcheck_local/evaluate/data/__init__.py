"""The benchmarks' data as items: one data set a file."""
