// Copyright (c) 2026, the hosted.services contributors
// GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

// Fetch the page again every second, replace the sections that changed, and mark their new and changed rows.
// Buttons send their form without leaving the page, with the secret of the address that the sandbox printed.
// Without this script, reload the page to see what changed.
"use strict";
(() => {
  const PAUSE = 1000; // Milliseconds between two looks.
  const MARKED = 2500; // How long a row is marked; as long as the animation in page.css.
  const rows = new Map(); // The HTML of each row by id, and when it changed.
  const sections = new Map(); // The HTML of each live section by id.
  const state = document.getElementById("state");
  const problem = document.getElementById("problem");

  // Keep the secret in this tab, out of the address and the history.
  function keep() {
    if (!location.hash.startsWith("#secret=")) return;
    sessionStorage.setItem("secret", location.hash.slice("#secret=".length));
    history.replaceState(null, "", location.pathname + location.search);
  }

  function say(text, good) {
    if (state.textContent !== text) state.textContent = text;
    state.className = good ? "good" : "bad";
  }

  // An element keeps its mark, and how far it has faded, when its section is replaced again.
  function mark(section, first) {
    const now = performance.now();
    for (const row of section.querySelectorAll("[id]")) {
      const html = row.outerHTML;
      let known = rows.get(row.id);
      if (!known || known.html !== html) {
        known = { html, since: first ? -MARKED : now };
        rows.set(row.id, known);
      }
      if (now - known.since < MARKED) {
        row.classList.add("changed");
        row.style.animationDelay = `${known.since - now}ms`;
      }
    }
  }

  function show(text) {
    const page = new DOMParser().parseFromString(text, "text/html");
    for (const section of document.querySelectorAll("[data-live]")) {
      const other = page.getElementById(section.id);
      const html = other && other.innerHTML;
      if (!other || sections.get(section.id) === html) continue;
      sections.set(section.id, html);
      mark(other, false);
      section.replaceChildren(...other.childNodes);
    }
  }

  async function look() {
    try {
      const answer = await fetch(location.pathname + location.search, { headers: { Accept: "text/html" } });
      if (!answer.ok) throw new Error(answer.statusText);
      show(await answer.text());
      say("Live", true);
    } catch {
      say("The sandbox does not answer", false);
    }
  }

  // What a form asks of the control port: the fields that are filled in, and an empty count means all.
  function asked(form, button) {
    const fields = new FormData(form, button);
    const filled = [...fields].filter(([, value]) => value !== "");
    return { ...(fields.get("count") === "" && { count: null }), ...Object.fromEntries(filled) };
  }

  async function send(form, button) {
    const method = form.dataset.method || "POST";
    const headers = { "X-Control-Secret": sessionStorage.getItem("secret") || "" };
    const body = JSON.stringify(asked(form, button));
    let answer;
    try {
      answer = await fetch(form.getAttribute("action"), { method, body, headers });
    } catch {
      say("The sandbox does not answer", false);
      return;
    }
    problem.replaceChildren(...(answer.ok ? [] : [(await answer.json()).message]));
    if (answer.ok) {
      await look();
      say(`Done: ${button.textContent}`, true);
      for (const box of form.querySelectorAll("[type=checkbox]")) box.checked = false;
    }
  }

  document.addEventListener("submit", (event) => {
    event.preventDefault();
    send(event.target, event.submitter);
  });

  async function follow() {
    if (!document.hidden) await look();
    setTimeout(follow, PAUSE);
  }

  for (const section of document.querySelectorAll("[data-live]")) {
    sections.set(section.id, section.innerHTML);
    mark(section, true);
  }
  keep();
  window.addEventListener("hashchange", keep); // The address of a page that is open already.
  document.addEventListener("visibilitychange", () => document.hidden || look());
  say("Live", true);
  setTimeout(follow, PAUSE);
})();
