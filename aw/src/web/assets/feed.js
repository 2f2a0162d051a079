// Shows the number of debates that need the reader in the title and icon of the tab, and a
// notification for each new one.
import { follow, get } from "./socket.js";

const listeners = new Set();
const counters = new Set();
const icon = document.getElementById("icon");
const plainIcon = icon ? icon.getAttribute("href") : "";
const plainTitle = document.title;
const badge = document.getElementById("needed-count");
let known = null;
let timer = 0;

export function onChange(listener) {
  listeners.add(listener);
}

// Calls with the debates that need the reader, whenever they were counted.
export function onCount(counter) {
  counters.add(counter);
}

async function count() {
  let answer;
  try {
    answer = await get("/needed", { accept: "application/json" });
    if (!answer.ok) return;
  } catch {
    return;
  }
  const { total, debates } = await answer.json();
  document.title = total > 0 ? `(${total}) ${plainTitle}` : plainTitle;
  if (icon) icon.href = total > 0 ? icon.dataset.needed : plainIcon;
  if (badge) {
    badge.textContent = total;
    badge.hidden = total === 0;
  }
  for (const counter of counters) counter(debates, total);
  const now = new Set(debates.map((debate) => debate.owed));
  if (known) {
    for (const debate of debates) {
      if (!known.has(debate.owed)) notify(debate);
    }
  }
  known = now;
}

function notify(debate) {
  if (!("Notification" in window) || Notification.permission !== "granted") return;
  const words = document.body.dataset.needs;
  const note = new Notification(debate.title, { body: words, tag: debate.owed, icon: icon?.dataset.needed });
  note.onclick = () => { window.focus(); location.href = `/debate/${debate.id}`; };
}

// Several changes at once cause one request.
function changed(event, data) {
  for (const listener of listeners) listener(event, data);
  if (event === "presence") return;
  clearTimeout(timer);
  timer = setTimeout(count, 60);
}

export function start() {
  count();
  // Also after the first connection: something may have changed since the page was written.
  follow(() => "/ws", changed, () => changed("again", {}));
}
