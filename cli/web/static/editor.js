// The editor: CodeMirror with Python.
import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

// The colours are variables of the page's style, so that light and dark are decided in one place.
const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--code-keyword)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--code-string)" },
  { tag: tags.comment, color: "var(--code-comment)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--code-number)" },
  { tag: [tags.function(tags.definition(tags.variableName)), tags.className], color: "var(--code-name)" },
]);

export class Editor {
  constructor(parent, nonce, changed) {
    this.texts = {}; // by file: the state of the editor, with its own history of changes
    this.file = "";
    this.extensions = [
      lineNumbers(), history(), drawSelection(), indentOnInput(), bracketMatching(), closeBrackets(), highlightActiveLine(),
      python(), indentUnit.of("    "), syntaxHighlighting(colours), EditorView.lineWrapping,
      EditorView.cspNonce.of(nonce),
      EditorView.contentAttributes.of({ "aria-label": "Your code", tabindex: "0" }),
      keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, indentWithTab]),
      EditorView.updateListener.of(update => { if (update.docChanged) changed(this.file, this.text); }),
    ];
    // The nonce must be there from the beginning: the first style that the page's policy forbids would be lost.
    this.view = new EditorView({ parent, state: EditorState.create({ extensions: this.extensions }) });
  }

  get text() {
    return this.view.state.doc.toString();
  }

  // Show a file. Its history of changes stays until the page is left.
  open(file, text) {
    if (this.file) this.texts[this.file] = this.view.state;
    this.file = file;
    const known = this.texts[file];
    const state = known && known.doc.toString() === text ? known : EditorState.create({ doc: text, extensions: this.extensions });
    this.view.setState(state);
  }

  // Replace the text of the file that is shown; this can be undone.
  replace(text) {
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
  }

  // Put the cursor at the beginning of a line, and show it in the middle.
  goTo(number) {
    const line = this.view.state.doc.line(Math.min(Math.max(number, 1), this.view.state.doc.lines));
    const place = line.from + line.text.search(/\S|$/);
    this.view.dispatch({ selection: { anchor: place }, effects: EditorView.scrollIntoView(place, { y: "center" }) });
    this.view.focus();
  }
}
