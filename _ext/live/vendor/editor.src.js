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

/** Put an editor with `text` into `parent`; `run` is called on Shift+Enter, `leave` on Escape. */
export function openEditor(parent, text, run, leave) {
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
        EditorView.contentAttributes.of({
          "aria-label": "Python code. Escape leaves the editor, Shift+Enter runs the cell.",
        }),
      ],
    }),
  });
  view.focus();
  return { text: () => view.state.doc.toString(), close: () => view.destroy() };
}
