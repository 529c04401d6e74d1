"""Local, air-gapped fact checking of an LLM's answer against your own documents.

Importing the package is cheap: models, Chroma and pgmpy are loaded by the
modules that use them, on first use.
"""

__version__ = "0.1.0"
