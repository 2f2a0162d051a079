// A socket that comes back: with growing pauses, at once when the network or the laptop wakes up.
const FIRST_PAUSE = 400;
const LONGEST_PAUSE = 15000;
// The server pings every 20 s, which a script cannot see; a socket that slept through a night can
// look open. Whoever comes back to the page therefore starts anew when it was away for so long.
const ASLEEP = 50000;

const bar = document.getElementById("connection");
const lost = new Set();

function show() {
  if (!bar) return;
  if (lost.size > 0) {
    bar.classList.remove("back");
    bar.textContent = bar.dataset.lost;
  } else if (bar.textContent !== "") {
    bar.classList.add("back");
    bar.textContent = bar.dataset.back;
    setTimeout(() => { if (lost.size === 0) bar.textContent = ""; }, 2500);
  }
}

// What is fetched just when the connection comes back may still meet a dead one.
export async function get(address, headers) {
  for (let pause = 200; ; pause *= 3) {
    try {
      return await fetch(address, { headers });
    } catch (error) {
      if (pause > 2000) throw error;
      await new Promise((done) => setTimeout(done, pause));
    }
  }
}

// `path` is asked anew for each try, since it says from where to go on. `heard` gets each event;
// `opened` is told whether something may have been missed.
export function follow(path, heard, opened) {
  let socket = null;
  let pause = FIRST_PAUSE;
  let timer = 0;
  let missed = false;
  let over = false;
  const me = {};

  function open() {
    clearTimeout(timer);
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const mine = new WebSocket(`${scheme}//${location.host}${path()}`);
    socket = mine;
    mine.onopen = () => {
      pause = FIRST_PAUSE;
      lost.delete(me);
      show();
      opened(missed);
    };
    mine.onmessage = (message) => {
      const { event, data } = JSON.parse(message.data);
      if (event === "debate_deleted" && heard(event, data) === "over") over = true;
      else heard(event, data);
    };
    mine.onclose = () => { if (mine === socket && !over) again(); };
  }

  function again() {
    missed = true;
    lost.add(me);
    show();
    clearTimeout(timer);
    timer = setTimeout(open, pause * (0.5 + Math.random() / 2));
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  }

  function anew() {
    if (over) return;
    missed = true;
    pause = FIRST_PAUSE;
    if (socket) { socket.onclose = null; socket.close(); }
    open();
  }

  let hiddenSince = 0;
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) hiddenSince = Date.now();
    else if (hiddenSince && Date.now() - hiddenSince > ASLEEP) anew();
  });
  // A clock that jumps has been asleep.
  let beat = Date.now();
  setInterval(() => {
    const now = Date.now();
    if (now - beat > ASLEEP) anew();
    beat = now;
  }, 5000);
  addEventListener("online", anew);
  addEventListener("offline", () => { if (socket) socket.close(); });
  addEventListener("pageshow", (event) => { if (event.persisted) anew(); });
  open();
}
