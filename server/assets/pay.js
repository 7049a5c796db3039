// The hosted page with scripts: it waits for the next state and puts it in, sends its forms without leaving the page, so that nothing
// that was typed is lost while the server cannot be reached, shows to which number a code goes, and keeps the receipt. Without
// scripts the same forms work, and the page loads again by itself.
"use strict";
(() => {
  const SHORTEST_MS = 1000;
  const LONGEST_MS = 30000;
  const COUNTED_MS = 600000;
  // Fewer digits that come at once are no whole one-time password.
  const SHORTEST_CODE = 4;
  // After so long nobody answers any more; the form has a key, so it can be sent again.
  const ANSWER_MS = 30000;
  const news = document.getElementById("news");
  const notSent = document.getElementById("not-sent");
  const offline = document.getElementById("offline");
  const state = () => document.getElementById("state");
  // What stands behind the heading in the title of the window.
  const suffix = document.title.replace(state().dataset.title, "");
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

  const stateIn = (text) => {
    const holder = document.createElement("template");
    holder.innerHTML = text;
    const part = holder.content.querySelector("#state");
    if (!part) { throw new Error("no state"); }
    return part;
  };
  // The answer to a form may come before it: then it is here already, perhaps with what is wrong with the form.
  const isNew = (after) =>
    Number(after.dataset.version) > Number(state().dataset.version) || after.dataset.screen !== state().dataset.screen;

  // What was typed, by the id of its field, and what was picked. A screen between, such as that of a form under way, has no fields.
  const typed = new Map();
  let picked = null;
  const keepTyped = (part) => {
    for (const field of fieldsOf(part)) {
      if (field.type === "radio") {
        if (field.checked) { picked = field.id; }
      } else if (field.id && field.name !== "otp") {
        typed.set(field.id, field.value);
      }
    }
  };

  // What was typed, picked and opened stays, and so does the place of the keyboard. Of a form that was rejected, the page has the
  // fields as they are to be corrected.
  const put = (after, isRejected = false) => {
    const before = state();
    // A response that was overtaken by a newer one.
    if (Number(after.dataset.version) < Number(before.dataset.version)) { return; }
    const isSameScreen = before.dataset.screen === after.dataset.screen;
    const paymentOf = (part) => part.querySelector("input[name=payment]")?.value;
    const focused = before.contains(document.activeElement) ? document.activeElement : null;
    const selection = focused && "selectionStart" in focused ? [focused.selectionStart, focused.selectionEnd] : null;
    keepTyped(before);
    for (const field of isRejected ? [] : fieldsOf(after)) {
      if (typed.has(field.id)) { field.value = typed.get(field.id); }
      if (field.id === picked) { field.checked = true; }
    }
    const code = after.querySelector("#otp");
    if (code && !isRejected && paymentOf(before) === paymentOf(after)) {
      code.value = before.querySelector("#otp")?.value ?? "";
    }
    // On another screen they hold something else, which is shown to who asks for it.
    for (const old of isSameScreen ? before.querySelectorAll("details[open]") : []) {
      const same = after.querySelector(`#${old.id}`);
      if (same) { same.open = true; }
    }
    before.replaceWith(after);
    arrange();
    document.title = after.dataset.title + suffix;
    // What did not arrive from another screen has nothing to do with this one.
    if (!isSameScreen) { notSent.textContent = ""; }
    if (!isSameScreen || before.dataset.title !== after.dataset.title) {
      news.textContent = after.dataset.title;
    }
    if (!focused) { return; }
    const same = isSameScreen && focused.id && document.getElementById(focused.id);
    const next = same || after.querySelector("[autofocus]") || after.querySelector("h1");
    next.focus();
    if (same && selection && selection[0] !== null) { same.setSelectionRange(...selection); }
  };

  // The time of the last query alone, so that the keyboard stays where it is.
  const showCheck = (after) => {
    const line = document.getElementById("checked-at");
    const now = after.querySelector("#checked-at");
    if (line && now && line.textContent !== now.textContent) { line.textContent = now.textContent; }
  };

  const look = async () => {
    const { watch, version } = state().dataset;
    const address = `${watch}${watch.includes("?") ? "&" : "?"}after=${version}&screen=${state().dataset.screen}`;
    const answer = await fetch(address, { cache: "no-store", redirect: "error", signal: stop.signal });
    if (answer.status === 200) {
      const after = stateIn(await answer.text());
      if (isNew(after)) { put(after); }
    } else if (answer.status === 204 && state().dataset.refreshes) {
      // Nothing changed, and the gateway was asked once more: the page says when.
      const again = await fetch(watch, { cache: "no-store", redirect: "error", signal: stop.signal });
      if (again.status === 200) { showCheck(stateIn(await again.text())); }
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

  // The number that was typed here, of which the server keeps two digits: masked, for this payment, in this tab, and until the code
  // is no longer awaited.
  const SENT_TO = "kassa sent to";
  // The screens of a code that is on its way: one that was wrong is asked for again.
  const ON_ITS_WAY = ["under-way", "waiting", "unknown"];
  const remembered = (change) => { try { return change(sessionStorage); } catch { return null; } };
  const numberIn = (form) => {
    const way = form.querySelector("input[name=method]:checked")?.closest(".way");
    return numberOf(way?.querySelector("input[type=tel]")?.value ?? "");
  };
  const keepNumber = (number) => {
    const payment = document.getElementById("sent-to")?.dataset.payment;
    if (!number || !payment) { return; }
    const prefix = number.startsWith("+996 ") ? number.slice(0, 8) : number.slice(0, 4);
    const hidden = number.slice(prefix.length, -3).replace(/\d/g, "•");
    remembered((storage) => storage.setItem(SENT_TO, `${payment} ${prefix}${hidden}${number.slice(-3)}`));
  };
  const showSentTo = () => {
    const line = document.getElementById("sent-to");
    if (!line && !ON_ITS_WAY.includes(state().dataset.screen)) { remembered((storage) => storage.removeItem(SENT_TO)); }
    const kept = remembered((storage) => storage.getItem(SENT_TO)) ?? "";
    if (line && kept.startsWith(`${line.dataset.payment} `)) {
      line.textContent = line.dataset.text.replace("{}", kept.slice(line.dataset.payment.length + 1));
    }
  };

  const showCountdown = () => {
    const line = document.getElementById("countdown");
    if (!line) { return; }
    const left = Number(line.dataset.until) - Date.now() - ahead;
    const seconds = Math.max(0, Math.floor(left / 1000));
    const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    const text = left > 0 && left < COUNTED_MS ? line.dataset.text.replace("{}", time) : "";
    if (line.textContent !== text) { line.textContent = text; }
  };
  // How far the server's clock is ahead of this one.
  let ahead = 0;
  const arrange = () => {
    ahead = Number(state().dataset.now) - Date.now();
    showNumber();
    showOthers();
    showSentTo();
    showCountdown();
    for (const id of ["keep", "otp-sent"]) { document.getElementById(id)?.removeAttribute("hidden"); }
  };
  setInterval(showCountdown, 1000);

  // A form is sent once; that nothing is paid twice, the server sees to anyway. A form that did not arrive keeps its key, so that it
  // can be sent again.
  const send = async (form) => {
    const body = new URLSearchParams(new FormData(form));
    const number = numberIn(form);
    const ending = new AbortController();
    const timer = setTimeout(() => ending.abort(), ANSWER_MS);
    const wanted = { method: "POST", body, cache: "no-store", credentials: "same-origin", signal: ending.signal };
    const answer = await fetch(form.action, wanted).finally(() => clearTimeout(timer));
    if (/\/go$/.test(new URL(answer.url).pathname)) { location.assign(answer.url); return; }
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const part = page.getElementById("state");
    if (!part) {
      // A page that says why, such as that there were too many requests; else what a proxy says, which is not for payers.
      const lines = [...page.querySelectorAll("main .state h1, main .state > p")].filter((line) => !line.querySelector("a"));
      const said = lines.map((line) => line.textContent.trim());
      notSent.textContent = said.length ? said.join(". ") : notSent.dataset.unavailable;
      return;
    }
    const code = document.getElementById("otp");
    if (answer.ok && code && code.value === body.get("otp")) { code.value = ""; }
    digitsBefore = 0;
    put(stateIn(part.outerHTML), !answer.ok);
    keepNumber(number);
    showSentTo();
    document.querySelector("[aria-invalid=true]")?.focus();
  };
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    event.preventDefault();
    if (form.dataset.sent) { return; }
    form.dataset.sent = "yes";
    form.classList.add("sent");
    notSent.textContent = "";
    stop.abort();
    stop = new AbortController();
    const { screen } = state().dataset;
    try {
      await send(form);
    } catch {
      // The news of what was sent may be here already: then nothing has to be sent again.
      if (state().dataset.screen === screen) { notSent.textContent = notSent.dataset.text; }
    } finally {
      delete form.dataset.sent;
      form.classList.remove("sent");
    }
  });
  // A one-time password that the phone fills in from the SMS is whole, so it is sent at once. One that is typed or pasted is not, nor a
  // PIN, whose payer agrees to the total by the button.
  let digitsBefore = 0;
  document.addEventListener("input", (event) => {
    const field = event.target;
    if (field.name !== "otp") { return; }
    const code = field.value.trim();
    const isFilledIn = code.length - digitsBefore >= SHORTEST_CODE && event.inputType !== "insertFromPaste";
    digitsBefore = code.length;
    if (isFilledIn && "sendsFilledIn" in field.dataset && /^\d+$/.test(code)) { field.form.querySelector("button").click(); }
  });

  // The receipt on paper, or as a picture: what payers here send as a proof.
  const drawReceipt = () => {
    const [width, margin, line] = [720, 48, 30];
    const lines = [...document.querySelectorAll("#receipt dt")].map((name) => [name.textContent, name.nextElementSibling.textContent]);
    const canvas = document.createElement("canvas");
    const pen = canvas.getContext("2d");
    const font = (size, weight) => { pen.font = `${weight} ${size}px system-ui, "Segoe UI", Roboto, "Noto Sans", Arial, sans-serif`; };
    font(22, 600);
    const broken = (text, most) => {
      const rows = [""];
      for (const word of text.match(/[^\s-]{1,24}[\s-]?|[\s-]/gu) ?? []) {
        const last = rows[rows.length - 1];
        if (last && pen.measureText(last + word).width > most) { rows.push(""); }
        rows[rows.length - 1] += word;
      }
      return rows;
    };
    const parts = lines.map(([name, value]) => [name, broken(value, width - 2 * margin)]);
    const height = parts.reduce((sum, [, rows]) => sum + 34 + rows.length * line + 14, 150 + margin);
    [canvas.width, canvas.height] = [width, height];
    pen.fillStyle = "#ffffff";
    pen.fillRect(0, 0, width, height);
    pen.fillStyle = "#176639";
    font(40, 700);
    pen.fillText(document.getElementById("title").textContent, margin, 90);
    let y = 150;
    for (const [name, rows] of parts) {
      font(19, 400);
      pen.fillStyle = "#505c6c";
      pen.fillText(name, margin, y);
      font(22, 600);
      pen.fillStyle = "#17202b";
      for (const [index, row] of rows.entries()) { pen.fillText(row, margin, y + 34 + index * line); }
      y += 34 + rows.length * line + 14;
    }
    return canvas;
  };
  const savePicture = async (name) => {
    const picture = await new Promise((done) => { drawReceipt().toBlob(done, "image/png"); });
    const file = new File([picture], `${name}.png`, { type: "image/png" });
    // On a phone a picture is sent on; on a desktop it is a file.
    if (matchMedia("(pointer: coarse)").matches && navigator.canShare?.({ files: [file] })) {
      await navigator.share({ files: [file] }).catch(() => {});
      return;
    }
    const link = document.createElement("a");
    link.href = URL.createObjectURL(file);
    link.download = file.name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-action]");
    if (button?.dataset.action === "print") { window.print(); }
    if (button?.dataset.action === "picture") { savePicture(button.dataset.name); }
  });
  // The page as the browser kept it may be old.
  window.addEventListener("pageshow", (event) => { if (event.persisted) { location.reload(); } });

  arrange();
  watch();
})();
