"use strict";
// Shows the tables of the chosen setting. Every number is in the page already; nothing is computed here but shades.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const stages = ["raw", "scaled", "masked", "weights", "output"];
  const levels = 4;
  const get = (id) => document.getElementById(id);
  const [sentence, token, scale, temperature, gap, causal, positions, heads] = ["sentence", "token", "scale", "temperature", "window", "causal", "positions", "heads"].map(get);
  let chosen = 0;

  function element(name, text, attributes = {}) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  }

  const read = (place) => data.pool[place].split(";").map((row) => row.split(" "));
  const number = (text) => (text === "blocked" ? 0 : Number(text));

  function views() {
    const at = [sentence.value, positions.value, two(), causal.checked ? 1 : 0, gap.value, scale.value, temperature.value];
    return data.views[at.reduce((index, value, axis) => index * data.sizes[axis] + Number(value), 0)];
  }

  const masked = () => (causal.checked || gap.value !== "0" ? 1 : 0);

  const two = () => (heads.checked ? 1 : 0);

  function shown(view, at, head) {
    const own = data.own[two()][masked()][at];
    const found = [[own ? "Yours" : "The course's", view[at]]];
    if (own && (stages[at] === "weights" || view[at] !== view[5 + at])) found.push(["Expected", view[5 + at]]);
    if (at >= 3 && view.length > 10) found.push([data.whatIf, view[7 + at]]);
    return found.map(([title, place]) => ({ title: head + title, rows: read(place), expected: read(view[5 + at]) }));
  }

  function draw(map, name, most, tokens) {
    const region = element("div", undefined, { class: "wide", tabindex: "0", role: "region", "aria-label": name + ": " + map.title });
    const table = element("table", undefined, { class: "heat" });
    table.append(element("caption", map.title));
    const head = table.createTHead().insertRow();
    head.append(element("td"));
    const columns = name === "Output" ? map.rows[0].map((_, at) => at + 1) : tokens;
    for (const text of columns) head.append(element("th", text, { scope: "col" }));
    const body = table.createTBody();
    map.rows.forEach((row, query) => {
      const line = body.insertRow();
      const header = element("th", undefined, { scope: "row" });
      const button = element("button", tokens[query], { type: "button" });
      for (const event of ["click", "focus", "mouseenter"]) button.addEventListener(event, () => choose(query));
      header.append(button);
      line.append(header);
      row.forEach((text, at) => {
        const level = most ? Math.round((levels * number(text)) / most) : 0;
        const off = text === map.expected[query][at] ? "" : " off";
        line.append(element("td", text, { class: "h" + (level || 0) + off }));
      });
    });
    region.append(table);
    return region;
  }

  function show() {
    const found = views();
    const { tokens, about } = data.sentences[sentence.value];
    get("sentence-text").textContent = tokens.join(" ");
    get("about").textContent = about;
    stages.forEach((stage, at) => {
      const place = document.querySelector("[data-stage=" + stage + "]");
      const name = place.parentNode.querySelector("h3").firstChild.textContent.replace(/^\d+\. /, "").trim();
      place.parentNode.querySelector(".by").textContent = data.by[two()][masked()][at];
      const maps = found.flatMap((view, head) => shown(view, at, found.length > 1 ? "Head " + (head + 1) + ": " : ""));
      const most = Math.max(0, ...maps.flatMap((map) => map.rows.flat().map((text) => Math.abs(number(text)))));
      place.replaceChildren(...maps.map((map) => draw(map, name, most, tokens)));
    });
    choose(Math.min(chosen, tokens.length - 1));
  }

  function choose(query) {
    chosen = query;
    token.value = String(query);
    for (const table of document.querySelectorAll(".stage table")) {
      [...table.tBodies[0].rows].forEach((row, at) => {
        row.classList.toggle("now", at === query);
        row.querySelector("button").setAttribute("aria-pressed", String(at === query));
      });
    }
    const { tokens } = data.sentences[sentence.value];
    const told = views().map((view, head, all) => {
      const weights = read(view[3])[query].map((text, key) => tokens[key] + " " + text).join(", ");
      const whose = all.length > 1 ? "Head " + (head + 1) + ": " : "";
      return whose + tokens[query] + " looks at " + weights + ". Its output is " + read(view[4])[query].join(", ") + ".";
    });
    get("read").textContent = told.join(" ");
  }

  function newSentence() {
    const { tokens } = data.sentences[sentence.value];
    token.replaceChildren(...tokens.map((text, at) => element("option", text, { value: at })));
    chosen = 0;
  }

  function words(slider) {
    const text = slider.dataset.words.split("|")[slider.value];
    slider.setAttribute("aria-valuetext", text);
    document.querySelector("output[for=" + slider.id + "]").textContent = text;
    return text;
  }

  function size() {
    const slider = get("size");
    words(slider);
    const { header, rows } = data.scaling;
    get("size-read").textContent = rows[slider.value].map((text, at) => header[at] + (at ? ": " : " = ") + text).join("; ") + ".";
    [...get("size-table").tBodies[0].rows].forEach((row, at) => row.classList.toggle("now", at === Number(slider.value)));
  }

  const form = get("controls");
  form.addEventListener("input", (event) => {
    if (event.target === token) return choose(Number(token.value));
    if (event.target === sentence) newSentence();
    [scale, temperature, gap].forEach(words);
    return show();
  });
  form.addEventListener("reset", () => setTimeout(() => { newSentence(); [scale, temperature, gap].forEach(words); show(); }));
  get("size-form").addEventListener("input", size);
  for (const one of [form, get("size-form")]) {
    one.hidden = false;
    one.reset();
    one.addEventListener("submit", (event) => event.preventDefault());
  }
  [scale, temperature, gap].forEach(words);
  show();
  size();
})();
