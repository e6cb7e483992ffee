import Quill from 'quill'
import QuillCursors from 'quill-cursors'
import { QuillBinding } from 'y-quill'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'
import 'quill/dist/quill.snow.css'

const parameters = new URLSearchParams(location.search)
const name = parameters.get('name') ?? `Guest ${Math.floor(Math.random() * 1000)}`
const room = parameters.get('room') ?? 'example/report/main'
const colors = ['#d33682', '#cb4b16', '#4d8000', '#00806f', '#1a6fb4', '#6c5ce7', '#a0307a']
const at = (id) => document.getElementById(id)

const [organizationId, documentId, editorId] = room.split('/').map(decodeURIComponent)
const address = JSON.stringify({ organizationId, documentId, editorId })

/** Calls our backend (server.js), which has the API key. */
async function backend(path) {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(path, { method: 'POST', headers, body: address })
  if (!response.ok) throw new Error(await response.text())
  return response.json()
}
const { url } = await (await fetch('/settings')).json()
const visitor = new URLSearchParams({ name, user: crypto.randomUUID() })
const { token } = await backend(`/weft/token?${visitor}`)

const doc = new Y.Doc()
const provider = new WebsocketProvider(`${url.replace(/^http/, 'ws')}/sync`, room, doc, { params: { token } })
const { awareness } = provider
awareness.setLocalStateField('user', { name, color: colors[doc.clientID % colors.length] })

Quill.register('modules/cursors', QuillCursors)
const quill = new Quill('#editor', {
  theme: 'snow',
  placeholder: 'Write together …',
  readOnly: true,
  modules: {
    // y-quill moves the cursors of other users when the text changes.
    cursors: true,
    toolbar: [
      [{ header: [1, 2, false] }],
      ['bold', 'italic', 'link'],
      [{ list: 'ordered' }, { list: 'bullet' }],
    ],
    // Undo must not revert changes of other users and of the backend.
    history: { userOnly: true },
  },
})

const text = doc.getText('content')
let binding = null
// Not earlier: Quill shows its own line break while there is no text.
provider.once('synced', () => {
  binding = new QuillBinding(text, quill, awareness)
  quill.enable()
})

const show = (state) => {
  at('status').textContent = state
}
provider.on('status', ({ status }) => show(status))
provider.on('sync', (synced) => synced && show('synced'))
provider.on('closed', ({ reason }) => show(`refused: ${reason}`))

async function report() {
  const { insertions, deletions } = await backend('/report')
  at('written').textContent = `the backend wrote ${insertions} characters, and took ${deletions}`
}
at('report').addEventListener('click', () => void report().catch(({ message }) => show(message)))

awareness.on('change', () => {
  const chips = [...awareness.getStates().values()].map(({ user }) => {
    const chip = document.createElement('span')
    chip.textContent = user?.name ?? '?'
    chip.style.background = user?.color ?? '#777'
    return chip
  })
  at('people').replaceChildren(...chips)
})

// For tests and for experiments in the browser console.
window.example = { doc, provider, quill, text, binding: () => binding, loadedAt: performance.timeOrigin }
