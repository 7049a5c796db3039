//! Nothing is here: the runner of the conformance vectors is the test of this package.
