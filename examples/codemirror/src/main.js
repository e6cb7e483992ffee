import { EditorState } from '@codemirror/state'
import { basicSetup, EditorView } from 'codemirror'
import { yCollab } from 'y-codemirror.next'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'
import { watchSaved } from './saved.js'

const parameters = new URLSearchParams(location.search)
const name = parameters.get('name') ?? `Guest ${Math.floor(Math.random() * 1000)}`
const room = parameters.get('room') ?? 'example/welcome/main'
const colors = ['#f6a5a5', '#f6d6a5', '#d5f6a5', '#a5f6c9', '#a5e0f6', '#b5a5f6', '#f6a5e0']

// Our backend (server.js) asks Weft for a token; the browser never sees the API key.
const { token, syncUrl } = await (await fetch(`/token?name=${encodeURIComponent(name)}`)).json()

const doc = new Y.Doc()
const provider = new WebsocketProvider(syncUrl, room, doc, { params: { token, saved: '1' } })
const { awareness } = provider
awareness.setLocalStateField('user', { name, color: colors[doc.clientID % colors.length] })

const text = doc.getText('content')
const view = new EditorView({
  state: EditorState.create({
    doc: text.toString(),
    extensions: [basicSetup, EditorView.lineWrapping, yCollab(text, awareness)],
  }),
  parent: document.getElementById('editor'),
})

const status = document.getElementById('status')
const show = (state) => {
  status.textContent = state
}
provider.on('status', (event) => show(event.status))
provider.on('sync', (synced) => synced && show('synced'))
watchSaved(provider, (isSaved) => show(isSaved ? 'saved' : 'saving'))
provider.on('closed', (event) => show(`refused: ${event.reason}`))

const people = document.getElementById('people')
awareness.on('change', () => {
  const chips = [...awareness.getStates().values()].map(({ user }) => {
    const chip = document.createElement('span')
    chip.textContent = user?.name ?? '?'
    chip.style.background = user?.color ?? '#ccc'
    return chip
  })
  people.replaceChildren(...chips)
})

// For tests and the curious: what this page holds.
window.example = { doc, provider, view, text, loadedAt: performance.timeOrigin }
