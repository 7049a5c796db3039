"""Errors of the sandbox itself, as distinct from the faults that it injects."""

from __future__ import annotations


class SandboxError(Exception):
    """The base class of all errors of this package: the sandbox could not execute a request."""


class StartError(SandboxError):
    """The sandbox did not start: a port in use, an invalid value, or an unusable database."""

    detail: str
    """The error message."""
    exit_code: int | None
    """The program's exit code; None if it could not be started."""
    log: str
    """Its standard error."""

    def __init__(self, detail: str, exit_code: int | None = None, log: str = "") -> None:
        super().__init__(detail, exit_code, log)
        self.detail = detail
        self.exit_code = exit_code
        self.log = log

    def __str__(self) -> str:
        return f"{self.detail}\n{self.log}" if self.log else self.detail


class NotRunning(SandboxError):
    """The sandbox was not started, was stopped, was killed, or belongs to the process that this one was forked from."""


class AdminRefused(SandboxError):
    """The sandbox refused a request, and nothing changed."""

    http_status: int
    """400 for a wrong value, 404 for something that does not exist, 409 for a payment that is already decided."""
    detail: str
    """The error message."""
    violations: tuple[tuple[str, str], ...]
    """For a wrong value: each wrong field, and the error."""

    def __init__(self, http_status: int, detail: str, violations: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(http_status, detail, violations)
        self.http_status = http_status
        self.detail = detail
        self.violations = violations

    def __str__(self) -> str:
        return self.detail


class UnknownPayment(AdminRefused, LookupError):
    """There is no payment with this number."""
