"""Run the command line as ``python -m skdiffuse``."""

from skdiffuse.cli import main

if __name__ == "__main__":
    main()
