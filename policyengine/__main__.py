"""`python -m policyengine` is the command line."""

from policyengine.commands import main

if __name__ == "__main__":
    main()
