import { Editor } from '@tiptap/core'
import { Collaboration } from '@tiptap/extension-collaboration'
import { CollaborationCaret } from '@tiptap/extension-collaboration-caret'
import { StarterKit } from '@tiptap/starter-kit'
import { DocumentProvider } from 'weft-server/provider'
import { IndexeddbPersistence } from 'y-indexeddb'
import { showState } from './state.js'
import './style.css'
import './tiptap.css'

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
    user: { color },
    offline: IndexeddbPersistence,
    // Users of one browser must not get the offline changes of each other.
    offlineName: ['weft', 'demo', documentId, name].map(encodeURIComponent).join('/'),
  })

  const editor = new Editor({
    element: document.getElementById('editor'),
    extensions: [
      // Collaboration has its own undo, which keeps the changes of the other users.
      StarterKit.configure({ undoRedo: false }),
      Collaboration.configure({ document: provider.doc }),
      CollaborationCaret.configure({ provider, user: { name, color } }),
    ],
    editable: false,
  })

  // Without a role, the server has not yet said whether the user may write.
  provider.on('role', (_role, canWrite) => editor.setEditable(canWrite))
  showState(provider)
  showToolbar(editor)
}

function showToolbar(editor) {
  const commands = {
    Bold: () => editor.chain().focus().toggleBold().run(),
    Italic: () => editor.chain().focus().toggleItalic().run(),
    Heading: () => editor.chain().focus().toggleHeading({ level: 2 }).run(),
    List: () => editor.chain().focus().toggleBulletList().run(),
    Undo: () => editor.chain().focus().undo().run(),
  }
  const toolbar = document.createElement('div')
  toolbar.setAttribute('role', 'toolbar')
  toolbar.setAttribute('aria-label', 'format')
  document.getElementById('editor').before(toolbar)
  for (const [label, command] of Object.entries(commands)) {
    const button = document.createElement('button')
    button.type = 'button'
    button.textContent = label
    button.addEventListener('click', command)
    toolbar.append(button)
  }
}
