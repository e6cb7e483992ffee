import { baseKeymap } from 'prosemirror-commands'
import { inputRules, textblockTypeInputRule, wrappingInputRule } from 'prosemirror-inputrules'
import { keymap } from 'prosemirror-keymap'
import { splitListItem } from 'prosemirror-schema-list'
import { EditorState } from 'prosemirror-state'
import { EditorView } from 'prosemirror-view'
import { redo, yCursorPlugin, ySyncPlugin, yUndoPlugin } from 'y-prosemirror'
import type { Awareness } from 'y-protocols/awareness'
import type * as Y from 'yjs'
import { colorClass } from './participant-list.ts'
import { schema } from './schema.ts'
import { breakLine, tools } from './toolbar-commands.ts'

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

const { heading, bullet_list, list_item } = schema.nodes

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
