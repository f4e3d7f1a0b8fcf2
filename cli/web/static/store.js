// The student's files, kept in the browser: path → {text, time}. Each file is a record of its own, so that two windows
// with two modules do not overwrite each other.
const FILES = "files";

function done(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

export async function openStore(name) {
  const opening = indexedDB.open(name, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(FILES);
  const database = await done(opening);
  const files = mode => database.transaction(FILES, mode, { durability: "strict" }).objectStore(FILES);
  return {
    async all() {
      const store = files("readonly");
      const [paths, entries] = await Promise.all([done(store.getAllKeys()), done(store.getAll())]);
      return Object.fromEntries(paths.map((path, number) => [path, entries[number]]));
    },
    put: (path, entry) => done(files("readwrite").put(entry, path)),
    remove: path => done(files("readwrite").delete(path)),
  };
}

// Where a browser keeps nothing, such as in some private windows, the work lives as long as the page.
export function forgetfulStore() {
  return { all: async () => ({}), put: async () => {}, remove: async () => {} };
}
