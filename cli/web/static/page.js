// The page: it shows a lesson, the editor and the screen, and keeps the student's files.
import { Editor } from "./editor.js";
import { Python } from "./python.js";
import { Screen } from "./screen.js";
import { forgetfulStore, openStore } from "./store.js";

const SAVE_MILLISECONDS = 250;
const find = id => document.getElementById(id);
const data = find("course");
const course = JSON.parse(data.textContent);
const buttons = course.views.filter(view => view.choices.length); // commands of this course that have a button
const modules = new Map(course.modules.map(module => [module.name, module]));

const WELCOME = module => [
  `Write your code in ${module.slug}.py above. The lesson says what to write.`,
  "Run runs the file. Test (Ctrl-S) runs the checks and explains the first thing that is wrong.",
  "Hint says more. Complete finishes the module: it also counts what your code costs.",
].join("\n");

let files = {}; // the student's files: path → {text, time}
let store;
let editor;
let python;
let module; // the one that is shown
let busy = false;
const unsaved = new Map();

const screen = new Screen(find("screen"), { run: pressed, go: goTo, views: course.views.map(view => view.name) });

function textOf(one) {
  return files[one.path]?.text ?? one.stub;
}

// Every change is kept: in memory at once, in the browser a moment later.
function keep(path, entry) {
  if (entry) files[path] = entry;
  else delete files[path];
  clearTimeout(unsaved.get(path));
  unsaved.set(path, setTimeout(() => save(path), SAVE_MILLISECONDS));
}

async function save(path) {
  clearTimeout(unsaved.get(path));
  unsaved.delete(path);
  try {
    await (files[path] ? store.put(path, files[path]) : store.remove(path));
  } catch (error) {
    notKept(error);
  }
}

function saveAll() {
  return Promise.all([...unsaved.keys()].map(save));
}

function notKept(error) {
  screen.note(`This browser does not keep your work (${error.name}). Download it before you leave the page.`);
}

function edited(path, text) {
  const one = [...modules.values()].find(other => other.path === path);
  keep(path, text === one.stub ? null : { text, time: Date.now() / 1000 });
}

// Take over what the engine changed, but not what the student has edited in the meantime.
function take(sent, answered) {
  for (const path of new Set([...Object.keys(sent), ...Object.keys(answered)])) {
    if (sent[path]?.text === answered[path]?.text) continue;
    keep(path, answered[path]);
    if (module.path === path) editor.replace(textOf(module));
  }
  return saveAll();
}

function showStates(states) {
  for (const [name, { state, complete }] of Object.entries(states)) {
    const element = document.querySelector(`[data-state="${name}"]`);
    const words = complete ? "complete" : { passing: "checks pass", failing: "begun", started: "begun" }[state] ?? "";
    if (element) element.textContent = words && ` ${words}`;
  }
}

async function ask(request, title) {
  if (busy) return null;
  setBusy(true, title);
  const sent = structuredClone(files);
  await saveAll();
  screen.clear();
  try {
    const reply = await python.ask({ ...request, files: sent }, text => screen.write(text));
    screen.finish();
    showStates(reply.states);
    await take(sent, reply.files);
    return reply;
  } catch (error) {
    screen.note(error.message);
    return null;
  } finally {
    setBusy(false, title);
    if (!find("screen").textContent.trim()) screen.note(`${title} is done. It printed nothing.`);
    // A test says first what is wrong; everything else has its result at the end.
    find("result").scrollTop = title === "Test" ? 0 : find("result").scrollHeight;
  }
}

function setBusy(now, title) {
  busy = now;
  find("result").setAttribute("aria-busy", String(now));
  for (const button of document.querySelectorAll(".tools button")) button.disabled = now && button.id !== "stop";
  find("stop").hidden = !now;
  find("result").dataset.title = python.isUp ? `${title} is running …` : `${title} runs as soon as Python is ready …`;
  if (now) show("work");
}

const attn = (...words) => ask({ op: "attn", words: words.filter(Boolean) }, words[0][0].toUpperCase() + words[0].slice(1));

const actions = {
  run: () => ask({ op: "run", module: module.name }, "Run"),
  test: () => attn("test", module.slug),
  hint: () => attn("hint", module.slug),
  complete: () => attn("complete", module.slug),
  stop: () => python.stop("Stopped."),
  undo: () => attn("reset", module.slug, "--undo"),
  reset: async () => { if (await answered("ask-reset")) await attn("reset", module.slug, "--yes"); },
  download,
  upload: () => find("file").click(),
};

