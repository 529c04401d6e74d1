"""Checks over HTTP for a team: a durable queue, one process with the models, keys, an audit log.

``app`` is what a request meets: ``access`` says who asks, ``requests`` what for, ``jobs`` keeps it.
``worker`` takes one check after the other in a process of its own. The two share nothing but the
file of ``jobs``, so either may die and nothing is lost. The extra ``serve`` has the libraries.
``mcp_transports`` offers the same to agents, by ``mcp_tools``; the extra is ``mcp``.
"""
