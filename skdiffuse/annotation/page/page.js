// One annotator a tab: asks for a pair, shows it as text, sends the answer.
const token = location.hash.slice(1);
const keys = { 1: "left", 2: "right", 0: "tie", s: "skip" };
const deeds = { u: "undo", q: "quit" };
const every = 3000;
const $ = (id) => document.getElementById(id);

let question = null;
let ended = false;
let away = false;
let busy = false;
// Whether somebody has been at this window since the last look.
let active = false;

const unreachable =
  "The command in the terminal does not answer; is it still running? Answers so far are on disk.";
const elsewhere = "This address is not the one that the terminal shows; open that one.";
const annotator = await named();

// The same after a reload, another in a copied window: a copy has the storage of the
// first, but not the lock on its name.
async function named() {
  const made = () => `web-${crypto.randomUUID().slice(0, 8)}`;
  let name = sessionStorage.getItem("annotator") ?? made();
  if (!(await locked(name))) {
    name = made();
    await locked(name);
  }
  sessionStorage.setItem("annotator", name);
  return name;
}

function locked(name) {
  return new Promise((tell) => {
    navigator.locks.request(name, { ifAvailable: true }, (lock) => {
      tell(Boolean(lock));
      // Held as long as the window is open.
      return lock && new Promise(() => {});
    });
  });
}

function request(action, body = {}) {
  return fetch(`/api/${action}`, {
    method: "POST",
    keepalive: action === "leave",
    headers: { "Content-Type": "application/json", "X-Token": token },
    body: JSON.stringify({ annotator, ...body }),
  });
}

async function call(action, body) {
  if (busy) return;
  busy = true;
  enable();
  try {
    const response = await request(action, body);
    if (response.status === 403) {
      say(elsewhere);
    } else {
      show(await response.json());
    }
  } catch {
    say(unreachable);
  } finally {
    busy = false;
    enable();
  }
}

function say(text) {
  $("message").textContent = text;
  $("message").hidden = !text;
}

function show(state) {
  const before = question?.row;
  ended = state.status.ended;
  if ("question" in state) question = state.question;
  // What others decided; one's own answer still counts, but is not asked for.
  if (ended) question = null;
  if (state.message !== undefined) say(state.message);
  status(state);
  if (question && question.row !== before) {
    $("input").hidden = question.input === null;
    fill($("input"), question.input ?? "");
    fill($("left"), question.left);
    fill($("right"), question.right);
    $("same").hidden = !question.same;
  }
  if (state.verdict) {
    $("headline").textContent = state.verdict.headline;
    $("details").replaceChildren(
      ...Object.entries(state.verdict.details).flatMap(([name, value]) => [
        element("dt", name),
        element("dd", value),
      ]),
    );
    $("notes").replaceChildren(...state.verdict.notes.map((note) => element("li", note)));
  }
  sections();
}

function status({ status, lead }) {
  const parts = [...status.words];
  if (lead && !ended) parts.push(`A ${lead.A}, B ${lead.B}, ties ${lead.tie}`);
  $("status").textContent = parts.join(" · ");
  // Without a guess, and when nothing is left, it is of as many as there can be.
  $("bar").max = status.left ? status.judged + status.left : Math.max(1, status.at_most);
  $("bar").value = status.judged;
}

function fill(target, text) {
  const empty = text.trim() === "";
  target.classList.toggle("empty", empty);
  target.textContent = empty ? "(empty)" : text;
  target.scrollTop = 0;
}

function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

function sections() {
  $("asking").hidden = away || !question;
  $("waiting").hidden = away || ended || Boolean(question);
  $("ended").hidden = away || !ended;
  $("left-off").hidden = !away;
  $("answers").hidden = $("asking").hidden;
  for (const button of document.querySelectorAll("#others button")) {
    button.hidden = away || (button.dataset.do !== "undo" && !question);
  }
  enable();
}

function enable() {
  for (const button of document.querySelectorAll("[data-answer]")) {
    button.disabled = busy || away || !question;
  }
  for (const button of document.querySelectorAll("[data-do]")) {
    button.disabled = busy || (away && button.dataset.do !== "resume");
  }
}

function act(answer, deed) {
  if (busy) return;
  if (answer && question && !away) {
    call("answer", { row: question.row, answer });
  } else if (deed === "undo" && !away) {
    call("undo");
  } else if (deed === "quit" && !away) {
    away = true;
    question = null;
    request("leave").catch(() => {});
    say("");
    sections();
  } else if (deed === "resume") {
    away = false;
    call("ask");
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  // The second click of a double one is no answer to the next pair.
  if (button && event.detail < 2) {
    act(button.dataset.answer, button.dataset.do);
    // So that Space scrolls again, and does not answer the next pair.
    button.blur();
  }
});

document.addEventListener("keydown", (event) => {
  // A key that is held down answers one pair.
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  const key = event.key.toLowerCase();
  if (key in keys || key in deeds) {
    event.preventDefault();
    act(keys[key], deeds[key]);
  }
});

for (const kind of ["pointermove", "pointerdown", "keydown", "wheel", "touchmove"]) {
  addEventListener(kind, () => (active = true), { passive: true });
}
addEventListener("hashchange", () => location.reload());
addEventListener("pagehide", () => {
  request("leave").catch(() => {});
});
addEventListener("pageshow", (event) => {
  if (event.persisted && !away) call("ask");
});

setInterval(() => {
  if (away || busy) return;
  const waits = !question && !ended;
  if (waits) call("ask");
  else look();
}, every);

async function look() {
  try {
    const response = await request("look", { active });
    active = false;
    if (response.status === 403) say(elsewhere);
    if (!response.ok || busy || away) return;
    const state = await response.json();
    delete state.message;
    if ($("message").textContent === unreachable) say("");
    const reopened = ended && !state.status.ended;
    if (!busy && !away) show(state);
    if (reopened) call("ask");
  } catch {
    say(unreachable);
  }
}

call("ask");
