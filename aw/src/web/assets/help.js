// The sheet with the keys of a page, and the switch that turns single keys off.
const OFF = "aw-keys-off";
const sheet = document.getElementById("keys");

// Whether a key is for us: no shortcut of the browser, no text that a person types, and not switched off.
export function isOurs(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || sheet?.open) return false;
  if (event.target.matches?.("textarea, select, input:not([type=radio], [type=checkbox])")) return false;
  return event.key.length > 1 || event.key === "?" || !localStorage.getItem(OFF);
}

export function show() {
  sheet.showModal();
  return true;
}

export function start() {
  const single = document.getElementById("single-keys");
  single.checked = !localStorage.getItem(OFF);
  single.addEventListener("change", () => {
    if (single.checked) localStorage.removeItem(OFF);
    else localStorage.setItem(OFF, "1");
  });
}
