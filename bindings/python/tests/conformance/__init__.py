"""Runs the conformance vectors against the installed package. What a vector means is described beside them, in their README."""
