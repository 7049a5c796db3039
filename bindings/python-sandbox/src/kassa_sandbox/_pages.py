"""The payer's pages, as a browser uses them."""

from __future__ import annotations

from urllib.parse import urlencode, urljoin, urlsplit

from ._admin import PATIENCE
from .errors import NotRunning, SandboxError
from .payers import TestCard, TestPhone


def pay_by_form(page_url: str, payer: TestCard | TestPhone) -> str:
    """Pays on a pay-form; returns the URL that the payer is redirected to, or an empty string."""
    status, leads_to = submit(page_url, **fields_of(payer))
    next_page = urljoin(page_url, leads_to)
    if status >= 400 or (payer.otp is not None and not leads_to):
        raise SandboxError("the pay-form does not take this payer, or is paid already")
    # Some cards are charged at once. All other payers are led to a page that asks for the one-time password.
    if payer.otp is None or urlsplit(next_page).netloc != urlsplit(page_url).netloc:
        return leads_to
    status, back = submit(next_page, otp=payer.otp)
    if status >= 400:
        raise SandboxError(f"the page that asks for the one-time password answered HTTP {status}")
    return back


def fields_of(payer: TestCard | TestPhone) -> dict[str, str]:
    """The fields of the pay-form for a payer."""
    if isinstance(payer, TestPhone):
        return {"provider": payer.provider, "phone": payer.phone}
    card = {"pan": payer.pan, "expiryMonth": "12", "expiryYear": "2099", "cvc": "123", "name": "Aibek Asanov"}
    return {"provider": "Cards", **card}


def submit(url: str, **fields: str) -> tuple[int, str]:
    """Submits a form; returns the status and the redirect's URL. It uses no proxy, and follows no redirect."""
    from http.client import HTTPConnection, HTTPException

    address = urlsplit(url)
    connection = HTTPConnection(address.hostname or "", address.port, timeout=PATIENCE)
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    try:
        connection.request("POST", f"{address.path or '/'}?{address.query}", urlencode(fields), headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status, answer.getheader("location", "")
    except (OSError, HTTPException) as error:
        raise NotRunning(f"{address.netloc} does not answer: {error}") from error
    finally:
        connection.close()
