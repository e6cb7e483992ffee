import { baseKeymap, chainCommands, exitCode, setBlockType, toggleMark } from 'prosemirror-commands'
import { inputRules, textblockTypeInputRule, wrappingInputRule } from 'prosemirror-inputrules'
import { keymap } from 'prosemirror-keymap'
import { type NodeSpec, type NodeType, Schema } from 'prosemirror-model'
import { marks, nodes } from 'prosemirror-schema-basic'
import { bulletList, liftListItem, listItem, splitListItem, wrapInList } from 'prosemirror-schema-list'
import { type Command, EditorState } from 'prosemirror-state'
import { EditorView } from 'prosemirror-view'
import { redo, undo, yCursorPlugin, ySyncPlugin, yUndoPlugin } from 'y-prosemirror'
import type { Awareness } from 'y-protocols/awareness'
import type * as Y from 'yjs'
import { colorClass } from './participant.ts'

/**
 * Returns the level of a heading; at least 2, because the page has the heading of level 1. The attribute may
 * be a text if REST has written it.
 */
const levelOf = (level: unknown): number => Math.min(6, Math.max(2, Number(level) || 2))

/**
 * Heading that accepts any value as its level. The heading of the basic schema accepts only numbers. The
 * binding removes content that the schema rejects.
 */
const headingSpec: NodeSpec = {
  ...nodes.heading,
  attrs: { level: { default: 2 } },
  toDOM: ({ attrs: { level } }) => [`h${levelOf(level)}`, 0],
}

/** Schema of the editor. It contains only nodes and marks that the toolbar can create. */
const schema = new Schema({
  nodes: {
    doc: nodes.doc,
    paragraph: nodes.paragraph,
    heading: headingSpec,
    bullet_list: { ...bulletList, content: 'list_item+', group: 'block' },
    list_item: { ...listItem, content: 'paragraph block*' },
    text: nodes.text,
    hard_break: nodes.hard_break,
  },
  marks: { em: marks.em, strong: marks.strong },
})

const { paragraph, heading, bullet_list, list_item, hard_break } = schema.nodes
const { strong, em } = schema.marks

/** Level of headings that the toolbar creates. Level 1 is the heading of the page. */
const level = 2

const isIn = (state: EditorState, type: NodeType): boolean => {
  const { $from } = state.selection
  for (let depth = $from.depth; depth > 0; depth -= 1) if ($from.node(depth).type === type) return true
  return false
}

const hasMark = (state: EditorState, type: typeof strong): boolean => {
  const { from, to, $from, empty } = state.selection
  if (empty) return type.isInSet(state.storedMarks ?? $from.marks()) !== undefined
  return state.doc.rangeHasMark(from, to, type)
}

const toggleHeading: Command = (state, ...rest) =>
  (isIn(state, heading) ? setBlockType(paragraph) : setBlockType(heading, { level }))(state, ...rest)

const toggleList: Command = (state, ...rest) =>
  (isIn(state, bullet_list) ? liftListItem(list_item) : wrapInList(bullet_list))(state, ...rest)

const breakLine: Command = chainCommands(exitCode, (state, dispatch) => {
  dispatch?.(state.tr.replaceSelectionWith(hard_break.create()).scrollIntoView())
  return true
})

export interface Tool {
  readonly name: string
  /** Key combination in the notation of ProseMirror's keymaps. */
  readonly key: string
  readonly command: Command
  /** Returns whether the command is active at the cursor. Absent for a command that has no such state. */
  readonly isOn?: (state: EditorState) => boolean
}

/** All tools in the order of the toolbar. */
export const tools: readonly Tool[] = [
  { name: 'Bold', key: 'Mod-b', command: toggleMark(strong), isOn: (state) => hasMark(state, strong) },
  { name: 'Italic', key: 'Mod-i', command: toggleMark(em), isOn: (state) => hasMark(state, em) },
  { name: 'Heading', key: 'Mod-Alt-2', command: toggleHeading, isOn: (state) => isIn(state, heading) },
  { name: 'List', key: 'Mod-Shift-8', command: toggleList, isOn: (state) => isIn(state, bullet_list) },
  { name: 'Undo', key: 'Mod-z', command: undo },
  { name: 'Redo', key: 'Mod-y', command: redo },
]

interface User {
  readonly name: string
}

/**
 * Returns the element that shows the cursor of another user. Its color is a CSS class, because the content
 * security policy forbids style attributes.
 */
function caretOf({ name }: User, clientId: number): HTMLElement {
  const caret = document.createElement('span')
  caret.className = `caret ${colorClass(clientId)}`
  const label = document.createElement('span')
  label.className = 'caret-name'
  label.textContent = name
  // The word joiners (U+2060) prevent a line break at the cursor.
  caret.append('\u2060', label, '\u2060')
  return caret
}

const selectionOf = (_user: User, clientId: number) => ({ class: `chosen ${colorClass(clientId)}` })

/**
 * Opens an editor for a shared text. @param onChange called after each transaction, because it may change the
 * toolbar
 */
export function openEditor(
  place: HTMLElement,
  { text, awareness, onChange }: { text: Y.XmlFragment; awareness: Awareness; onChange: () => void },
): EditorView {
  return new EditorView(place, {
    state: EditorState.create({
      schema,
      plugins: [
        ySyncPlugin(text),
        yCursorPlugin(awareness, { cursorBuilder: caretOf, selectionBuilder: selectionOf }),
        yUndoPlugin(),
        inputRules({
          rules: [
            textblockTypeInputRule(/^#\s$/, heading, { level: 2 }),
            wrappingInputRule(/^\s*[-*]\s$/, bullet_list),
          ],
        }),
        keymap(Object.fromEntries(tools.map(({ key, command }) => [key, command]))),
        keymap({ 'Mod-Shift-z': redo, 'Shift-Enter': breakLine, Enter: splitListItem(list_item) }),
        keymap(baseKeymap),
      ],
    }),
    attributes: { role: 'textbox', 'aria-multiline': 'true', 'aria-label': 'Shared document' },
    // Uses `this`, because the binding dispatches a transaction while the constructor of the view is still
    // running.
    dispatchTransaction(this: EditorView, transaction) {
      this.updateState(this.state.apply(transaction))
      onChange()
    },
  })
}
