"""The probe: plays every flow against a gateway's test environment, and finds the dialect that fits."""
