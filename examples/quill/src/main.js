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

// Our backend (server.js) requests a token of Weft; the browser never gets the API key.
const asked = await fetch(`/token?name=${encodeURIComponent(name)}&room=${encodeURIComponent(room)}`)
const { token, syncUrl } = await asked.json()

const doc = new Y.Doc()
const provider = new WebsocketProvider(syncUrl, room, doc, { params: { token } })
const { awareness } = provider
awareness.setLocalStateField('user', { name, color: colors[doc.clientID % colors.length] })

Quill.register('modules/cursors', QuillCursors)
const quill = new Quill('#editor', {
  theme: 'snow',
  placeholder: 'Write together …',
  readOnly: true,
  modules: {
    cursors: { transformOnTextChange: true },
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
  const headers = { 'content-type': 'application/json' }
  const response = await fetch('/report', { method: 'POST', headers, body: JSON.stringify({ room }) })
  if (!response.ok) return show(await response.text())
  const { insertions, deletions } = await response.json()
  at('written').textContent = `the backend wrote ${insertions} characters, and took ${deletions}`
}
at('report').addEventListener('click', () => void report())

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
