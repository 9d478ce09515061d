"use strict";
// Shows diagrams as pictures, one for each theme; the source stays below, and alone where it cannot be drawn.
(() => {
  const address = document.currentScript.dataset.frame;
  const make = (name, properties) => Object.assign(document.createElement(name), properties);
  const openFrame = () => new Promise((done) => {
    const frame = make("iframe", { src: address, className: "diagram-frame", title: "Diagrams", tabIndex: -1 });
    frame.setAttribute("aria-hidden", "true");
    frame.addEventListener("load", () => done(frame));
    document.body.append(frame);
  });

  async function showDiagram(source, draw) {
    const figure = source.closest("figure"), caption = figure.querySelector("figcaption");
    const pictures = [];
    for (const scheme of ["light", "dark"]) {
      const { text, title, width, height } = await draw(source.textContent, scheme);
      const src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
      pictures.push(make("img", { src, width, height, className: `only-${scheme}`, alt: title || figure.dataset.picture }));
    }
    const details = make("details", {}), summary = make("summary", { textContent: caption.textContent });
    details.append(summary, source);
    caption.remove();
    figure.replaceChildren(...pictures, details);
  }

  let turn = Promise.resolve();
  const showAll = async () => {
    const sources = [...document.querySelectorAll(".b-diagram > pre.mermaid")];
    if (!sources.length) return;
    const frame = await openFrame(), draw = frame.contentWindow?.drawDiagram;
    for (const source of draw ? sources : []) await showDiagram(source, draw).catch(() => {});
    frame.remove();
  };
  const start = () => { turn = turn.then(showAll); };
  document.addEventListener("DOMContentLoaded", start);
  document.addEventListener("syncd-replaced", start);
})();
