"""What Kassa costs beside the alternatives: measured in turn, in one run, on one machine, reported as ratios."""
