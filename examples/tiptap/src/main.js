import { HocuspocusProvider } from '@hocuspocus/provider'
import { Editor } from '@tiptap/core'
import { Collaboration } from '@tiptap/extension-collaboration'
import { CollaborationCaret } from '@tiptap/extension-collaboration-caret'
import { StarterKit } from '@tiptap/starter-kit'
import * as Y from 'yjs'

const parameters = new URLSearchParams(location.search)
const name = parameters.get('name') ?? `Guest ${Math.floor(Math.random() * 1000)}`
const room = parameters.get('room') ?? 'example/welcome/main'
const colors = ['#f6a5a5', '#f6d6a5', '#d5f6a5', '#a5f6c9', '#a5e0f6', '#b5a5f6', '#f6a5e0']

// Our backend (server.js) asks Weft for a token; the browser never sees the API key. A newer one is asked for, too.
const user = crypto.randomUUID()
const ask = async () => (await fetch(`/token?name=${encodeURIComponent(name)}&user=${user}`)).json()
const { syncUrl } = await ask()

const status = document.getElementById('status')
const doc = new Y.Doc()
const provider = new HocuspocusProvider({
  url: syncUrl,
  name: room,
  document: doc,
  token: async () => (await ask()).token,
  onSynced: () => {
    status.textContent = 'synced'
  },
  onUnsyncedChanges: ({ number }) => {
    status.textContent = number === 0 ? 'saved' : 'saving'
  },
  onAuthenticationFailed: ({ reason }) => {
    status.textContent = `refused: ${reason}`
  },
})

const editor = new Editor({
  element: document.getElementById('editor'),
  extensions: [
    StarterKit.configure({ undoRedo: false }),
    Collaboration.configure({ document: doc }),
    CollaborationCaret.configure({ provider, user: { name, color: colors[doc.clientID % colors.length] } }),
  ],
})

const people = document.getElementById('people')
provider.awareness.on('change', () => {
  const chips = [...provider.awareness.getStates().values()].map(({ user }) => {
    const chip = document.createElement('span')
    chip.textContent = user?.name ?? '?'
    chip.style.background = user?.color ?? '#ccc'
    return chip
  })
  people.replaceChildren(...chips)
})

// For tests and the curious: what this page holds.
window.example = { doc, provider, editor, loadedAt: performance.timeOrigin }
