"""Pictures of the pages, compared with those that somebody looked at and accepted (visual regression tests)."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image, ImageChops
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Page

from patience import PATIENCE

ACCEPT = os.environ.get("KASSA_PICTURES") == "accept"
FONTS = Path(__file__).with_name("fonts.conf")
"""The one font of all pictures, so that they are the same on every machine."""
FAILED = Path(__file__).resolve().parents[2] / "target" / "pictures"
# Pictures are compared at half their size, as the edges of letters differ from one Chromium to the next. Those of wide windows
# are stored so, too.
HALF = 2
WIDE = 700
# What is below is not on the picture: a page that is longer holds a list.
MOST_HEIGHT = 6000
# Seconds in which a page becomes what it is to look like.
SETTLES_WITHIN = PATIENCE / 6
# Of 255, in one of the three colours.
SAME_COLOUR = 40
# Of all pixels, and at least so many: a few letters, or a line of a border.
SAME_PICTURE = 0.0005
FEW_PIXELS = 12

# What differs from one run to the next stands on the picture in one form. It comes back afterwards: the page goes on.
STEADY = r"""
(varying) => {
  const rules = [
    [/\border-\d+\b/g, "order-1"],
    [/\btry-\d+\b/g, "try-1"],
    [/\b(127\.0\.0\.1|localhost):\d+/g, "127.0.0.1:80"],
    [/\b(co|pay|evt|key)_[0-9a-f-]{8,}\b/g, "$1_0123456789abcdef"],
    [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, "01234567-89ab-cdef-0123-456789abcdef"],
    [/\b[0-9a-f]{16,}\b/g, "0123456789abcdef"],
    [/\b\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\b/g, "12:34"],
    [/\b202[5-9]-\d{2}-\d{2}\b/g, "2026-01-02"],
    [/\b\d{1,2}\.\d{2}\.202[5-9]\b/g, "02.01.2026"],
    [/\b\d{1,2} [A-Z][a-z]{2,8} 202[5-9]\b/g, "2 Jan 2026"],
    [/\b\d{12,}\b/g, "100000000001"],
    // In the last hour of a day.
    [/\btomorrow\b/g, "today"],
    [/завтра/g, "сегодня"],
    [/эртең/g, "бүгүн"],
  ];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const changed = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const before = node.data;
    const after = rules.reduce((text, [pattern, word]) => text.replace(pattern, word), before);
    if (after !== before) { changed.push([node, before]); node.data = after; }
  }
  const days = [...document.querySelectorAll("input[type=date]")].map((field) => [field, field.value]);
  for (const [field, day] of days) { if (day >= "2025" && day < "2030") { field.value = "2026-01-02"; } }
  const hidden = [...document.querySelectorAll(varying)];
  for (const part of hidden) { part.style.visibility = "hidden"; }
  window.kassaPicture = { changed, days, hidden };
}
"""
BACK = """
() => {
  const { changed, days, hidden } = window.kassaPicture;
  for (const [node, text] of changed) { node.data = text; }
  for (const [field, day] of days) { field.value = day; }
  for (const part of hidden) { part.style.visibility = ""; }
  delete window.kassaPicture;
}
"""

# A code differs each time, unless a test has set its text; its place and size are compared.
CODES = "svg.qr, canvas"
# What is on the paper of a printer, at 96 pixels an inch: A4 less the margins.
PAPER = (718, 1047)


ACCEPTED: set[Path] = set()
"""The pictures that this run has accepted."""


def path_of(folder: Path, name: str) -> Path:
    """Where the accepted picture of this name is: those of one file of tests are together."""
    tests = Path(os.environ["PYTEST_CURRENT_TEST"].partition("::")[0]).stem.removeprefix("test_")
    return folder / tests / f"{name}.webp"


@contextmanager
def printed(page: Page) -> Generator[None]:
    """What is done inside sees the page as a printer prints it: on white paper, as wide as a sheet."""
    size, is_dark = page.viewport_size, page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    page.set_viewport_size({"width": PAPER[0], "height": PAPER[1]})
    page.emulate_media(media="print", color_scheme="light")
    try:
        yield
    finally:
        page.emulate_media(media="null", color_scheme="dark" if is_dark else "light")
        if size is not None:
            page.set_viewport_size(size)


def take(page: Page, *, shows_codes: bool = False) -> bytes:
    """A picture of the whole page, as PNG, with whatever varies in one form."""
    # What the pointer is on looks otherwise.
    page.mouse.move(0, 0)
    page.evaluate(STEADY, "canvas" if shows_codes else CODES)
    try:
        return _whole(page)
    finally:
        page.evaluate(BACK)


def _whole(page: Page) -> bytes:
    size = page.viewport_size
    if size is None or not page.evaluate("matchMedia('(pointer: coarse)').matches"):
        return page.screenshot(full_page=True, animations="disabled")
    # While it takes a whole page, Chromium forgets that the screen is touched and shows that of a desktop: the window grows.
    height = min(page.evaluate("document.documentElement.scrollHeight"), MOST_HEIGHT)
    page.set_viewport_size({"width": size["width"], "height": max(size["height"], height)})
    # A page that is longer than the window may stand anywhere.
    page.evaluate("scrollTo({top: 0, behavior: 'instant'})")
    try:
        return page.screenshot(animations="disabled")
    finally:
        page.set_viewport_size(size)


def compare(page: Page, accepted: Path, *, shows_codes: bool = False) -> None:
    """Waits until the page looks as on the accepted picture: it may not be complete yet, for example without an answer.

    Fails where it goes on to differ. With ``KASSA_PICTURES=accept`` its picture becomes the accepted one.
    """
    until = time.monotonic() + SETTLES_WITHIN
    while True:
        try:
            now, is_wide = _shown(page, shows_codes=shows_codes)
        except PlaywrightError:
            # Without scripts a page loads again by itself, perhaps just now.
            if time.monotonic() > until:
                raise
            page.wait_for_load_state()
            continue
        if (
            ACCEPT
            or not accepted.is_file()
            or _are_alike(now, _read(accepted), is_wide=is_wide)
            or time.monotonic() > until
        ):
            break
        page.wait_for_timeout(100)
    if ACCEPT:
        is_known = accepted in ACCEPTED
        ACCEPTED.add(accepted)
        if not (accepted.is_file() and _are_alike(now, _read(accepted), is_wide=is_wide)):
            assert not is_known, f"two pages that look different have the name {accepted.name}"
            accepted.parent.mkdir(parents=True, exist_ok=True)
            now.save(accepted, "WEBP", lossless=True, quality=100, method=6)
        return
    if not accepted.is_file():
        found = f"there is no accepted picture {accepted.name}: {_keep(now, accepted)}"
    elif not _are_alike(now, _read(accepted), is_wide=is_wide):
        found = f"it differs from the accepted picture {accepted.name}: {_keep(now, accepted)}"
    else:
        return
    raise AssertionError(f"{found}; if that is as it should be, take it with KASSA_PICTURES=accept")


def _shown(page: Page, *, shows_codes: bool) -> tuple[Image.Image, bool]:
    """The page's picture in the size in which pictures are compared, and whether it was made in a wide window."""
    now = Image.open(io.BytesIO(take(page, shows_codes=shows_codes))).convert("RGB")
    now = now.crop((0, 0, now.width, min(now.height, MOST_HEIGHT)))
    is_wide = now.width >= WIDE
    return (now.reduce(HALF) if is_wide else now), is_wide


def _read(path: Path) -> Image.Image:
    with Image.open(path) as stored:
        return stored.convert("RGB")


def _are_alike(now: Image.Image, before: Image.Image, *, is_wide: bool) -> bool:
    if now.size != before.size:
        return False
    now, before = (now, before) if is_wide else (now.reduce(HALF), before.reduce(HALF))
    difference = ImageChops.difference(now, before)
    red, green, blue = difference.split()
    strongest = ImageChops.lighter(ImageChops.lighter(red, green), blue)
    differing = sum(strongest.histogram()[SAME_COLOUR + 1 :])
    return differing <= max(FEW_PIXELS, int(strongest.width * strongest.height * SAME_PICTURE))


def _keep(now: Image.Image, accepted: Path) -> Path:
    folder = FAILED / accepted.parent.name
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{accepted.stem}.png"
    now.save(path)
    return path
