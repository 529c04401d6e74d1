"""Checks inside LangChain, LlamaIndex, Haystack and DeepEval; see ``docs/integrations.md``.

Each module is an extra of the same name, and the only one that imports its framework. All take a
`FactChecker`: the models, the store and the verdicts are in this process, and nothing is sent.
"""
