// The screen of a command, as `attn` prints it to a terminal: colours become classes, and commands become buttons.
const COLOURS = { 31: "bad", 32: "good", 33: "warn" };
const CODE = /\x1b\[(\d+)m/;
// A command is between backticks, or alone at the end of a line.
const NAMES = ["test", "hint", "complete", "profile", "next", "submit", "reset"];

function commandOf(names) {
  const words = `(?:${names.join("|")})(?: [\\w-]+)*`;
  return new RegExp(`\`attn (${words})\`|(?<=^\\s*|: )attn (${words})$`, "g");
}

const PLACE = /(\w+)\.py, (?:near )?line (\d+)|in line (\d+) of (\w+)\.py/g;

export class Screen {
  constructor(element, { run, go, views }) {
    this.element = element;
    this.run = run; // gets the words of a command that was pressed
    this.go = go; // gets the module and the number of a line that was pressed
    this.command = commandOf([...NAMES, ...views]);
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
    const pressable = [
      ...[...text.matchAll(this.command)].map(found => [found, () => this.run((found[1] ?? found[2]).split(" "))]),
      ...[...text.matchAll(PLACE)].map(found => [found, () => this.go(found[1] ?? found[4], Number(found[2] ?? found[3]))]),
    ].sort(([one], [other]) => one.index - other.index);
    for (const [found, press] of pressable) {
      this.span(text.slice(end, found.index));
      this.button(found[0].replaceAll("`", ""), press);
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

  button(text, press) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "command";
    button.textContent = text;
    button.addEventListener("click", press);
    this.element.append(button);
  }
}
