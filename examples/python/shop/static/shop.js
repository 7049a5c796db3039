// The pages work without this. It keeps an order's page up to date, and a form from being sent twice.
"use strict";

const PAUSE_MS = 1000;
const STOPPED_MS = 15000;

async function look() {
  const section = document.getElementById("status");
  if (!("waiting" in section.dataset)) return;
  try {
    const { source, version } = section.dataset;
    const answer = await fetch(`${source}&seen=${encodeURIComponent(version)}`);
    if (answer.status === 200) show(await answer.text());
  } catch {
    // The shop is not there at the moment: the next look may find it.
  }
  setTimeout(look, PAUSE_MS);
}

function show(html) {
  const live = document.getElementById("live");
  live.innerHTML = html;
  document.title = document.title.replace(/^.*(?= – )/, document.getElementById("status").dataset.title);
}

document.addEventListener("submit", (event) => {
  if ("sent" in event.target.dataset) event.preventDefault();
  event.target.dataset.sent = "";
  // Where the page is still there, its payer has stopped the browser, and may send it again.
  setTimeout(() => delete event.target.dataset.sent, STOPPED_MS);
});

// A page that the browser kept is shown again as it was, and its forms may be sent again.
// The event comes for a page that has just been loaded, too: a form of it may be on its way already.
window.addEventListener("pageshow", (event) => {
  if (event.persisted) document.querySelectorAll("form").forEach((form) => delete form.dataset.sent);
});

if (document.getElementById("status")) setTimeout(look, PAUSE_MS);
