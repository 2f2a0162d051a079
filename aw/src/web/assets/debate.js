// A debate: inserts new arguments by their number, and keeps drafts until they are sent.
import { follow, get } from "./socket.js";

const debate = document.getElementById("debate");
const id = debate.dataset.id;
// Not location.pathname: a refused form is answered under its own address.
const page = `/debate/${id}`;
const place = document.getElementById("arguments");
const below = document.getElementById("new-below");
const isNewest = debate.dataset.newest === "true";
let last = Number(debate.dataset.last);
let ruling = 0;
let unseen = 0;

// Drafts, which the browser stores for each debate.

function keyOf(field) {
  return `aw:${id}:${field.dataset.draft}`;
}

function remember(event) {
  const field = event.target.closest("[data-draft]");
  if (!field) return;
  if (field.type === "radio" && !field.checked) return;
  const value = field.type === "checkbox" ? (field.checked ? "1" : "") : field.value;
  if (value === "") localStorage.removeItem(keyOf(field));
  else localStorage.setItem(keyOf(field), value);
}

function restore(root) {
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

// The keys of a ruling have the number of its target, so a draft never appears in another dispute.
function forget(name) {
  const mine = `aw:${id}:${name}`;
  for (const key of Object.keys(localStorage)) {
    if (key === mine || key.startsWith(`${mine}:`)) localStorage.removeItem(key);
  }
}

// Shows a notice with the typed text when somebody else has ruled first.
function overtaken(panel, live) {
  const form = panel.querySelector("form");
  const chosen = form.querySelector(".choice :checked")?.closest(".choice").innerText ?? "";
  const decided = [...form.querySelectorAll(".point-choice :checked")].filter((radio) => radio.value !== "leave")
    .map((radio) => [radio.name.slice(6), radio.value, form.elements[`reason-${radio.name.slice(6)}`].value].join(" ").trim());
  const text = [chosen.trim(), form.elements.words.value.trim(), ...decided].filter(Boolean).join("\n\n");
  if (text === "" || form.dataset.sent || ruling === 0) return;
  const notice = document.getElementById("overtaken").content.firstElementChild.cloneNode(true);
  const words = notice.querySelector("p");
  words.textContent = words.textContent.replace("{}", `#${ruling}`);
  notice.querySelector("textarea").value = text;
  live.after(notice);
  if (panel.contains(document.activeElement)) notice.scrollIntoView({ block: "center" });
}

// The choice of another way needs a text.
function choose(event) {
  const radio = event.target.closest('input[name="choice"]');
  if (radio?.value === "another") radio.form.elements.words.focus();
}

async function preview(button) {
  const body = new URLSearchParams(new FormData(button.form, button));
  try {
    const answer = await fetch(button.form.action, { method: "POST", body, headers: { "x-fragment": "preview" } });
    if (answer.ok) document.getElementById("preview").innerHTML = await answer.text();
  } catch {
    // No connection, no preview.
  }
}

// Replaces the part of the page besides the arguments, and keeps the forms that a person is filling in.
let refreshing = 0;
let soon = 0;

function refreshSoon() {
  clearTimeout(soon);
  soon = setTimeout(refresh, 40);
}

// Replaces the points, and keeps those open that a person has opened. The headings of statements follow.
function refreshPoints(fresh) {
  const old = document.getElementById("points");
  if (!fresh || !old) return;
  const focused = old.contains(document.activeElement) ? document.activeElement.closest(".point")?.id : null;
  for (const details of old.querySelectorAll("details[open]")) {
    fresh.querySelector(`#${details.parentElement.id} details`)?.setAttribute("open", "");
  }
  const top = old.scrollTop;
  old.replaceWith(fresh);
  fresh.scrollTop = top;
  if (focused) fresh.querySelector(`#${focused} summary`)?.focus({ preventScroll: true });
  for (const link of document.querySelectorAll("a[data-point]")) {
    const now = fresh.querySelector(`#point-${link.dataset.point} .point-state`)?.cloneNode(true);
    if (!now) continue;
    now.lastChild.textContent = now.dataset.now;
    link.replaceChildren(now);
  }
}

async function refresh() {
  const mine = ++refreshing;
  let html;
  try {
    const answer = await get(page, { "x-fragment": "live" });
    if (!answer.ok) return;
    html = await answer.text();
  } catch {
    return;
  }
  if (mine !== refreshing) return;
  const answered = new DOMParser().parseFromString(html, "text/html");
  const fresh = answered.getElementById("live");
  const old = document.getElementById("live");
  if (!fresh || !old) return;
  // Read first: an element that is moved loses the focus.
  const active = document.activeElement;
  const focused = old.contains(active) ? active : null;
  const from = focused && "selectionStart" in focused ? [focused.selectionStart, focused.selectionEnd] : null;
  // The form for the same dispute stays, with the cursor in it.
  for (const name of ["panel", "intervene"]) {
    const was = old.querySelector(`#${name}`);
    const will = fresh.querySelector(`#${name}`);
    const same = name === "intervene" || old.dataset.target === fresh.dataset.target;
    if (was && will && same) {
      was.querySelector(".in-hand")?.remove();
      const note = will.querySelector(".in-hand");
      if (note) was.querySelector("h2")?.after(note);
      // After a restart the server accepts only its new token.
      const csrf = will.querySelector('[name="csrf"]');
      if (csrf) was.querySelector('[name="csrf"]').value = csrf.value;
      will.replaceWith(was);
    } else if (was && name === "panel") overtaken(was, old);
  }
  const open = [...old.querySelectorAll("details[open] code[id]")].map((code) => code.id);
  old.replaceWith(fresh);
  refreshPoints(answered.getElementById("points"));
  for (const code of open) document.getElementById(code)?.closest("details")?.setAttribute("open", "");
  restore(fresh);
  if (focused && !fresh.contains(focused)) {
    // Focuses the same element in the new part.
    const like = [...fresh.querySelectorAll(focused.tagName)].find((one) => one.outerHTML === focused.outerHTML);
    like?.focus({ preventScroll: true });
  } else if (focused) {
    focused.focus({ preventScroll: true });
    if (from && focused.setSelectionRange && focused.type !== "checkbox" && focused.type !== "radio") focused.setSelectionRange(...from);
  }
}

function atEnd() {
  return innerHeight + scrollY > document.documentElement.scrollHeight - 160;
}

function arrive(argument) {
  if (argument.seq <= last) return;
  last = argument.seq;
  if (argument.type === "RULING") ruling = argument.seq;
  if (!isNewest || !argument.html) return;
  if (document.getElementById(`a-${argument.seq}`)) return;
  const following = atEnd();
  const holder = document.createElement("template");
  holder.innerHTML = argument.html;
  const article = holder.content.firstElementChild;
  article.classList.add("arrives");
  const after = [...place.children].find((one) => Number(one.dataset.seq) > argument.seq);
  place.insertBefore(article, after ?? null);
  if (following) return;
  unseen += 1;
  below.textContent = unseen === 1 ? debate.dataset.oneNew : debate.dataset.manyNew.replace("{}", unseen);
  below.hidden = false;
}

function heard(event, data) {
  if (event === "initial_state") {
    data.arguments.forEach(arrive);
    // Presence that changed between the page and the socket has no event of its own.
    const roles = Object.keys(data.presence);
    const waiting = roles.filter((role) => data.presence[role].waiting).join(" ");
    const labels = roles.filter((role) => data.presence[role].working).map((role) => `${role}: ${data.presence[role].working.label}`);
    const shown = document.getElementById("live").dataset;
    const same = waiting === shown.waiting.trim() && labels.join(" ").trim() === shown.working.trim();
    if (data.arguments.length > 0 || !same) refreshSoon();
  } else if (event === "new_argument") {
    arrive(data.argument);
    refreshSoon();
  } else if (event === "presence") {
    refreshSoon();
  } else if (event === "debate_deleted") {
    location.reload();
    return "over";
  }
  return undefined;
}

// A link to a point opens it.
function openPoint() {
  const point = location.hash.match(/^#point-P\d+$/) && document.querySelector(`${location.hash} details`);
  if (point) point.open = true;
}

export function start() {
  openPoint();
  addEventListener("hashchange", openPoint);
  // A link to an earlier argument leads to the page that shows it.
  const linked = Number(location.hash.match(/^#a-(\d+)$/)?.[1]);
  if (linked <= last && !document.getElementById(`a-${linked}`)) {
    location.replace(`${page}?before=${linked + 100}#a-${linked}`);
    return;
  }
  if (debate.dataset.ruled) {
    for (const name of ["rule", "choice", "close", "point", "why"]) forget(name);
  }
  if (debate.dataset.ruled || location.pathname !== page) history.replaceState(null, "", page + location.hash);
  if (new URLSearchParams(location.search).has("stopped")) forget("stop");
  restore(document);
  document.addEventListener("input", remember);
  document.addEventListener("change", (event) => { remember(event); choose(event); });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-preview]");
    if (button) {
      event.preventDefault();
      preview(button);
    }
  });
  below.addEventListener("click", () => {
    place.lastElementChild?.scrollIntoView({ block: "start" });
    place.lastElementChild?.focus({ preventScroll: true });
  });
  addEventListener("scroll", () => {
    if (unseen > 0 && atEnd()) { unseen = 0; below.hidden = true; }
  }, { passive: true });
  // An agent becomes quiet by time alone, without an event.
  setInterval(() => { if (!document.hidden) refreshSoon(); }, 60000);
  follow(() => `/ws?debate_id=${id}&after_seq=${last}&html=1`, heard, (missed) => { if (missed) refreshSoon(); });
}
