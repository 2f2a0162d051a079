// A new debate: drafts, which the browser stores until the debate is open, and the line of a run, which
// the server composes while a person types.
import { get } from "./socket.js";

const drafts = document.querySelectorAll("form[data-drafts]");

function keyOf(field) {
  return `aw:${field.form.dataset.drafts}:${field.name}`;
}

function isKept(field) {
  return field.name && !["hidden", "submit"].includes(field.type);
}

function remember({ target }) {
  if (!isKept(target) || (target.type === "radio" && !target.checked)) return;
  const value = target.type === "checkbox" ? (target.checked ? "1" : "0") : target.value;
  localStorage.setItem(keyOf(target), value);
}

function restore(form) {
  // What the server sent back comes first.
  if (form.parentElement.querySelector("[role=alert]")) return;
  for (const field of form.elements) {
    const kept = isKept(field) ? localStorage.getItem(keyOf(field)) : null;
    if (kept === null) continue;
    if (field.type === "checkbox") field.checked = kept === "1";
    else if (field.type === "radio") field.checked = field.value === kept;
    else if (field.value === field.defaultValue) field.value = kept;
  }
}

let asked = 0;

async function compose(form) {
  const mine = ++asked;
  const fields = new URLSearchParams(new FormData(form));
  const answer = await get(`/new?${fields}`, { accept: "text/html" });
  if (!answer.ok || mine !== asked) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  document.getElementById("run-line").replaceChildren(...page.getElementById("run-line").childNodes);
}

export function start() {
  for (const form of drafts) {
    restore(form);
    form.addEventListener("input", remember);
    form.addEventListener("change", remember);
  }
  const run = document.getElementById("run-form");
  let timer = 0;
  run.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => compose(run).catch(() => {}), 120);
  });
  run.addEventListener("submit", (event) => { event.preventDefault(); compose(run).catch(() => {}); });
  if (new FormData(run).values().some((value) => value !== "")) compose(run).catch(() => {});
}
