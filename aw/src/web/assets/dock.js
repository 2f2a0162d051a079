// The dock in which a person rules. It is ready, sends, or keeps a ruling until the connection is back.
import * as drafts from "./drafts.js";

const debate = document.getElementById("debate");
const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 15000;
// The words of the statements on points.
const WORDS = { uphold: "upheld", dismiss: "dismissed", defer: "deferred" };
// How many ids of points the button names.
const MOST_IDS = 4;
let page = null;
// The ruling that waits for a connection: its form and its button.
let kept = null;
let timer = 0;
let pause = FIRST_PAUSE;

function form() {
  return document.getElementById("rule");
}

export function isOpen() {
  return form() !== null;
}

// The height of the dock, so that panes beside the arguments end above it.
const sizes = new ResizeObserver(([entry]) => {
  document.documentElement.style.setProperty("--dock", `${Math.ceil(entry.borderBoxSize[0].blockSize)}px`);
});

function chosen(rule) {
  return rule.querySelector('input[name="choice"]:checked');
}

// The decisions on points: [point, verdict, reason].
function decisions(rule) {
  const made = [...rule.querySelectorAll(".point-choice :checked")].filter((radio) => radio.value !== "leave");
  return made.map((radio) => {
    const point = radio.name.slice("point-".length);
    return [point, radio.value, rule.elements[`reason-${point}`].value.trim()];
  });
}

// Names the act on the button, and counts the bytes of the ruling.
export function update() {
  const rule = form();
  if (!rule) return;
  const words = rule.dataset;
  const choice = chosen(rule);
  const made = decisions(rule);
  const acts = [];
  if (choice) acts.push(choice.value === "another" ? words.own : words.ruleBy.replace("{}", choice.value));
  for (const verdict of ["uphold", "dismiss", "defer"]) {
    const points = made.filter(([, one]) => one === verdict).map(([point]) => point);
    const named = points.length > MOST_IDS ? words.points.replace("{}", points.length) : points.join(", ");
    if (points.length > 0) acts.push(words[verdict].replace("{}", named));
  }
  const button = rule.querySelector("[data-names]");
  if (button) {
    let name = acts.length > 0 ? acts.join(", ") : words.none;
    if (rule.elements.close?.checked) name += ` ${words.close}`;
    button.firstElementChild.textContent = name.charAt(0).toUpperCase() + name.slice(1);
  }
  const text = rule.elements.words;
  if (choice && choice.value !== "another") text.placeholder = words.addTo.replace("{}", choice.value);
  else if (choice) text.placeholder = words.own;
  const size = (part) => new TextEncoder().encode(part).length;
  const parts = [size(text.value.trim()), Number(choice?.dataset.bytes ?? 0)];
  for (const [point, verdict, reason] of made) parts.push(size(`### ${point} [${WORDS[verdict]}] ${reason || words.default}`));
  const used = parts.filter((part) => part > 0).reduce((sum, part) => sum + part + 2, -2);
  const limit = Number(words.limit);
  const counter = document.getElementById("bytes");
  counter.hidden = used < limit * 0.8;
  counter.classList.toggle("over", used > limit);
  const number = new Intl.NumberFormat(document.documentElement.lang);
  counter.textContent = words.bytes.replace("{n}", number.format(Math.max(used, 0))).replace("{all}", number.format(limit));
}

// What the person has chosen and typed, as text.
function typed(rule) {
  const radio = chosen(rule);
  const option = radio?.closest(".choice").querySelector(".words")?.textContent.replace(/\s+/g, " ").trim();
  const choice = option ? `${radio.value}: ${option}` : "";
  const made = decisions(rule).map((decision) => decision.join(" ").trim());
  return [choice, rule.elements.words.value.trim(), ...made].filter(Boolean).join("\n\n");
}

function show(state) {
  const rule = form();
  if (!rule) return;
  rule.dataset.state = state;
  const status = document.getElementById("dock-status");
  status.replaceChildren();
  if (state === "sending") status.textContent = rule.dataset.sending;
  if (state === "kept") {
    const cancel = document.createElement("button");
    cancel.type = "button";
    cancel.className = "quiet";
    cancel.dataset.unsend = "";
    cancel.textContent = rule.dataset.cancel;
    status.append(`${rule.dataset.kept} `, cancel);
    status.scrollIntoView({ block: "nearest" });
  }
  // What is on its way cannot be changed.
  for (const part of rule.querySelectorAll(".dock-body, .dock-side")) part.inert = state !== "ready";
}

function refuse(words) {
  const error = document.getElementById("dock-error");
  const line = document.createElement("p");
  line.textContent = words;
  error.replaceChildren(line);
  showError();
}

// Opens the sheet of a phone, with the focus in the field and the error in sight.
function showError() {
  document.getElementById("dock-open").checked = true;
  form().elements.words.focus({ preventScroll: true });
  form().elements.words.scrollIntoView({ block: "nearest" });
  document.getElementById("dock-error").scrollIntoView({ block: "nearest" });
}

