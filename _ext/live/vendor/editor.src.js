// The editor of a live cell: CodeMirror with Python, in the colours of the page.
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
  indentUnit,
  syntaxHighlighting,
} from "@codemirror/language";
import { setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const colour = (name) => `var(--live-${name})`;

const highlight = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: colour("keyword") },
  { tag: [tags.string, tags.special(tags.string)], color: colour("string") },
  { tag: [tags.number, tags.bool, tags.null], color: colour("number") },
  { tag: tags.comment, color: colour("comment"), fontStyle: "italic" },
  { tag: [tags.function(tags.definition(tags.variableName)), tags.className], color: colour("name") },
]);

const look = EditorView.theme({
  "&": { fontSize: "inherit", backgroundColor: "transparent", color: "inherit" },
  "&.cm-focused": { outline: "2px solid var(--pst-color-primary)", outlineOffset: "1px" },
  ".cm-content": { fontFamily: "var(--pst-font-family-monospace)", caretColor: "currentColor" },
  ".cm-cursor": { borderLeftColor: "currentColor" },
  ".cm-gutters": {
    backgroundColor: "var(--pst-color-surface)", // hides code that is scrolled below
    color: colour("comment"),
    border: "none",
  },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": {
    background: `${colour("selection")} !important`,
  },
});

const LABEL = "Python code. Escape leaves the editor, Shift+Enter runs the cell.";

/** What is wrong at a line, counted from 1, as the editor marks it. */
function diagnostic(state, { line, severity, message }) {
  const { from, to, text } = state.doc.line(Math.min(Math.max(line, 1), state.doc.lines));
  return { from: from + text.search(/\S|$/), to, severity, message };
}

/**
 * Put an editor with `text` into `parent`; `run` is called on Shift+Enter, `leave` on Escape,
 * `change` whenever the text has become another.
 */
export function openEditor(parent, text, run, leave, change = () => {}, label = LABEL) {
  const keys = [
    { key: "Shift-Enter", run: () => (run(), true) },
    { key: "Mod-Enter", run: () => (run(), true) },
    { key: "Escape", run: () => (leave(), true) },
    ...defaultKeymap,
    ...historyKeymap,
    indentWithTab,
  ];
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        indentOnInput(),
        indentUnit.of("    "),
        bracketMatching(),
        python(),
        syntaxHighlighting(highlight),
        keymap.of(keys),
        look,
        EditorView.contentAttributes.of({ "aria-label": label }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) change();
        }),
      ],
    }),
  });
  return {
    focus: () => view.focus(),
    text: () => view.state.doc.toString(),
    put: (insert) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert } }),
    mark: (problems) =>
      view.dispatch(
        setDiagnostics(
          view.state,
          problems.map((each) => diagnostic(view.state, each)),
        ),
      ),
    close: () => view.destroy(),
  };
}
