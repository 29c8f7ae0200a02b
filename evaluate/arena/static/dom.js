// Elements of the document, short messages, numbers as text, and downloads.

const SVG = "http://www.w3.org/2000/svg";

// An HTML element; a function as the attribute `onclick` listens to clicks, and so on. Attributes
// that are false or null, and children that are null, are left out.
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, value);
    }
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// An SVG picture of a player's piece. The markup comes from the server's own renderer.
export function icon(markup, size = 24) {
  const picture = svg("svg", { viewBox: "0 0 24 24", width: size, height: size, class: "icon" });
  picture.setAttribute("aria-hidden", "true");
  picture.innerHTML = markup;
  return picture;
}

// Whether keys pressed at `element` are text. A field in a dialog keeps the focus for a moment
// after the dialog has closed; keys pressed then are commands again.
export function isTyping(element) {
  return Boolean(element.matches?.("input:not([type=range]), select, textarea")) && element.checkVisibility();
}

let timer = 0;

// Shows a message for 6 seconds.
export function notify(text) {
  const place = document.getElementById("note");
  if (!place) return;
  place.textContent = text;
  place.classList.add("shown");
  clearTimeout(timer);
  timer = setTimeout(() => place.classList.remove("shown"), 6000);
}

// A fraction as text in percent.
export function percent(share) {
  return share === null ? "" : `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;
}

export function number(value, digits = 3) {
  return value === null || value === undefined ? "" : value.toFixed(digits);
}

// Saves a text as a file of the user.
export function download(name, text, type = "application/json") {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = h("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
