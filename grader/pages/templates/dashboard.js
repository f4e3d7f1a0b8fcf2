"use strict";
// Filters, sorts, and exchanges the numbers of sections. Without it, the page shows everything.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const [section, module, student] = ["section", "module", "student"].map((id) => document.getElementById(id));
  const form = document.querySelector(".controls");

  function exchange() {
    const numbers = data[section.value];
    for (const table of document.querySelectorAll("table[data-stat]")) {
      const { stat, module: at } = table.dataset;
      const rows = at === undefined ? numbers[stat] : numbers[stat][at];
      const most = stat === "bins" ? Math.max(1, ...rows) : 1;
      for (const row of table.tBodies[0].rows) {
        const values = rows[row.dataset.row];
        row.querySelectorAll(".v").forEach((cell, place) => {
          cell.textContent = stat === "bins" ? values : values[place];
        });
        const bar = row.querySelector("rect");
        if (bar) bar.setAttribute("width", String((100 * values) / most));
      }
    }
  }

  function isShown(row, wanted) {
    const { s, m } = row.dataset;
    if (module.value !== "" && m !== undefined && !m.split(" ").includes(module.value)) return false;
    if (!row.closest("table").classList.contains("people")) return true;
    if (section.value !== "0" && s !== String(section.value - 1)) return false;
    const name = row.cells[0].textContent + " " + (row.parentNode.parentNode.classList.contains("matrix") ? "" : row.cells[1].textContent);
    return !wanted || name.toLowerCase().includes(wanted);
  }

  function filter() {
    const wanted = student.value.trim().toLowerCase();
    for (const part of document.querySelectorAll("[data-part]")) {
      part.hidden = module.value !== "" && part.dataset.part !== module.value;
    }
    for (const row of document.querySelectorAll("table.people tbody tr, tbody tr[data-m]")) {
      const hide = !isShown(row, wanted);
      if (row.hidden !== hide) row.hidden = hide;
    }
    const rows = [...document.querySelectorAll("[aria-labelledby=overview] tbody tr")];
    document.getElementById("shown").textContent = rows.filter((row) => !row.hidden).length + " of " + rows.length + " students";
  }

  // A number, also as "33 %" or "3 of 4"; the minutes of "1 d 3 h"; or else text, such as a date.
  function key(row, place) {
    const text = row.cells[place].textContent.trim();
    if (/^[−-]?[\d.]+( %| of \d+)?$/.test(text)) return parseFloat(text.replace("−", "-"));
    const parts = text.match(/^(?:(\d+) d)? ?(?:(\d+) h)? ?(?:(\d+) min)?$/);
    if (text !== "" && parts) return 1440 * (parts[1] || 0) + 60 * (parts[2] || 0) + Number(parts[3] || 0);
    return text.toLowerCase();
  }

  const alphabetical = new Intl.Collator(undefined, { numeric: true }).compare;

  function compare(one, other) {
    if (one === other) return 0;
    if (one === "" || one === "–") return -1;
    if (other === "" || other === "–") return 1;
    if (typeof one === typeof other && typeof one === "number") return one - other;
    return alphabetical(String(one), String(other));
  }

  function sort(table, header) {
    const place = header.cellIndex;
    const before = header.getAttribute("aria-sort");
    const first = header.classList.contains("number") || (place > 0 && table.classList.contains("matrix")) ? "descending" : "ascending";
    const order = before === "descending" ? "ascending" : before === "ascending" ? "descending" : first;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", order);
    const rows = [...table.tBodies[0].rows].map((row) => [key(row, place), row]);
    rows.sort((one, other) => (order === "ascending" ? 1 : -1) * compare(one[0], other[0]));
    table.tBodies[0].append(...rows.map(([, row]) => row));
  }

  function addButton(table, header) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...header.childNodes);
    button.addEventListener("click", () => sort(table, header));
    header.append(button);
  }

  // The list of who has which misconception becomes a matrix when it comes into view: all at once would take too long.
  function expand(table) {
    const names = [...table.closest("article").querySelectorAll("[data-stat=misconceptions] tbody th")].map((cell) => cell.textContent);
    const head = table.tHead.rows[0];
    head.deleteCell(1);
    for (const name of names) {
      const header = document.createElement("th");
      header.scope = "col";
      header.textContent = name;
      head.append(header);
      addButton(table, header);
    }
    for (const row of table.tBodies[0].rows) {
      const has = new Set(row.cells[1].textContent.split(", "));
      row.deleteCell(1);
      for (const name of names) {
        const cell = row.insertCell();
        if (has.has(name)) {
          cell.className = "y";
          cell.textContent = "yes";
        }
      }
    }
  }

  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) {
        observer.unobserve(entry.target);
        expand(entry.target.querySelector("table"));
      }
    }
  }, { rootMargin: "200px" });
  for (const table of document.querySelectorAll("table.matrix")) observer.observe(table.parentNode);
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = table.classList.contains("matrix") ? [table.tHead.rows[0].cells[0]] : table.tHead.rows[0].cells;
    for (const header of heads) addButton(table, header);
  }
  section.addEventListener("change", () => { exchange(); filter(); });
  module.addEventListener("change", filter);
  student.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  filter();
})();
