"use strict";
// Helpers of all scripts: elements, numbers in words, searches, and files to save.
(() => {
  function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "text") element.textContent = value;
      else if (name === "style") element.style.cssText = value; // as an attribute the policy of the app forbids it
      else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value === true) element.setAttribute(name, "");
      else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  }

  const make = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
  const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
  const count = (n) => n.toLocaleString("en");

  /** The words that are typed in a search field. */
  const wordsOf = (field) => field.value.toLowerCase().split(/\s+/).filter(Boolean);

  /** The bytes of a base64 text. */
  function bytes(text) {
    const raw = atob(text);
    const out = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i += 1) out[i] = raw.charCodeAt(i);
    return out.buffer;
  }

  /** Save a blob, or a text of a kind, as a file. */
  function save(name, content, kind) {
    const link = make("a", { download: name, href: URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type: kind })) });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  window.denseflipElements = { make, svg, count, wordsOf, bytes, save };
})();
