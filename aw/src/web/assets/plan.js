// The plan beside the arguments: loads a version, moves through its changes, and marks quotes.
import { get } from "./socket.js";

const debate = document.getElementById("debate");
const address = `/debate/${debate.dataset.id}/plan`;
const wide = matchMedia("(min-width: 75rem)");
const HIDDEN = "aw-plan-hidden";
let asked = 0;
// What the server says about the newest plan: its document and version.
let known = "";

function pane() {
  return document.getElementById("plan");
}

function seenKey(id) {
  return `aw-plan:${id}`;
}

export function isShown() {
  return wide.matches ? !debate.classList.contains("no-plan") && !pane().hidden : debate.classList.contains("shows-plan");
}

// The text nodes of the plan as one text in the form of a quote, with the place of each character.
function textOf(body) {
  const walker = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
  const places = [];
  let text = "";
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.parentElement.closest("del")) continue;
    for (let at = 0; at < node.data.length; at += 1) {
      let letter = node.data[at];
      if (/[*_|`#>]/.test(letter)) continue;
      if (/\s/.test(letter)) letter = " ";
      if (letter === " " && text.endsWith(" ")) continue;
      text += letter;
      places.push([node, at]);
    }
    if (!text.endsWith(" ") && /^(P|LI|H\d|TD|TH|PRE|BLOCKQUOTE|DIV)$/.test(node.parentElement.tagName)) {
      text += " ";
      places.push([node, node.data.length]);
    }
  }
  return { text, places };
}

const ranges = new Map();

function markQuotes() {
  ranges.clear();
  const links = [...pane().querySelectorAll("[data-quote]")];
  if (links.length > 0 && "highlights" in CSS) {
    const { text, places } = textOf(document.getElementById("plan-body"));
    for (const link of links) {
      const quote = link.dataset.quote.replace(/[*_|`#>]/g, "").replace(/\s+/g, " ").replace(/^\s*(\d+[.)]|[-+])\s+/, "").trim();
      const at = quote === "" ? -1 : text.indexOf(quote);
      link.classList.toggle("is-gone", at < 0);
      if (at < 0) continue;
      const range = new Range();
      range.setStart(...places[at]);
      const [node, end] = places[at + quote.length - 1];
      range.setEnd(node, Math.min(end + 1, node.data.length));
      ranges.set(link, range);
    }
  }
  if ("highlights" in CSS) CSS.highlights.set("quotes", new Highlight(...ranges.values()));
}

function toRange(range) {
  const around = range.startContainer.parentElement;
  around.closest("details")?.setAttribute("open", "");
  around.scrollIntoView({ block: "center" });
}

function remember() {
  const { document: id, to, newest } = pane().dataset;
  if (id && to === newest && isShown() && !document.hidden) localStorage.setItem(seenKey(id), to);
}

async function load(query, quote) {
  const mine = ++asked;
  const answer = await get(`${address}?${query}`, { "x-fragment": "plan" }).catch(() => null);
  if (!answer?.ok || mine !== asked) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("plan");
  if (!fresh) return;
  const focused = pane().contains(document.activeElement) ? document.activeElement.textContent : null;
  const top = pane().scrollTop;
  const isSame = pane().dataset.document === fresh.dataset.document && pane().dataset.to === fresh.dataset.to && pane().dataset.view === fresh.dataset.view;
  pane().replaceWith(fresh);
  if (isSame) fresh.scrollTop = top;
  if (focused) [...fresh.querySelectorAll("header a")].find((link) => link.textContent === focused)?.focus({ preventScroll: true });
  markQuotes();
  if (quote) {
    const link = [...ranges.keys()].find((one) => one.dataset.quote === quote);
    if (link) toRange(ranges.get(link));
  }
}

function defaults(id) {
  const query = new URLSearchParams();
  if (id) query.set("document", id);
  const seen = id && localStorage.getItem(seenKey(id));
  if (seen) query.set("seen", seen);
  return query;
}