async function send(rule, button) {
  clearTimeout(timer);
  kept = { rule, button };
  document.querySelector(".recorded")?.remove();
  show("sending");
  const body = new URLSearchParams(new FormData(rule, button));
  body.set("first", debate.dataset.first);
  let answer;
  let html = "";
  try {
    answer = await fetch(rule.action, { method: "POST", body, headers: { "x-fragment": "live" } });
    html = await answer.text();
  } catch {
    answer = null;
  }
  // The person has taken it back meanwhile; the record knows whether it arrived.
  if (kept?.rule !== rule) return;
  if (!answer || answer.status === 503) {
    show("kept");
    timer = setTimeout(back, pause);
    pause = Math.min(pause * 2, LONGEST_PAUSE);
    return;
  }
  kept = null;
  pause = FIRST_PAUSE;
  const fresh = new DOMParser().parseFromString(html, "text/html");
  if (!answer.ok) {
    show("ready");
    const words = [...fresh.querySelectorAll("main h1, main h1 ~ p")].map((one) => one.textContent.trim());
    refuse(words.slice(0, 2).join(". "));
    // After a restart the server accepts only its new token.
    page.refresh();
    return;
  }
  const ruled = fresh.getElementById("ruled");
  const lost = fresh.querySelector(".overtaken");
  // The draft of a ruling that was refused stays.
  if (ruled || lost) drafts.forget(...drafts.RULING);
  replace(fresh.getElementById("dock"));
  page.place(fresh);
  if (ruled) page.ruled(Number(ruled.dataset.seq), ruled.textContent);
  else if (!lost) showError();
}

// The connection is back. The server knows the request if it arrived before.
export async function back() {
  if (!kept) return;
  const { rule, button } = kept;
  if (rule.dataset.state === "sending") return;
  clearTimeout(timer);
  await page.refresh();
  if (kept?.rule === rule) send(rule, button);
}

function replace(will) {
  const was = document.getElementById("dock");
  if (was && will) was.replaceWith(will);
  else if (was) was.remove();
  else if (will) document.getElementById("dock-place").prepend(will);
  update();
}

// Shows the ruling of somebody else beside the text that was not sent.
function overtaken(text, ruling) {
  const note = document.getElementById("overtaken").content.firstElementChild.cloneNode(true);
  const link = note.querySelector("p > a");
  link.href = `#a-${ruling}`;
  link.textContent = `#${ruling}`;
  const words = document.querySelector(`#a-${ruling} .words`);
  if (words) note.querySelector(".words").innerHTML = words.innerHTML;
  note.querySelector("textarea").value = text;
  return note;
}

// Takes the dock of a fresh page. The form for the same dispute stays, with the cursor in it. A page that
// is behind waits for the arguments between, which bring a refresh of their own: the ruling that ended the
// dispute may be among them.
export function refresh(fresh, ruling, isBehind) {
  const will = fresh.getElementById("dock");
  const rule = form();
  const next = will?.querySelector("#rule");
  if (kept) {
    const csrf = fresh.querySelector('[name="csrf"]');
    if (csrf && rule) rule.elements.csrf.value = csrf.value;
    return;
  }
  if (rule && next && rule.elements.target.value === next.elements.target.value) {
    // After a restart the server accepts only its new token.
    rule.elements.csrf.value = next.elements.csrf.value;
    return;
  }
  if (isBehind || (!rule && !next)) return;
  const text = rule ? typed(rule) : "";
  if (rule && text !== "" && ruling > 0) {
    const note = overtaken(text, ruling);
    if (will) {
      will.prepend(note.firstElementChild);
      replace(will);
    } else replace(note);
    return;
  }
  // A note about a ruling that came first stays until it is dismissed.
  const note = document.querySelector("#dock > .overtaken");
  if (note && next) {
    will.prepend(note);
    replace(will);
  } else if (!note) replace(will);
  drafts.restore(document.getElementById("dock") ?? document);
  update();
}

async function preview(button) {
  const body = new URLSearchParams(new FormData(button.form, button));
  try {
    const answer = await fetch(button.form.action, { method: "POST", body, headers: { "x-fragment": "preview" } });
    if (!answer.ok) return;
    const place = document.getElementById("preview");
    place.innerHTML = await answer.text();
    place.scrollIntoView({ block: "nearest" });
  } catch {
    // No connection, no preview.
  }
}

// Chooses the option with this number.
export function choose(number) {
  const radio = form()?.querySelectorAll('input[name="choice"]')[number - 1];
  if (!radio) return false;
  radio.checked = true;
  radio.dispatchEvent(new Event("change", { bubbles: true }));
  if (radio.value !== "another") radio.focus();
  return true;
}

export function submit() {
  const rule = form();
  const button = rule?.querySelector(".dock-act .primary");
  if (!button || kept) return false;
  rule.requestSubmit(button);
  return true;
}

// The page gives the functions that place a fresh page, read one, and show a ruling.
export function start(functions) {
  page = functions;
  sizes.observe(document.getElementById("dock-place"));
  document.addEventListener("submit", (event) => {
    if (event.target.id !== "rule" || event.submitter?.hasAttribute("data-preview")) return;
    event.preventDefault();
    if (!kept) send(event.target, event.submitter);
  });
  for (const kind of ["input", "change"]) {
    document.addEventListener(kind, ({ target }) => {
      if (!target.closest("#rule")) return;
      // What was refused has changed.
      document.getElementById("dock-error").replaceChildren();
      form().elements.words.removeAttribute("aria-invalid");
      update();
      // Another way needs a text.
      if (kind === "change" && target.name === "choice" && target.value === "another") form().elements.words.focus();
    });
  }
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.matches("[data-preview]")) {
      event.preventDefault();
      preview(button);
    } else if (button.matches("[data-unsend]")) {
      clearTimeout(timer);
      kept = null;
      show("ready");
      form().elements.words.focus();
    } else if (button.matches("[data-dismiss]")) {
      const note = button.closest(".dock-note");
      if (form() || note.matches(".recorded")) note.remove();
      else replace(null);
    }
  });
  addEventListener("online", back);
  update();
}
