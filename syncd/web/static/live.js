"use strict";
// Follows a preview: what changed of the page is exchanged, and one stays where one was reading.
document.addEventListener("syncd-served", ({ detail: { fetched, prepareTabs, prepareCopying, prepareOutline, prepareContents } }) => {
  const root = document.documentElement, served = {};
  const PARTS = [".top", "#_strip", "#_content", ".outline", "#_contents"];
  for (const selector of PARTS) served[selector] = document.querySelector(selector)?.innerHTML;
  const events = new EventSource(`${root.dataset.files}/events?seen=${encodeURIComponent(root.dataset.version)}`);
  let turn = Promise.resolve();
  const refresh = async () => {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (fresh.documentElement.dataset.announcement !== root.dataset.announcement) { location.reload(); return; }
    const changed = new Set();
    const same = (selector, next) => served[selector] === next?.innerHTML;
    for (const selector of PARTS) {
      const old = document.querySelector(selector), next = fresh.querySelector(selector);
      if (!old !== !next) { location.reload(); return; }
      if (!old || same(selector, next)) continue;
      served[selector] = next.innerHTML;
      if (selector === ".top") { location.reload(); return; }
      const at = old.scrollTop, isOpen = old.classList.contains("is-open");
      const opened = [...old.querySelectorAll("details")].map((one) => one.open);
      old.replaceWith(next);
      changed.add(selector);
      const details = [...next.querySelectorAll("details")];
      if (details.length === opened.length) details.forEach((one, number) => { one.open = opened[number]; });
      next.classList.toggle("is-open", isOpen);
      next.scrollTop = at;
    }
    document.title = fresh.title;
    root.dataset.version = fresh.documentElement.dataset.version;
    for (const sheet of document.querySelectorAll("link[href$='/theme.css']")) {
      const next = sheet.cloneNode();
      next.addEventListener("load", () => sheet.remove());
      sheet.after(next);
    }
    for (const key of Object.keys(fetched)) delete fetched[key];
    if (changed.has("#_content")) { prepareTabs(); prepareCopying(); document.dispatchEvent(new Event("syncd-replaced")); }
    if (changed.has("#_content") || changed.has(".outline")) prepareOutline();
    if (changed.has("#_contents")) prepareContents();
  };
  events.addEventListener("changed", () => { turn = turn.then(refresh).catch(() => {}); });
  addEventListener("pagehide", () => events.close());
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
});
