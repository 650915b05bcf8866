// Data of a page, in files beside it. Each calls matproofData with its name and one JSON text.
const waiting = new Map();
globalThis.matproofData = (name, text) => {
  waiting.get(name)?.(JSON.parse(text));
  waiting.delete(name);
};
globalThis.matproofLoad = (name) => new Promise((resolve, reject) => {
  waiting.set(name, resolve);
  const script = document.createElement("script");
  script.src = `data/${encodeURIComponent(name)}.js`;
  script.addEventListener("error", () => reject(new Error(`data/${name}.js can't be read`)));
  script.addEventListener("load", () => script.remove());
  document.head.append(script);
});
// An element with attributes and children; text only ever becomes text.
globalThis.matproofElement = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  element.append(...children.filter((child) => child !== null));
  return element;
};
globalThis.matproofState = {
  read: () => Object.fromEntries(new URLSearchParams(location.hash.slice(1))),
  write: (state) => {
    const kept = new URLSearchParams(Object.entries(state).filter(([, value]) => value !== "" && value !== null));
    history.replaceState(null, "", kept.size ? `#${kept}` : location.pathname + location.search);
  },
};
