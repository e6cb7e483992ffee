import { Compartment, EditorState } from '@codemirror/state'
import { keymap } from '@codemirror/view'
import { basicSetup, EditorView } from 'codemirror'
import { DocumentProvider } from 'weft-server/provider'
import { yCollab, yUndoManagerKeymap } from 'y-codemirror.next'
import { IndexeddbPersistence } from 'y-indexeddb'
import { showState } from './state.js'
import './style.css'
import './editor.css'

const parameters = new URLSearchParams(location.search)
const name = parameters.get('name')
if (name) open(name)
else document.getElementById('sign-in').hidden = false

function open(name) {
  const documentId = parameters.get('document') ?? 'welcome'
  const colors = ['#f6a5a5', '#f6d6a5', '#a5f6c9', '#a5e0f6', '#b5a5f6', '#f6a5e0']
  const color = colors[Math.floor(Math.random() * colors.length)]

  const provider = new DocumentProvider({
    url: `${location.origin}/collab`,
    organizationId: 'demo',
    documentId,
    tokenUrl: `/weft/token${location.search}`,
    // y-codemirror.next shows the name at the caret.
    user: { name, color },
    offline: IndexeddbPersistence,
    // Users of one browser must not get the offline changes of each other.
    offlineName: ['weft', 'demo', documentId, name].map(encodeURIComponent).join('/'),
  })

  const text = provider.doc.getText('content')
  const access = new Compartment()
  const view = new EditorView({
    doc: text.toString(),
    extensions: [
      // This undo keeps the changes of the other users. It must be before the one of basicSetup.
      keymap.of(yUndoManagerKeymap),
      basicSetup,
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ 'aria-label': 'document' }),
      yCollab(text, provider.awareness),
      access.of(accessOf(false)),
    ],
    parent: document.getElementById('editor'),
  })

  // Without a role, the server has not yet said whether the user may write.
  provider.on('role', (_role, canWrite) => {
    view.dispatch({ effects: access.reconfigure(accessOf(canWrite)) })
  })
  showState(provider)
}

function accessOf(canWrite) {
  return [EditorView.editable.of(canWrite), EditorState.readOnly.of(!canWrite)]
}
