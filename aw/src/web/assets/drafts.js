// Drafts, which the browser stores for each debate until they are sent.
const id = document.getElementById("debate").dataset.id;

function keyOf(field) {
  return `aw:${id}:${field.dataset.draft}`;
}

export function remember(event) {
  const field = event.target.closest("[data-draft]");
  if (!field) return;
  if (field.type === "radio" && !field.checked) return;
  const value = field.type === "checkbox" ? (field.checked ? "1" : "") : field.value;
  if (value === "") localStorage.removeItem(keyOf(field));
  else localStorage.setItem(keyOf(field), value);
}

export function restore(root) {
  for (const field of root.querySelectorAll("[data-draft]")) {
    const kept = localStorage.getItem(keyOf(field));
    if (kept === null) continue;
    if (field.type === "checkbox") field.checked = kept === "1";
    else if (field.type === "radio") {
      // What the server sent comes first. It leaves a point for which nothing was chosen.
      const sent = field.form.elements[field.name].value;
      field.checked ||= field.value === kept && (sent === "" || sent === "leave");
    }
    else if (field.value === "") field.value = kept;
    const around = field.closest("details");
    if (around && field.tagName === "TEXTAREA" && field.value !== "") around.open = true;
  }
}

// What was typed before this script began.
export function rememberTyped(root) {
  for (const field of root.querySelectorAll("textarea[data-draft]")) if (field.value !== "") remember({ target: field });
}

// The keys of a ruling have the number of its target, so a draft never appears in another dispute.
export function forget(...names) {
  for (const name of names) {
    const mine = `aw:${id}:${name}`;
    for (const key of Object.keys(localStorage)) {
      if (key === mine || key.startsWith(`${mine}:`)) localStorage.removeItem(key);
    }
  }
}

// The parts of a ruling.
export const RULING = ["rule", "choice", "close", "point", "why"];
