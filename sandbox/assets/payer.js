// Comfort on the payer's pages: fields are checked as they are left, numbers are grouped as they are typed, and test
// data fills a form on the spot. The server checks everything in any case, and all works without this file.
"use strict";

(() => {
  const digits = (text) => text.replace(/\D/g, "");
  const isGrouped = (text) => /^[\d\s-]+$/.test(text);
  const year = (text) => (text.length === 2 ? `20${text}` : text);

  const CHECKS = {
    filled: () => true,
    pan: (text) => isGrouped(text) && digits(text).length >= 13 && digits(text).length <= 20,
    month: (text) => /^(0?[1-9]|1[0-2])$/.test(text),
    year: (text) => /^(\d{2}|[1-9]\d{3})$/.test(text),
    cvc: (text) => [...text].length === 3,
    phone: (text) => /^\+?[\d\s()-]+$/.test(text) && /^(0\d{9}|[1-9]\d{8,14})$/.test(digits(text)),
    amount: (text) => /^\d+([.,]\d{1,2})?$/.test(text.replace(/\s/g, "")) && /[1-9]/.test(text),
  };

  // After so many milliseconds without another page the form may be sent again.
  const PATIENCE = 5000;

  const isShown = (input) => input.offsetParent !== null;

  // Cards end with their month; the page says which one has to be outlived.
  const isExpired = (input) => {
    const month = input.form.elements.expiryMonth;
    if (input.dataset.check !== "year" || !month || !CHECKS.month(month.value.trim())) {
      return false;
    }
    return `${year(input.value.trim())}-${month.value.trim().padStart(2, "0")}` < input.form.dataset.thisMonth;
  };

  const problem = (input) => {
    const text = input.value.trim();
    if (text === "") {
      return input.dataset.ifEmpty;
    }
    if (!CHECKS[input.dataset.check](text)) {
      return input.dataset.ifWrong;
    }
    return isExpired(input) ? input.form.dataset.ifExpired : "";
  };

  const check = (input) => {
    const text = problem(input);
    if (text) {
      input.setAttribute("aria-invalid", "true");
    } else {
      input.removeAttribute("aria-invalid");
    }
    document.getElementById(`${input.id}-problem`).textContent = text;
    return text === "";
  };

  // A card number in groups of four, as it stands on the card; only while nobody edits in its middle.
  const group = (input) => {
    if (isGrouped(input.value) && input.selectionStart === input.value.length) {
      input.value = digits(input.value).replace(/(\d{4})(?=\d)/g, "$1 ");
    }
  };

  const watch = (form) => {
    const fields = [...form.querySelectorAll("input[data-check]")];
    const stayed = form.querySelector("[data-stayed]");
    let isSent = false;
    let waiting = 0;

    const send = () => {
      isSent = true;
      form.setAttribute("aria-busy", "true");
      waiting = setTimeout(release, PATIENCE);
    };
    const release = () => {
      if (isSent && stayed) {
        stayed.textContent = stayed.dataset.stayed;
      }
      clearTimeout(waiting);
      isSent = false;
      form.removeAttribute("aria-busy");
    };

    form.noValidate = true;
    form.addEventListener("focusout", ({ target }) => {
      if (fields.includes(target) && target.value.trim() !== "") {
        check(target);
      }
    });
    form.addEventListener("input", ({ target }) => {
      if (target.dataset.check === "pan") {
        group(target);
      }
      if (target.getAttribute("aria-invalid") === "true") {
        check(target);
      }
    });
    form.addEventListener("submit", (event) => {
      const asked = event.submitter?.formNoValidate ? [] : fields.filter(isShown);
      const wrong = asked.filter((input) => !check(input));
      if (wrong.length > 0) {
        event.preventDefault();
        wrong[0].focus();
      } else if (isSent) {
        event.preventDefault();
      } else {
        send();
      }
    });
    // The answer may lead into an app: then this page stays, whether or not the app opened. A payer who is still here,
    // or is back, may send the form again, and is shown how the payment stands. A page that has just been loaded is no
    // such case: its form may be on its way.
    addEventListener("pageshow", ({ persisted }) => {
      if (persisted) {
        release();
      }
    });
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") {
        release();
      }
    });
  };

  const fill = (fields, form) => {
    for (const [name, value] of fields) {
      const field = form.elements[name];
      field.value = value;
      if (field instanceof HTMLInputElement) {
        check(field);
      }
    }
    form.querySelector("button.main").focus();
  };

  for (const form of document.querySelectorAll("form[data-checked]")) {
    watch(form);
  }
  for (const button of document.querySelectorAll("button[data-fill]")) {
    button.addEventListener("click", (event) => {
      event.preventDefault();
      fill(new URLSearchParams(button.dataset.fill), document.querySelector("form[data-checked]"));
      const told = document.querySelector("[data-filled]");
      told.textContent = told.dataset.filled;
    });
  }
})();
