// The keys of the desk. Lists are one Tab stop each, with arrows inside.
import * as dock from "./dock.js";
import * as help from "./help.js";
import * as unread from "./unread.js";

function open(details) {
  if (!details) return false;
  details.open = true;
  details.querySelector("textarea, button")?.focus();
  return true;
}

// The links of the rail, and of the list beside the debate: one of each is the Tab stop.
function links(list) {
  return [...document.querySelectorAll(`#${list} :is(.rail-list, .beside-all) a`)];
}

export function rove() {
  for (const all of [links("rail"), links("beside")]) {
    const current = all.find((one) => one === document.activeElement) ?? all.find((one) => one.ariaCurrent) ?? all[0];
    for (const one of all) one.tabIndex = one === current ? 0 : -1;
  }
}

function move(all, by) {
  if (all.length === 0) return false;
  const at = all.indexOf(document.activeElement);
  const from = at < 0 ? all.findIndex((one) => one.ariaCurrent) : at;
  const next = all[Math.max(0, Math.min(all.length - 1, from + by))] ?? all[0];
  next.focus();
  next.scrollIntoView({ block: "nearest", inline: "nearest" });
  return true;
}

const STEPS = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, Home: -Infinity, End: Infinity };

function arrows(event) {
  if (event.altKey || event.ctrlKey || event.metaKey || !(event.key in STEPS)) return;
  const timeline = event.target.closest?.(".timeline");
  const list = event.target.closest?.(".rail-list, .beside-all")?.closest("#rail, #beside");
  if (!timeline && !list) return;
  const all = timeline ? [...timeline.querySelectorAll("a")] : links(list.id);
  let by = STEPS[event.key];
  // The timeline begins at now.
  if (timeline && !event.target.matches("a")) by = by < 0 ? Infinity : by;
  if (!Number.isFinite(by)) by = by > 0 ? all.length : -all.length;
  if (move(all, by)) event.preventDefault();
}

function pressed(event, page) {
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter") {
    if (dock.submit()) event.preventDefault();
    return;
  }
  if (event.key === "Escape") {
    for (const details of document.querySelectorAll("details.pop[open]")) {
      details.open = false;
      if (details.contains(document.activeElement)) details.querySelector("summary").focus();
    }
    return;
  }
  if (!help.isOurs(event)) return;
  const acts = {
    n: () => unread.step(true),
    p: () => unread.step(false),
    j: () => move(links("rail"), 1),
    k: () => move(links("rail"), -1),
    a: () => page.whole(),
    s: () => open(document.getElementById("intervene")),
    w: () => { const field = document.querySelector("#rule textarea"); field?.focus(); return Boolean(field); },
    ".": () => { const next = document.getElementById("bar-next"); if (!next || next.hidden) return false; location.href = next.href; return true; },
    "?": help.show,
    ...page.keys,
  };
  const act = /^[1-9]$/.test(event.key) ? () => dock.choose(Number(event.key)) : acts[event.key];
  if (act?.()) event.preventDefault();
}

export function start(page) {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented) return;
    arrows(event);
    if (!event.defaultPrevented) pressed(event, page);
  });
  document.addEventListener("focusin", (event) => { if (event.target.closest(".rail-list, .beside-all")) rove(); });
  document.addEventListener("click", (event) => {
    for (const details of document.querySelectorAll("details.pop[open]")) {
      if (!details.contains(event.target)) details.open = false;
    }
  });
  help.start();
  rove();
}
