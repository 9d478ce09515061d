// Keeps the page as the service is now. Without this script, the page works by reload.
"use strict";

const live = document.getElementById("live");
let stream = null;
let isFetching = false;

function say(text, isLost) {
  if (live.textContent !== text) live.textContent = text;
  live.classList.toggle("lost", isLost);
}

function describeAge(age) {
  for (const [length, unit] of [[604800, "week"], [86400, "day"], [3600, "hour"], [60, "min"]]) {
    if (age >= length) {
      const count = Math.floor(age / length);
      return `${count} ${unit}${count === 1 || unit === "min" ? "" : "s"} ago`;
    }
  }
  return age < 10 ? "now" : `${Math.floor(age)} s ago`;
}

function updateAges() {
  for (const moment of document.querySelectorAll("time[data-since]")) {
    const age = Date.now() / 1000 - Number(moment.dataset.since);
    if (age >= 0) moment.querySelector(".age").textContent = describeAge(age);
  }
}

async function replaceMain() {
  if (isFetching) return;
  isFetching = true;
  try {
    const answer = await fetch(location.href, { credentials: "same-origin", cache: "no-cache" });
    if (answer.status === 401) return say("This session has ended: syncd was restarted, or you signed out. For a new link, type: " + document.getElementById("main").dataset.linkCommand, true);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const next = page.getElementById("main");
    const main = document.getElementById("main");
    if (!next || isTyping(main)) return;
    const open = [...main.querySelectorAll("details[open]")].map((each) => each.id);
    const scrolls = [...main.querySelectorAll(".scroll[id]")].map((each) => [each.id, each.scrollLeft]);
    const focused = main.contains(document.activeElement) ? document.activeElement.id : "";
    const [x, y] = [scrollX, scrollY];
    main.replaceChildren(...next.childNodes);
    main.dataset.version = next.dataset.version;
    document.title = page.title;
    for (const id of open) if (document.getElementById(id)) document.getElementById(id).open = true;
    for (const [id, left] of scrolls) if (document.getElementById(id)) document.getElementById(id).scrollLeft = left;
    if (focused) (document.getElementById(focused) || main).focus({ preventScroll: true });
    scrollTo(x, y);
    say(`Updated at ${new Date().toISOString().slice(11, 19)} UTC`, false);
  } catch {
    say("The service does not answer. If it was stopped: syncd run, or systemctl start syncd", true);
  } finally {
    isFetching = false;
  }
}

// What a person is typing is not taken away from them.
function isTyping(main) {
  return [...main.querySelectorAll("input:not([type=hidden])")].some((field) => field.value !== field.defaultValue);
}

function follow() {
  const main = document.getElementById("main");
  if (!main.dataset.version || stream) return;
  stream = new EventSource(`/events?seen=${encodeURIComponent(main.dataset.version)}`);
  stream.addEventListener("changed", replaceMain);
  stream.addEventListener("open", () => live.classList.contains("lost") && replaceMain());
  stream.addEventListener("error", () => {
    const isRefused = stream && stream.readyState === EventSource.CLOSED;
    say("The service does not answer; trying again. If it was restarted, a new link is needed: " + document.getElementById("main").dataset.linkCommand, true);
    if (isRefused) {
      rest();
      setTimeout(() => document.hidden || (replaceMain(), follow()), 5000);
    }
  });
}

function rest() {
  if (stream) stream.close();
  stream = null;
}

// A page that nobody sees asks for nothing.
document.addEventListener("visibilitychange", () => {
  if (document.hidden) return rest();
  replaceMain();
  follow();
});
addEventListener("pagehide", rest);
setInterval(updateAges, 10000);
follow();
