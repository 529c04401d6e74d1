"""Launcher for a checkout: the same as the installed command ``factcheck``."""

from factcheck_local.commands import main

if __name__ == "__main__":
    main()
