"""Documents in, passages with their reliability and their place out.

`loaders` read files, `chunker` cuts them into passages, `reliability` gives
each its prior, `store` keeps them in Chroma, `sync` brings a store up to date.
"""