for (const { name } of buttons) actions[name] = () => attn(name, find(`${name}-choice`).value, "-m", module.slug);

// A command in the text of a screen was pressed. It may be without the module, which is the one that is shown.
function pressed([name, ...words]) {
  const wanted = [...modules.values()].find(one => words.includes(one.name) || words.includes(one.slug));
  if (wanted && wanted !== module) location.hash = wanted.name;
  if (name === "next") location.hash = following().name;
  else if (name === "submit") download();
  else if (words.length || !(name in actions)) attn(name, ...words);
  else actions[name]();
}

// A line in the text of a screen was pressed.
function goTo(slug, line) {
  const wanted = [...modules.values()].find(one => one.slug === slug);
  if (wanted !== module) return;
  show("work");
  editor.goTo(line);
}

function following() {
  const all = [...modules.values()];
  return all[Math.min(all.indexOf(module) + 1, all.length - 1)];
}

async function download() {
  const remembered = JSON.parse(files[".attnlab/progress.json"]?.text ?? "{}").student;
  find("student").value = remembered || find("student").value;
  if (!await answered("ask-student")) return;
  const reply = await ask({ op: "submit", student: find("student").value.trim() }, "Download");
  if (!reply?.zip) return;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([Uint8Array.from(atob(reply.zip), one => one.charCodeAt(0))], { type: "application/zip" }));
  link.download = reply.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

async function upload(event) {
  const [file] = event.target.files;
  if (!file) return;
  const text = Array.from(new Uint8Array(await file.arrayBuffer()), one => String.fromCharCode(one)).join("");
  event.target.value = "";
  await ask({ op: "update", name: file.name, zip: btoa(text) }, "Open a zip");
}

function answered(id) {
  const dialog = find(id);
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise(resolve => dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true }));
}

// Show the module that the address names, or only another lesson.
function open() {
  const name = decodeURIComponent(location.hash.slice(1));
  const lesson = document.querySelector(`[data-lesson="${CSS.escape(name)}"]`) ? name : (module ?? course.modules[0]).name;
  for (const article of document.querySelectorAll("[data-lesson]")) article.hidden = article.dataset.lesson !== lesson;
  find("lesson").scrollTop = 0;
  const wanted = modules.get(lesson) ?? module ?? course.modules[0];
  if (wanted === module) return;
  module = wanted;
  document.title = `${module.title} · ${course.title}`;
  for (const link of document.querySelectorAll("[data-module]")) {
    if (link.dataset.module === module.name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  find("file-name").textContent = `${module.slug}.py`;
  for (const view of buttons) find(`${view.name}-view`).hidden = !view.beside.includes(module.name);
  editor.open(module.path, textOf(module));
  screen.clear();
  screen.note(WELCOME(module));
}

// On a narrow screen, the lesson or the code is shown.
function show(view) {
  document.body.dataset.view = view;
  for (const button of document.querySelectorAll("[data-show]")) {
    button.setAttribute("aria-pressed", String(button.dataset.show === view));
  }
}

function showPython({ text, share, failed }) {
  find("python-text").textContent = text;
  find("python-share").value = share;
  find("python-share").hidden = share === 1 || Boolean(failed);
}

function listen() {
  for (const [id, action] of Object.entries(actions)) find(id).addEventListener("click", () => action());
  for (const button of document.querySelectorAll("[data-show]")) button.addEventListener("click", () => show(button.dataset.show));
  find("file").addEventListener("change", upload);
  addEventListener("hashchange", open);
  addEventListener("pagehide", saveAll);
  document.addEventListener("visibilitychange", () => { if (document.hidden) saveAll(); });
  addEventListener("keydown", event => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "s") return;
    event.preventDefault();
    if (python && !document.querySelector("dialog[open]")) actions.test();
  });
}

async function main() {
  if (location.protocol === "file:") {
    for (const button of document.querySelectorAll(".tools button")) button.disabled = true;
    showPython({ text: "Open this folder with a web server: run python -m http.server in it, then open http://localhost:8000", share: 0, failed: true });
  }
  try {
    store = await openStore(`attnlab ${location.pathname}`);
    files = await store.all();
  } catch (error) {
    store = forgetfulStore();
    notKept(error);
  }
  editor = new Editor(find("editor"), data.dataset.nonce, edited);
  open();
  listen();
  if (location.protocol !== "file:") {
    python = new Python(course, showPython);
    navigator.storage?.persist?.(); // ask the browser not to clear the work when its disk is full
  }
}

main();
