"use strict";
// Turns the source of a diagram into a picture. Mermaid writes styles into what it draws, which only this frame allows.
(() => {
  const THEMES = { light: "default", dark: "dark" };
  let number = 0;
  globalThis.drawDiagram = async (source, scheme) => {
    globalThis.mermaid.initialize({
      startOnLoad: false, securityLevel: "strict", suppressErrorRendering: true, theme: THEMES[scheme],
      fontFamily: "system-ui, sans-serif", htmlLabels: false, flowchart: { htmlLabels: false },
    });
    const { svg } = await globalThis.mermaid.render(`diagram-${++number}`, source);
    const drawn = new DOMParser().parseFromString(svg, "text/html").querySelector("svg");
    const [, , width, height] = drawn.getAttribute("viewBox").split(/[ ,]+/).map(Number);
    drawn.setAttribute("width", Math.ceil(width));
    drawn.setAttribute("height", Math.ceil(height));
    drawn.style.removeProperty("max-width");
    const title = drawn.querySelector(":scope > title")?.textContent || "";
    return { text: new XMLSerializer().serializeToString(drawn), title, width: Math.ceil(width), height: Math.ceil(height) };
  };
})();
