// Keys that go from change to change, and a note when what the page shows has changed. Without it, all of it works.
"use strict";

const main = document.getElementById("main");
const live = document.getElementById("live");
const SECONDS = 15;
let timer = 0;

function listChanges() {
  const blocks = [...document.querySelectorAll("[id^=_change-]")];
  const lines = [...document.querySelectorAll(".lines .added, .lines .removed")];
  return [...blocks, ...lines.filter((line) => {
    const before = line.previousElementSibling;
    return !before || !before.matches(".added, .removed");
  })];
}

function goToChange(step) {
  const changes = listChanges();
  if (!changes.length) return;
  const at = changes.findIndex((each) => each.classList.contains("is-here"));
  const next = changes[(at < 0 ? (step > 0 ? 0 : changes.length - 1) : at + step + changes.length) % changes.length];
  for (const each of changes) each.classList.toggle("is-here", each === next);
  next.tabIndex = -1;
  next.focus({ preventScroll: true });
  // Of a block that is taller than the window, its first mark is what one looks for.
  const mark = next.offsetHeight > innerHeight ? next.querySelector("ins, del, .b-added, .b-removed") : null;
  (mark || next).scrollIntoView({ block: mark || next.offsetHeight <= innerHeight ? "center" : "start" });
  mark?.closest("pre")?.scrollTo({ left: 0 });
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
  if (event.key === "j") goToChange(1);
  if (event.key === "k") goToChange(-1);
});

// A page that nobody sees asks for nothing; one that has changed has said so, and asks no more.
async function look() {
  if (document.hidden || !main.dataset.watch) return;
  try {
    const answer = await fetch(main.dataset.watch, { credentials: "same-origin", cache: "no-store" });
    if (answer.status === 401) return say("This session has ended. For a new link: syncd platform login");
    if (answer.ok && (await answer.text()) !== main.dataset.version) return say("This change request has changed. ", true);
  } catch {
    // The next look may reach it.
  }
  timer = setTimeout(look, SECONDS * 1000);
}

function say(text, canReload) {
  live.textContent = text;
  if (!canReload) return;
  const link = document.createElement("a");
  link.href = location.pathname + location.search;
  link.textContent = "Load it again";
  live.append(link);
}

document.addEventListener("visibilitychange", () => {
  clearTimeout(timer);
  if (!live.textContent) look();
});
if (main.dataset.watch) timer = setTimeout(look, SECONDS * 1000);
