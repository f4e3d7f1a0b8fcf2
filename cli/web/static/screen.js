// The screen of a command, as `attn` prints it to a terminal: colours become classes, and commands become buttons.
const COLOURS = { 31: "bad", 32: "good", 33: "warn" };
const CODE = /\x1b\[(\d+)m/;
// A command is between backticks, or alone at the end of a line.
const NAMES = "(?:test|hint|complete|explain|show|profile|next|submit|reset)";
const COMMAND = new RegExp(`\`attn (${NAMES}(?: [\\w-]+)*)\`|(?<=^\\s*|: )attn (${NAMES}(?: [\\w-]+)*)$`, "g");

export class Screen {
  constructor(element, run) {
    this.element = element;
    this.run = run; // gets the words of a command that was pressed
    this.rest = "";
    this.colour = "";
  }

  clear() {
    this.element.replaceChildren();
    this.rest = this.colour = "";
  }

  // Text may come in parts; a line is shown when it is complete.
  write(text) {
    const lines = (this.rest + text).split("\n");
    this.rest = lines.pop();
    for (const line of lines) this.line(line);
  }

  finish() {
    if (this.rest) this.line(this.rest);
    this.rest = "";
  }

  note(text) {
    this.finish();
    const note = document.createElement("span");
    note.className = "note";
    note.textContent = `${text}\n`;
    this.element.append(note);
  }

  line(line) {
    const parts = line.split(CODE);
    parts.forEach((part, number) => {
      if (number % 2) this.colour = part === "0" ? "" : COLOURS[part] || this.colour;
      else this.text(part);
    });
    this.element.append("\n");
  }

  text(text) {
    let end = 0;
    for (const found of text.matchAll(COMMAND)) {
      this.span(text.slice(end, found.index));
      this.button(found[0].replaceAll("`", ""), (found[1] ?? found[2]).split(" "));
      end = found.index + found[0].length;
    }
    this.span(text.slice(end));
  }

  span(text) {
    if (!this.colour) this.element.append(text);
    else {
      const span = document.createElement("span");
      span.className = this.colour;
      span.textContent = text;
      this.element.append(span);
    }
  }

  button(text, words) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "command";
    button.textContent = text;
    button.addEventListener("click", () => this.run(words));
    this.element.append(button);
  }
}
