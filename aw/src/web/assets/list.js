// The list: searches while a person types, reloads itself when something changes, marks what is
// unread, and is one Tab stop for each group, with arrows inside.
import { onChange } from "./feed.js";
import * as filters from "./filters.js";
import * as help from "./help.js";
import { mark } from "./seen.js";
import { get } from "./socket.js";

const form = document.getElementById("filters");
const list = document.getElementById("list");
let shown = list.innerHTML.trim();
let asked = 0;
let timer = 0;

function links(row) {
  return [...row.querySelectorAll("a")];
}

// One link of each group can be reached by Tab.
function rove() {
  for (const group of list.querySelectorAll(".rows")) {
    const all = links(group);
    const current = all.find((link) => link === document.activeElement) ?? all[0];
    for (const link of all) link.tabIndex = link === current ? 0 : -1;
  }
}

function dress() {
  mark(list);
  rove();
}

async function refresh(address) {
  const mine = ++asked;
  try {
    const answer = await get(address, { "x-fragment": "list" });
    if (!answer.ok) return;
    const html = await answer.text();
    if (mine !== asked) return;
    const fresh = document.createElement("template");
    fresh.innerHTML = html;
    // An unchanged list stays, with the pointer on it.
    if (fresh.innerHTML.trim() === shown) return;
    shown = fresh.innerHTML.trim();
    const active = list.contains(document.activeElement) ? document.activeElement : null;
    const row = active?.closest("li");
    const at = row ? links(row).indexOf(active) : 0;
    list.replaceChildren(fresh.content);
    const same = row && document.getElementById(row.id);
    if (same) (links(same)[at] ?? links(same)[0]).focus({ preventScroll: true });
    dress();
  } catch {
    // The socket reports the lost connection and refreshes the list afterwards.
  }
}

function search() {
  clearTimeout(timer);
  timer = setTimeout(() => {
    const query = filters.keep(form);
    const address = query.size > 0 ? `/?${query}` : "/";
    history.replaceState(null, "", address);
    refresh(address);
  }, 120);
}

function move(by) {
  const rows = [...list.querySelectorAll(".row")];
  const at = rows.indexOf(document.activeElement.closest(".row"));
  const next = rows[at < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, at + by))];
  links(next ?? list)[0]?.focus();
  return Boolean(next);
}

function within(by) {
  const row = document.activeElement.closest(".row");
  if (!row) return false;
  const all = links(row);
  all[all.indexOf(document.activeElement) + by]?.focus();
  return true;
}

const keys = {
  "/": () => { form.elements.q.focus(); form.elements.q.select(); return true; },
  ".": () => { const first = list.querySelector(".needed .row a"); first?.click(); return Boolean(first); },
  j: () => move(1),
  k: () => move(-1),
  ArrowDown: () => list.contains(document.activeElement) && move(1),
  ArrowUp: () => list.contains(document.activeElement) && move(-1),
  ArrowRight: () => within(1),
  ArrowLeft: () => within(-1),
  "?": help.show,
};

function pressed(event) {
  const fromSearch = event.key === "ArrowDown" && event.target.name === "q";
  const act = fromSearch ? () => move(0) : help.isOurs(event) ? keys[event.key] : null;
  if (act?.()) event.preventDefault();
}

export function start() {
  form.addEventListener("input", search);
  form.addEventListener("submit", (event) => { event.preventDefault(); search(); });
  document.addEventListener("keydown", pressed);
  help.start();
  list.addEventListener("focusin", rove);
  // A debate may have been read on another tab.
  addEventListener("storage", dress);
  addEventListener("pageshow", dress);
  dress();
  filters.keep(form);
  if (location.hash === "#search") keys["/"]();
  // A person may have chosen a filter before this script was there.
  const shownBy = new URLSearchParams(location.search);
  if ([...new FormData(form)].some(([name, value]) => value !== (shownBy.get(name) ?? ""))) search();
  let soon = 0;
  onChange(() => {
    clearTimeout(soon);
    soon = setTimeout(() => refresh(location.pathname + location.search), 50);
  });
  // An agent becomes quiet by time alone, without an event.
  setInterval(() => { if (!document.hidden) refresh(location.pathname + location.search); }, 60000);
  const ask = document.getElementById("ask-notify");
  if (ask && "Notification" in window && Notification.permission === "default") {
    ask.hidden = false;
    ask.querySelector("button").addEventListener("click", async () => {
      const answer = await Notification.requestPermission();
      ask.querySelector("button").hidden = true;
      if (answer === "granted") ask.querySelector("span").hidden = false;
      else ask.hidden = true;
    });
  }
}
