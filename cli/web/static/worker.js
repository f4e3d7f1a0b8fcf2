// The worker: it loads Python, NumPy and the engine, and passes requests on to the engine (cli/web/engine.py).
//
// After the first start, the browser keeps a copy of Python's memory, in which all imports are made. The next start
// loads the copy instead of Python's own start and the imports. For this, the compiled libraries of NumPy must be at the
// same addresses in both: they are loaded before Python starts, always in the same order.
"use strict";

const PACKAGES = "/lib/python3.12/site-packages";
const COURSE = "/course";
const KEPT = "attnlab-python";
let engine = null;

self.onmessage = async ({ data }) => {
  try {
    if (data.type === "start") await start(data.python);
    if (data.type === "ask") self.postMessage({ type: "answer", reply: engine.answer(data.request) });
  } catch (error) {
    self.postMessage({ type: "fault", text: String(error.message || error).trim().split("\n").at(-1) });
  }
};

function show(text, share) {
  self.postMessage({ type: "start", text, share });
}

async function start(files) {
  const copy = await keptCopy(files);
  show(copy ? "Python is starting …" : "Loading Python and NumPy (the first time, about 18 MB) …", 0.1);
  const fetched = Object.fromEntries(Object.entries(files.archives).map(([name, file]) => [name, bytes(file)]));
  const [libraries] = await Promise.all([compiled(files.libraries), importing()]);
  const python = await load(libraries, copy).catch(error => failed(error, copy));
  if (!python) return;
  for (const [path, content] of libraries) write(python, path, content);
  if (!copy) {
    show("Loading the course …", 0.6);
    for (const name of ["numpy", "engine"]) unpack(python, await fetched[name], PACKAGES);
    show("Starting the course …", 0.75);
    python.pyimport("cli.web.engine").warm();
    await keepCopy(python, libraries, files);
  }
  python.FS.mkdirTree(COURSE);
  unpack(python, await fetched.course, COURSE);
  engine = python.pyimport("cli.web.engine").start(
    COURSE,
    text => self.postMessage({ type: "told", text }),
    seconds => self.postMessage({ type: "alive", seconds }),
  );
  self.postMessage({ type: "ready" });
  // What was never imported before the copy was made may be imported now.
  if (copy) for (const name of ["engine", "numpy"]) unpack(python, await fetched[name], PACKAGES);
}

async function importing() {
  importScripts("python/pyodide.js", "python/pyodide.asm.js");
}

function load(libraries, copy) {
  const create = self._createPyodideModule;
  self._createPyodideModule = settings => create({
    ...settings,
    onRuntimeInitialized() {
      for (const [path, content] of libraries) {
        const files = { findObject: () => true, readFile: () => content };
        this.loadDynamicLibrary(path, { global: false, nodelete: true, fs: files }, {});
      }
    },
  });
  return loadPyodide({ indexURL: "python/", ...(copy ? { _loadSnapshot: copy } : { _makeSnapshot: true }) });
}

// A copy that does not load is removed, and Python starts as for the first time.
async function failed(error, copy) {
  if (!copy) throw error;
  await caches.delete(KEPT);
  self.postMessage({ type: "again" });
}

async function compiled({ file, parts }) {
  const response = await get(file);
  const stream = response.body.pipeThrough(new DecompressionStream("gzip"));
  const all = new Uint8Array(await new Response(stream).arrayBuffer());
  let end = 0;
  return parts.map(([name, size]) => [`${PACKAGES}/${name}`, all.subarray(end, end += size)]);
}

function write(python, path, content) {
  python.FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
  python.FS.writeFile(path, content);
}

function unpack(python, content, folder) {
  python.unpackArchive(content, "zip", { extractDir: folder });
}

async function get(file) {
  const response = await fetch(`python/${file}`);
  if (!response.ok) throw new Error(`${file} could not be loaded (${response.status})`);
  return response;
}

async function bytes(file) {
  return new Uint8Array(await (await get(file)).arrayBuffer());
}

// The copy belongs to these files: their names change with their content. Without https, a browser keeps no copy.
function keyOf({ archives, libraries }) {
  return new URL(`python/copy/${archives.numpy}/${archives.engine}/${libraries.file}`, self.location).href;
}

async function keptCopy(files) {
  if (!self.caches) return null;
  const found = await (await caches.open(KEPT)).match(keyOf(files)).catch(() => null);
  return found ? new Uint8Array(await found.arrayBuffer()) : null;
}

async function keepCopy(python, libraries, files) {
  if (!self.caches) return;
  try {
    const expected = new Set(libraries.map(([path]) => path));
    const loaded = Object.keys(python._module.LDSO.loadedLibsByName).filter(name => name.startsWith(PACKAGES));
    if (!loaded.every(name => expected.has(name))) return; // it would be at another address the next time
    const copy = python.makeMemorySnapshot();
    await caches.delete(KEPT);
    await (await caches.open(KEPT)).put(keyOf(files), new Response(copy));
  } catch (error) {
    console.warn(`No copy of Python is kept: ${error.message}`); // such as a full disk
  }
}
