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

/** Styled by classes, because the content security policy forbids style attributes. */
function caretOf({ name }: User, clientId: number): HTMLElement {
  const caret = document.createElement('span')
  caret.className = `caret ${colorClass(clientId)}`
  const label = document.createElement('span')
  label.className = 'caret-name'
  label.textContent = name
  // Word joiners keep the line from breaking at the caret.
  caret.append('\u2060', label, '\u2060')
  return caret
}

const selectionOf = (_user: User, clientId: number) => ({ class: `chosen ${colorClass(clientId)}` })

const { heading, bullet_list, list_item } = schema.nodes

/** An editor of a shared text. @param onChange called after everything that may change what the toolbar shows */
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
    // The binding inserts the text while it creates the view: at that time only `this` names the view.
    dispatchTransaction(this: EditorView, transaction) {
      this.updateState(this.state.apply(transaction))
      onChange()
    },
  })
}
