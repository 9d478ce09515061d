"use strict";
(() => {
  const root = document.documentElement;
  const store = {
    get(key) { try { return localStorage.getItem(key); } catch { return null; } },
    set(key, value) { try { localStorage.setItem(key, value); } catch { /* a browser that keeps nothing */ } },
  };
  const theme = store.get("syncd-theme");
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  const announced = `syncd-announcement-${root.dataset.announcement}`;
  if (store.get(announced)) root.classList.add("is-announced");
  const make = (name, text, properties) => Object.assign(document.createElement(name), text === null ? {} : { textContent: text }, properties);
  const fetched = {};
  const place = (address) => /^([a-z]+:|\/)/i.test(address) ? address : (root.dataset.root || "") + address;
  const load = (address) => fetched[address] ??= fetch(address).then((answer) => answer.ok ? answer.json() : Promise.reject(new Error(String(answer.status))));

  function makeSign(sign) {
    if (typeof sign === "string") return make("span", sign, { className: "emoji", ariaHidden: "true" });
    const [icon, path] = ["svg", "path"].map((name) => document.createElementNS("http://www.w3.org/2000/svg", name));
    for (const [name, value] of Object.entries({ viewBox: `0 0 ${sign[0]} 512`, class: "b-icon", "aria-hidden": "true" })) icon.setAttribute(name, value);
    path.setAttribute("d", sign[1]);
    icon.append(path);
    return icon;
  }

  function scrollInto(list, link) {
    const { top, bottom } = link.getBoundingClientRect(), edges = list.getBoundingClientRect();
    if (top < edges.top || bottom > edges.bottom) list.scrollTop += top - edges.top - list.clientHeight / 2;
  }

  function prepareTheme() {
    const button = document.querySelector(".switch");
    if (!button) return;
    button.hidden = false;
    button.addEventListener("click", () => {
      const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
      root.dataset.theme = dark ? "light" : "dark";
      store.set("syncd-theme", root.dataset.theme);
    });
  }

  function prepareAnnouncement() {
    const button = document.querySelector(".announcement button");
    if (!button) return;
    button.hidden = false;
    button.addEventListener("click", () => {
      store.set(announced, "closed");
      root.classList.add("is-announced");
      document.querySelector(".brand").focus({ preventScroll: true });
    });
  }

  function prepareMenu() {
    const menu = document.querySelector(".menu");
    if (menu) {
      menu.setAttribute("role", "button");
      menu.setAttribute("aria-expanded", "false");
      menu.addEventListener("click", (event) => {
        event.preventDefault();
        const contents = document.getElementById("_contents"), isOpen = contents.classList.toggle("is-open");
        menu.setAttribute("aria-expanded", String(isOpen));
        if (isOpen) contents.scrollIntoView({ behavior: "instant" });
      });
    }
    document.addEventListener("click", (event) => {
      for (const open of document.querySelectorAll(".drop[open]")) if (!open.contains(event.target)) open.open = false;
    });
    document.querySelector(".sections")?.addEventListener("toggle", ({ target }) => {
      const { offsetWidth, style } = target.lastChild;
      style.inset = `auto auto auto ${Math.min(target.getBoundingClientRect().left, innerWidth - offsetWidth - 16)}px`;
    }, true);
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      for (const open of document.querySelectorAll(".drop[open]")) { open.open = false; open.querySelector("summary").focus(); }
      if (document.querySelector(".contents.is-open")) menu.click();
    });
  }

  function prepareContents() {
    const contents = document.getElementById("_contents");
    if (!contents) return;
    contents.addEventListener("click", async (event) => {
      const below = event.target.closest(".below");
      if (!below) return;
      event.preventDefault();
      const rows = await load(`${root.dataset.scope}/contents.json`).catch(() => null);
      if (!rows) { location.href = below.href; return; }
      const item = below.closest("li"), list = make("ul", null, {});
      rows.forEach(([kind, title, address, parent, sign], number) => {
        if (parent !== Number(below.dataset.entry)) return;
        const line = make("li", null, {});
        if (kind === "g") line.append(make("p", title, { className: "group" }));
        else line.append(make("a", title, { href: place(address) }));
        if (sign) line.firstChild.prepend(makeSign(sign));
        if (rows.some((row) => row[3] === number)) {
          const more = make("a", "", { className: "below", href: `${root.dataset.scope}/${root.dataset.listing}#_entry-${number}` });
          more.dataset.entry = number;
          more.setAttribute("aria-label", title);
          (kind === "g" ? line.firstChild : line).append(more);
        }
        list.append(line);
      });
      below.remove();
      item.append(list);
    });
    const current = contents.querySelector("[aria-current=page]");
    if (current) scrollInto(contents, current);
  }

  function prepareSearch() {
    const form = document.querySelector(".search"), input = form?.querySelector("input"), results = form?.querySelector(".results");
    if (!input) return;
    let chosen = -1;
    input.setAttribute("role", "combobox");
    input.setAttribute("aria-autocomplete", "list");
    input.setAttribute("aria-controls", results.id);
    input.setAttribute("aria-expanded", "false");
    const open = (isOpen) => {
      results.hidden = !isOpen;
      chosen = -1;
      input.setAttribute("aria-expanded", String(isOpen));
      input.removeAttribute("aria-activedescendant");
    };
    const close = () => open(false);
    const choose = (by) => {
      const links = [...results.querySelectorAll("a")];
      if (!links.length) return;
      chosen = (chosen + by + links.length) % links.length;
      links.forEach((link, at) => link.setAttribute("aria-selected", String(at === chosen)));
      input.setAttribute("aria-activedescendant", links[chosen].id);
      links[chosen].scrollIntoView({ block: "nearest" });
    };
    let turn = 0;
    const ask = async (text) => {
      const mine = ++turn;
      await new Promise((done) => setTimeout(done, 120));
      if (mine !== turn) return null;
      const rows = await load(`${root.dataset.search}.json?q=${encodeURIComponent(text)}`).catch(() => []);
      return mine === turn ? rows : null;
    };
    const describe = ([title, address, path, before, word, after]) => {
      const link = make("a", null, { href: address }), line = make("span", path && before + word + after ? `${path} · ${before}` : path || before, {});
      if (word) line.append(make("mark", word, {}), after);
      link.append(make("b", title, {}), line);
      return link;
    };
    const list = (links) => {
      links.forEach((link, number) => {
        link.id = `page-result-${number}`;
        link.setAttribute("role", "option");
        link.setAttribute("aria-selected", "false");
      });
      results.replaceChildren(...(links.length ? links : [make("p", results.dataset.none, {})]));
      results.setAttribute("role", links.length ? "listbox" : "status");
      open(true);
    };
    const show = async () => {
      if (root.dataset.search) {
        const text = input.value.trim(), rows = text ? await ask(text) : (turn++, []);
        if (!text) close(); else if (rows) list(rows.slice(0, 20).map(describe));
        return;
      }
      const mine = ++turn;
      if (!input.value.trim()) return close();
      // A site without a server has the search in a file of its own, which only a search loads.
      const { searchIndex } = await import(new URL(root.dataset.index, document.baseURI));
      const rows = await searchIndex(root, input.value, load);
      if (mine === turn) list(rows.map(([title, address, ...rest]) => describe([title, place(address), ...rest])));
    };
    const query = new URLSearchParams(location.search), asked = query.get("q") ?? query.get("ask");
    if (asked !== null) input.value = asked;
    if (asked === "" || (asked && !root.dataset.search)) input.focus();
    if (asked && !root.dataset.search) show();
    input.addEventListener("input", show);
    input.addEventListener("focus", show);
    form.addEventListener("submit", (event) => {
      const selected = results.querySelector("[aria-selected=true]");
      if (root.dataset.search && !selected) return;
      event.preventDefault();
      (selected || results.querySelector("a"))?.click();
    });
    form.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown" || event.key === "ArrowUp") { event.preventDefault(); choose(event.key === "ArrowDown" ? 1 : -1); }
      if (event.key === "Escape") { close(); input.blur(); }
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "/" && !event.ctrlKey && !event.metaKey && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName)) { event.preventDefault(); input.focus(); }
    });
    document.addEventListener("click", (event) => { if (!form.contains(event.target)) close(); });
  }

  function prepareOutline() {
    const links = [...document.querySelectorAll(".outline a")];
    if (!links.length) return;
    const headings = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))));
    let shown = -1;
    const follow = () => {
      const top = parseFloat(getComputedStyle(root).scrollPaddingTop) + 8;
      let at = headings.findLastIndex((heading) => heading && heading.getBoundingClientRect().top <= top);
      if (scrollY && innerHeight + scrollY >= document.body.scrollHeight - 2) at = headings.length - 1;
      if (at === shown) return;
      shown = at;
      links.forEach((link, number) => number === at ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current"));
      scrollInto(links[0].closest(".outline"), links[Math.max(at, 0)]);
    };
    onscroll = follow;
    follow();
  }

  function prepareTabs() {
    const titleOf = (choice) => choice.nextElementSibling?.textContent.trim();
    const choose = (title) => {
      for (const choice of document.querySelectorAll(".b-tab-choice")) if (titleOf(choice) === title) choice.checked = true;
    };
    for (const title of JSON.parse(store.get("syncd-tabs") || "[]").reverse()) choose(title);
    for (const choice of document.querySelectorAll(".b-tab-choice")) choice.addEventListener("change", () => {
      const title = titleOf(choice), top = choice.parentElement.getBoundingClientRect().top;
      store.set("syncd-tabs", JSON.stringify([title, ...JSON.parse(store.get("syncd-tabs") || "[]").filter((one) => one !== title)].slice(0, 20)));
      choose(title);
      scrollBy({ top: choice.parentElement.getBoundingClientRect().top - top, behavior: "instant" });
    });
  }

  function prepareCopying() {
    if (!navigator.clipboard) return;
    for (const code of document.querySelectorAll(".b-code")) {
      const button = make("button", root.dataset.copy, { type: "button", className: "copy" });
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(code.querySelector("code").textContent);
        button.textContent = root.dataset.copied;
        setTimeout(() => { button.textContent = root.dataset.copy; }, 1500);
      });
      code.append(button);
    }
  }

  function prepareFeedback() {
    const form = document.querySelector(".feedback");
    form?.addEventListener("submit", async (event) => {
      event.preventDefault();
      const sent = new URLSearchParams({ rating: event.submitter.value });
      const answer = await fetch(form.action, { method: "POST", body: sent, redirect: "manual" }).catch(() => null);
      if (answer?.type === "opaqueredirect") {  // back to the page: it was counted
        form.replaceChildren(make("p", form.dataset.thanks, { role: "status" }));
      } else {
        form.querySelector("[role=alert]")?.remove();
        form.append(make("p", form.dataset.failed, { role: "alert" }));
      }
    });
  }

  function prepareParts() {
    prepareTabs();
    prepareCopying();
    prepareOutline();
    prepareContents();
  }

  document.addEventListener("DOMContentLoaded", () => {
    document.dispatchEvent(new CustomEvent("syncd-served", { detail: { fetched, prepareTabs, prepareCopying, prepareOutline, prepareContents } }));
    prepareTheme();
    prepareAnnouncement();
    prepareMenu();
    prepareSearch();
    prepareFeedback();
    prepareParts();
  });
})();
