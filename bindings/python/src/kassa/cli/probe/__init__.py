"""The probe: runs every flow against a gateway's test environment, and finds the matching dialect."""
