// The worker: it loads Python, NumPy and the engine, and passes requests on to the engine (cli/web/engine.py).
"use strict";

const PACKAGES = "/lib/python3.12/site-packages";
const COURSE = "/course";
let engine = null;

self.onmessage = async ({ data }) => {
  try {
    if (data.type === "start") await start(data.archives);
    if (data.type === "ask") self.postMessage({ type: "answer", reply: engine.answer(data.request) });
  } catch (error) {
    self.postMessage({ type: "fault", text: String(error.message || error).trim().split("\n").at(-1) });
  }
};

function show(text, share) {
  self.postMessage({ type: "start", text, share });
}

async function start(names) {
  const fetched = names.map(async name => [name, await bytes(`python/${name}`)]);
  show("Loading Python (13 MB the first time) …", 0.1);
  importScripts("python/pyodide.js");
  const python = await loadPyodide({ indexURL: "python/" });
  show("Loading NumPy and the course …", 0.6);
  python.FS.mkdirTree(COURSE);
  for (const [name, content] of await Promise.all(fetched)) {
    python.unpackArchive(content, "zip", { extractDir: name.startsWith("course") ? COURSE : PACKAGES });
  }
  show("Starting the course …", 0.75);
  const module = python.pyimport("cli.web.engine");
  engine = module.start(COURSE, text => self.postMessage({ type: "told", text }), seconds => self.postMessage({ type: "alive", seconds }));
  self.postMessage({ type: "ready" });
}

async function bytes(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} could not be loaded (${response.status})`);
  return new Uint8Array(await response.arrayBuffer());
}
