// The hosted page with scripts: it waits for the next state and puts it in, and shows to which number a code will go. Without
// scripts the same forms work, and the page loads again by itself.
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

  // The rule by which the server reads a phone number (core/src/validation/phone_and_otp.rs). Where it is none, nothing is shown.
  const UNSEEN = /[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]/g;
  const PLUS = /[+\ufe62\uff0b]/;
  const SLASH = /[/\u2044\u2215\uff0f]/;
  const BETWEEN =
    /[\s\-\u2010-\u2015\u2043\u2212\ufe58\ufe63\uff0d.\u00b7\u2022\u2024\u2027\u2219\u22c5\uff0e()[\]\ufe59\ufe5a\uff08\uff09\uff3b\uff3d]/;
  // ASCII, Arabic, Persian, Devanagari, Bengali, full-width.
  const ZEROS = [0x30, 0x660, 0x6f0, 0x966, 0x9e6, 0xff10];
  const digitOf = (sign) => {
    const code = sign.codePointAt(0);
    const zero = ZEROS.find((first) => code >= first && code < first + 10);
    return zero === undefined ? null : String(code - zero);
  };
  const numberOf = (typed) => {
    let digits = "";
    let plus = false;
    let slash = false;
    for (const sign of typed.replace(UNSEEN, "").trim().replace(/^tel:/i, "")) {
      const digit = digitOf(sign);
      if (digit !== null) {
        digits += digit;
      } else if (PLUS.test(sign)) {
        if (plus || digits) { return null; }
        plus = true;
      } else if (SLASH.test(sign)) {
        slash = true;
      } else if (!BETWEEN.test(sign)) {
        return null;
      }
    }
    const abroad = !plus && digits.startsWith("00");
    if (abroad) { digits = digits.slice(2); }
    const own = (plus || abroad ? /^9960?([1-9]\d{8})$/ : /^(?:0?|9960?)([1-9]\d{8})$/).exec(digits);
    if (own) { return `+996 ${own[1].match(/\d{3}/g).join(" ")}`; }
    return !slash && /^(?!996|8[79]\d{9}$)[1-9]\d{10,14}$/.test(digits) ? `+${digits}` : null;
  };
  const showNumber = () => {
    for (const field of document.querySelectorAll("input[type=tel]")) {
      const line = document.getElementById(`${field.id}-goes-to`);
      const number = numberOf(field.value);
      const text = line && number ? line.dataset.text.replace("{}", number) : "";
      // What is the same is not said again.
      if (line && line.textContent !== text) { line.textContent = text; }
    }
  };
  // Without scripts the page loads again by itself, so the other ways are on another one there.
  const showOthers = () => { document.getElementById("others")?.removeAttribute("hidden"); };
  document.addEventListener("input", (event) => { if (event.target.type === "tel") { showNumber(); } });

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
    showNumber();
    showOthers();
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

  showNumber();
  showOthers();
  watch();
})();
