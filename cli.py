"""Launcher for a checkout: the same as the installed command ``factcheck``."""

from factcheck_local.commands import script

if __name__ == "__main__":
    script()