function newestPlan() {
  return document.getElementById("rail").dataset.plan ?? "";
}

async function loadNewest() {
  known = newestPlan();
  await load(defaults(known.split(" ")[0]));
  // The version counts as seen when the page is left, so that a reload shows the same changes.
}

// Something has changed: a pane that shows the newest version follows.
export function follow() {
  const now = newestPlan();
  pane().hidden = now === "";
  if (now === known || now === "" || !isShown()) return;
  const shown = pane().dataset;
  if (!shown.document || (shown.to === shown.newest && now.startsWith(shown.document))) loadNewest();
}

// Marks the first tab of each row that fits as the current one.
function markTab(selector) {
  for (const tabs of document.querySelectorAll(".tabs")) {
    const current = tabs.querySelector(selector);
    for (const tab of tabs.children) tab.ariaCurrent = tab === current ? "true" : null;
  }
}

function show(on) {
  if (wide.matches) {
    debate.classList.toggle("no-plan", !on);
    if (on) localStorage.removeItem(HIDDEN);
    else localStorage.setItem(HIDDEN, "1");
  } else {
    debate.classList.toggle("shows-plan", on);
    markTab(on ? "[data-plan-tab]" : "[data-arguments-tab]");
  }
  if (on && !pane().dataset.document) loadNewest();
}

export function toggle() {
  if (newestPlan() === "") return false;
  show(!isShown());
  return true;
}

// Moves to the next or the previous change.
export function step(by) {
  if (!isShown()) return false;
  const all = [...document.querySelectorAll("#plan .change")];
  if (all.length === 0) return false;
  const at = all.indexOf(document.activeElement);
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.max(0, Math.min(all.length - 1, at + by))];
  next.tabIndex = -1;
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "center" });
  return true;
}

// A link to a document in an argument opens it in the pane: `(v1 → v2)` beside it as that difference.
function openLink(link) {
  const url = new URL(link.href);
  const id = url.pathname.split("/")[2];
  const after = link.nextSibling?.textContent ?? "";
  const span = after.match(/^\s*\(v(\d+)\s*(?:→|->|–|-)\s*v(\d+)\)/);
  const query = new URLSearchParams({ document: id });
  if (span) {
    query.set("from", span[1]);
    query.set("to", span[2]);
    query.set("view", "changes");
  } else {
    query.set("to", url.searchParams.get("version") ?? "");
    query.set("view", "read");
  }
  if (!query.get("to")) query.delete("to");
  show(true);
  const quote = link.closest(".quote-place")?.closest("p, li")?.previousElementSibling?.textContent.trim();
  load(query, quote);
}

export function start() {
  known = newestPlan();
  if (localStorage.getItem(HIDDEN)) debate.classList.add("no-plan");
  document.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    const link = event.target.closest("a");
    if (!link) return;
    if (link.matches("[data-plan-tab]")) {
      event.preventDefault();
      show(true);
    } else if (link.matches("[data-arguments-tab]")) {
      if (debate.classList.contains("shows-plan")) {
        event.preventDefault();
        show(false);
      }
      markTab(`[href="${link.getAttribute("href")}"]`);
    } else if (link.matches("a[data-plan]")) {
      event.preventDefault();
      show(true);
      load(new URL(link.href).searchParams);
    } else if (link.matches("#plan a[data-quote]") && ranges.has(link)) {
      event.preventDefault();
      toRange(ranges.get(link));
    } else if (link.matches("#record a.doc, #thread a.doc, #question a.doc")) {
      event.preventDefault();
      openLink(link);
    }
  });
  wide.addEventListener("change", () => { if (isShown() && !pane().dataset.document) loadNewest(); });
  addEventListener("pagehide", remember);
  document.addEventListener("visibilitychange", () => { if (document.hidden) remember(); });
  if (isShown() && known !== "") loadNewest();
}
