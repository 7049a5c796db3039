"""What can go wrong with the server itself."""

from __future__ import annotations


class ServerError(Exception):
    """The base class of all errors of this package: the server could not execute a request."""


class StartError(ServerError):
    """The server did not start: a wrong setting, or a port in use, a database it cannot use."""

    detail: str
    """What went wrong, in words."""
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


class NotRunning(ServerError):
    """The server was not started, was stopped, or was killed."""


class Refused(ServerError):
    """The server refused a request (RFC 9457)."""

    http_status: int
    """Such as 422."""
    kind: str
    """What kind of problem it is, such as ``invalid``."""
    detail: str
    """The error message."""
    violations: tuple[tuple[str, str], ...]
    """Each wrong field, and the rule that it breaks."""

    def __init__(self, http_status: int, kind: str, detail: str, violations: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(http_status, kind, detail, violations)
        self.http_status = http_status
        self.kind = kind
        self.detail = detail
        self.violations = violations

    def __str__(self) -> str:
        return self.detail


class TooLate(ServerError):
    """The awaited event did not happen in time."""
