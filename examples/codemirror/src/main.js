import { EditorState } from '@codemirror/state'
import { keymap } from '@codemirror/view'
import { basicSetup, EditorView } from 'codemirror'
import { yCollab, yUndoManagerKeymap } from 'y-codemirror.next'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'
import { forget, keepOffline, watchForAnother } from './offline.js'
import { watchSaved } from './saved.js'

const parameters = new URLSearchParams(location.search)
const name = parameters.get('name') ?? `Guest ${Math.floor(Math.random() * 1000)}`
const room = parameters.get('room') ?? 'example/welcome/main'
const colors = ['#f6a5a5', '#f6d6a5', '#d5f6a5', '#a5f6c9', '#a5e0f6', '#b5a5f6', '#f6a5e0']
const at = (id) => document.getElementById(id)
const [organizationId, documentId, editorId] = room.split('/').map(decodeURIComponent)
const visitor = new URLSearchParams({ name, user: crypto.randomUUID() })
const retryMs = 2000

// The class of sockets comes from Weft, with the address. It uses HTTP behind proxies that reject websockets.
let WeftSocket
function Socket(url, protocols) {
  return new WeftSocket(url, protocols)
}

const doc = new Y.Doc()
// The address comes with the token. Other windows of this browser sync over the server also: directly they
// would get kept content before it is known to belong to the same document.
const provider = new WebsocketProvider('', room, doc, {
  connect: false,
  disableBc: true,
  WebSocketPolyfill: Socket,
  params: { saved: '1', renew: '1' },
})
const { awareness } = provider
awareness.setLocalStateField('user', { name, color: colors[doc.clientID % colors.length] })

let [isSaved, hasTried, edits] = [true, false, 0]
watchSaved(provider, async (now) => {
  // "saved" also means that a later load of this page knows what the server has.
  const edit = ++edits
  isSaved = false
  if (now) {
    await known.saved()
    isSaved = edit === edits
  }
  showState()
})
const kept = await keepOffline(`weft/${room}`, doc)
const known = await watchForAnother(provider, kept, () =>
  askToForget('The document was deleted and created again. This browser still has the old one.'),
)

function showState() {
  const [state, text] = provider.synced
    ? isSaved
      ? ['saved', 'saved']
      : ['saving', 'saving']
    : hasTried
      ? ['offline', 'offline: kept in this browser']
      : ['connecting', 'connecting']
  at('status').textContent = text
  at('status').dataset.state = state
}

/** The content of this browser cannot be sent, and may be the only copy. Ask before it is deleted. */
function askToForget(why) {
  at('why').textContent = why
  at('notice').hidden = false
}
at('forget').addEventListener('click', () => void forget(kept).then(() => location.reload()))

// Our backend (server.js) creates a token; the browser never gets the API key.
async function connect() {
  try {
    const { url } = await (await fetch('/settings')).json()
    const response = await fetch(`/weft/token?${visitor}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ organizationId, documentId, editorId }),
    })
    if (!response.ok) throw new Error(await response.text())
    WeftSocket ??= (await import(`${url}/client/weft-socket.js`)).default
    provider.serverUrl = `${url.replace(/^http/, 'ws')}/sync`
    provider.params.token = (await response.json()).token
    provider.connect()
  } catch {
    hasTried = true
    showState()
    setTimeout(() => void connect(), retryMs)
  }
}

for (const event of ['sync', 'connection-error', 'connection-close'])
  provider.on(event, () => {
    hasTried = true
    showState()
  })
provider.on('closed', ({ code, reason }) => {
  // An offline time may be longer than the token is valid.
  if (code === 4401) setTimeout(() => void connect(), retryMs)
  else askToForget(`The server closed the connection: ${reason}. This browser still has its copy.`)
})

const text = doc.getText('content')
const view = new EditorView({
  state: EditorState.create({
    doc: text.toString(),
    extensions: [
      // This undo keeps the changes of the other users. It must be before the one of basicSetup.
      keymap.of(yUndoManagerKeymap),
      basicSetup,
      EditorView.lineWrapping,
      yCollab(text, awareness),
    ],
  }),
  parent: at('editor'),
})

awareness.on('change', () => {
  const chips = [...awareness.getStates().values()].map(({ user }) => {
    const chip = document.createElement('span')
    chip.textContent = user?.name ?? '?'
    chip.style.background = user?.color ?? '#ddd'
    return chip
  })
  at('people').replaceChildren(...chips)
})

void connect()

// For tests and for experiments in the browser console.
window.example = { doc, provider, view, text, loadedAt: performance.timeOrigin }
