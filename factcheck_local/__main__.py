"""``python -m factcheck_local``: the same as the installed command ``factcheck``."""

from factcheck_local.cli import script

if __name__ == "__main__":
    script()
