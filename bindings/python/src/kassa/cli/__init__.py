"""The command line, for scripts and for the people who answer the payers' calls."""
