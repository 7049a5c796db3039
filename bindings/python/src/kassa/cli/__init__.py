"""The command line, for scripts and for the support desk."""
