"""From an answer to verdicts.

Stages import each other in this order, each only those after it: ``verdicts`` (the network,
P, verdict, quote; judges), ``retrieval`` (passages for a claim), ``relation`` (does a passage
state or deny a claim?), ``claims`` (an answer into atomic claims), ``settings``.
"""
