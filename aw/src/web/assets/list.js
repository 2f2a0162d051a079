// The list: searches while a person types, and reloads itself when something changes.
import { onChange } from "./feed.js";
import { get } from "./socket.js";

const form = document.getElementById("filters");
const list = document.getElementById("list");
let asked = 0;
let timer = 0;

function query() {
  const fields = new URLSearchParams(new FormData(form));
  for (const [name, value] of [...fields]) if (value === "") fields.delete(name);
  return fields;
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
    if (fresh.innerHTML.trim() === list.innerHTML.trim()) return;
    const focused = list.contains(document.activeElement) ? document.activeElement.closest("li")?.id : null;
    list.replaceChildren(fresh.content);
    if (focused) document.getElementById(focused)?.querySelector("a")?.focus({ preventScroll: true });
  } catch {
    // The socket reports the lost connection and refreshes the list afterwards.
  }
}

function search() {
  clearTimeout(timer);
  timer = setTimeout(() => {
    const address = query().size > 0 ? `/?${query()}` : "/";
    history.replaceState(null, "", address);
    refresh(address);
  }, 120);
}

export function start() {
  form.addEventListener("input", search);
  form.addEventListener("submit", (event) => { event.preventDefault(); search(); });
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
