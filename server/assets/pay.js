// The hosted page with scripts: it waits for the next state and puts it in, and that is all. Without scripts the same forms work,
// and the page loads again by itself.
"use strict";
(() => {
  const SHORTEST_MS = 1000;
  const LONGEST_MS = 30000;
  const STOPPED_MS = 15000;
  const news = document.getElementById("news");
  const offline = document.getElementById("offline");
  const state = () => document.getElementById("state");
  let stop = new AbortController();

  // Backoff: from one second to thirty, until the line is back.
  const pause = (ms) => new Promise((done) => {
    const end = () => { clearTimeout(timer); window.removeEventListener("online", end); done(); };
    const timer = setTimeout(end, ms);
    window.addEventListener("online", end);
  });

  // Nothing is asked while nobody looks.
  const seen = () => new Promise((done) => {
    if (!document.hidden) { done(); return; }
    document.addEventListener("visibilitychange", () => seen().then(done), { once: true });
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) { stop.abort(); stop = new AbortController(); }
  });

  const fieldsOf = (part) => part.querySelectorAll("input:not([type=hidden])");

  // What was typed, picked and opened stays, and so does the place of the keyboard.
  const put = (text) => {
    const before = state();
    const holder = document.createElement("template");
    holder.innerHTML = text;
    const after = holder.content.querySelector("#state");
    if (!after) { throw new Error("no state"); }
    const focused = before.contains(document.activeElement) ? document.activeElement : null;
    const selection = focused && "selectionStart" in focused ? [focused.selectionStart, focused.selectionEnd] : null;
    for (const old of fieldsOf(before)) {
      const same = old.id && after.querySelector(`#${old.id}`);
      if (!same) { continue; }
      if (old.type !== "radio") { same.value = old.value; } else if (old.checked) { same.checked = true; }
    }
    for (const old of before.querySelectorAll("details[open]")) {
      const same = after.querySelector(`#${old.id}`);
      if (same) { same.open = true; }
    }
    const isNew = before.dataset.screen !== after.dataset.screen;
    before.replaceWith(after);
    if (isNew) {
      document.title = document.title.replace(before.dataset.title, after.dataset.title);
      news.textContent = after.dataset.title;
    }
    if (!focused) { return; }
    const same = focused.id && document.getElementById(focused.id);
    const next = same || after.querySelector("[autofocus]") || after.querySelector("h1");
    next.focus();
    if (same && selection && selection[0] !== null) { same.setSelectionRange(...selection); }
  };

  const look = async () => {
    const { watch, version } = state().dataset;
    const address = `${watch}${watch.includes("?") ? "&" : "?"}after=${version}`;
    const answer = await fetch(address, { cache: "no-store", redirect: "error", signal: stop.signal });
    if (answer.status === 200) {
      put(await answer.text());
    } else if (answer.status !== 204) {
      throw new Error(String(answer.status));
    }
  };

  const watch = async () => {
    let wait = SHORTEST_MS;
    while (state().dataset.watch) {
      await seen();
      const begun = Date.now();
      try {
        await look();
        offline.textContent = "";
        wait = SHORTEST_MS;
      } catch (error) {
        if (error.name === "AbortError") { continue; }
        offline.textContent = offline.dataset.text;
        await pause(wait * (0.75 + Math.random() / 2));
        wait = Math.min(wait * 2, LONGEST_MS);
        continue;
      }
      // A server that is stopping answers at once.
      if (Date.now() - begun < SHORTEST_MS) { await pause(SHORTEST_MS); }
    }
  };

  // A form is sent once; that nothing is paid twice, the server sees to anyway. Where the page is still there after a while, its
  // payer has stopped the browser, and may send it again.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.dataset.sent) { event.preventDefault(); return; }
    form.dataset.sent = "yes";
    form.classList.add("sent");
    setTimeout(() => { delete form.dataset.sent; form.classList.remove("sent"); }, STOPPED_MS);
    stop.abort();
    stop = new AbortController();
  });
  // The page as the browser kept it may be old.
  window.addEventListener("pageshow", (event) => { if (event.persisted) { location.reload(); } });

  watch();
})();
