// The choice between light and dark. Without one, and without scripts, the system's counts.
"use strict";

(() => {
  const KEY = "kassa-theme";
  const root = document.documentElement;

  const stored = () => {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null;
    }
  };

  const store = (theme) => {
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // A browser that keeps nothing forgets the choice with the page.
    }
  };

  const shown = () => root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

  const theme = stored();
  if (theme === "light" || theme === "dark") {
    root.dataset.theme = theme;
  }

  document.addEventListener("DOMContentLoaded", () => {
    for (const button of document.querySelectorAll("[data-theme-switch]")) {
      button.hidden = false;
      button.addEventListener("click", () => {
        root.dataset.theme = shown() === "dark" ? "light" : "dark";
        store(root.dataset.theme);
      });
    }
  });
})();
