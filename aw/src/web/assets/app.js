// Every page: follows the feed, updates times, copies, and sends a form once.
import * as feed from "./feed.js";
import { isLost, isReached } from "./socket.js";

document.documentElement.classList.add("script");

// A form is sent once. Its button is disabled until the answer arrives. Without a connection it is not
// sent: the browser would replace the page by an error.
document.addEventListener("submit", async (event) => {
  const form = event.target.closest("form[data-once]");
  if (!form || event.defaultPrevented) return;
  if (isLost()) {
    const { submitter } = event;
    event.preventDefault();
    if (await isReached()) form.requestSubmit(submitter);
    return;
  }
  if (form.dataset.sent) { event.preventDefault(); return; }
  form.dataset.sent = "1";
  event.submitter?.setAttribute("aria-disabled", "true");
});
// After going back to the page, the form can be sent again.
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-once]")) {
    delete form.dataset.sent;
    form.querySelectorAll("[aria-disabled]").forEach((button) => button.removeAttribute("aria-disabled"));
  }
});

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    return;
  }
  const words = button.textContent;
  button.textContent = document.body.dataset.copied;
  setTimeout(() => { button.textContent = words; }, 1500);
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.copy) copy(document.getElementById(button.dataset.copy).textContent, button);
  else if (button.dataset.copyLink) copy(`${location.origin}${location.pathname}#${button.dataset.copyLink}`, button);
  else if (button.dataset.copyText) {
    // The Markdown, not the rendered text.
    const id = document.getElementById("debate").dataset.id;
    const answer = await fetch(`/debate/${id}/text/${button.dataset.copyText}`);
    if (answer.ok) copy(await answer.text(), button);
  }
});

// What was typed for a new debate is sent.
if (new URLSearchParams(location.search).has("new")) {
  for (const key of Object.keys(localStorage)) if (key.startsWith("aw:new:")) localStorage.removeItem(key);
}

// A time shows its moment in the reader's own time zone.
document.addEventListener("mouseover", ({ target }) => {
  const time = target.closest?.("time[datetime]");
  if (time) time.title = new Date(time.dateTime).toLocaleString(document.documentElement.lang, { dateStyle: "full", timeStyle: "long" });
});

// Updates relative times.
const ago = document.body.dataset.ago.split("|");
const units = [86400, 3600, 60, 1];
setInterval(() => {
  if (document.hidden) return;
  for (const time of document.querySelectorAll("time[datetime]")) {
    const seconds = Math.round((Date.now() - Date.parse(time.dateTime)) / 1000);
    if (!(seconds >= 5)) continue;
    const unit = units.findIndex((size) => seconds >= size);
    const words = ago[unit].replace("{}", Math.floor(seconds / units[unit]));
    if (time.parentElement.matches(".crumbs")) continue;
    if (time.textContent !== words) time.textContent = words;
  }
}, 20000);

const page = document.body.dataset.page;
if (page === "list") (await import("./list.js")).start();
if (page === "new") (await import("./new.js")).start();
if (page === "document") (await import("./changes.js")).start();
if (page === "debate") (await import("./debate.js")).start();
if (document.body.dataset.known) feed.start();
