"""Run the command line from a checkout: `python cli.py` is `policyengine`."""

from policyengine.commands import main

if __name__ == "__main__":
    main()
