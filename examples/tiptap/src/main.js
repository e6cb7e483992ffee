import { HocuspocusProvider } from '@hocuspocus/provider'
import { Editor, Extension } from '@tiptap/core'
import { Collaboration } from '@tiptap/extension-collaboration'
import { CollaborationCaret } from '@tiptap/extension-collaboration-caret'
import { StarterKit } from '@tiptap/starter-kit'
import { SuggestionStore, tiptapSuggestions } from 'weft-server/suggestions'
import * as Y from 'yjs'
import { comments } from './comments.js'
import { Highlights } from './highlights.js'

const parameters = new URLSearchParams(location.search)
const name = parameters.get('name') ?? `Guest ${Math.floor(Math.random() * 1000)}`
const room = parameters.get('room') ?? 'example/welcome/main'
const isSuggesting = parameters.has('suggesting')
const colors = ['#f6a5a5', '#f6d6a5', '#d5f6a5', '#a5f6c9', '#a5e0f6', '#b5a5f6', '#f6a5e0']
const at = (id) => document.getElementById(id)

const [organizationId, documentId, editorId] = room.split('/').map(decodeURIComponent)
const userId = sessionStorage.getItem('user') ?? crypto.randomUUID()
sessionStorage.setItem('user', userId)
const visitor = new URLSearchParams({ name, user: userId, ...(isSuggesting && { suggesting: '' }) })
const { url } = await (await fetch('/settings')).json()

/** Calls our backend (server.js), which has the API key. */
async function backend(path, data = {}) {
  const response = await fetch(`${path}?${visitor}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ organizationId, documentId, editorId, ...data }),
  })
  if (!response.ok) throw new Error(await response.text())
  return response.json()
}

const suggestions = new SuggestionStore(`/weft?${visitor}`, { organizationId, documentId, editorId })
// A user who suggests edits an own branch of the editor.
const shownId = await suggestions.editorFor(isSuggesting)
const doc = new Y.Doc()
const show = (state) => {
  at('status').textContent = state
  at('status').dataset.state = state
}
const provider = new HocuspocusProvider({
  url: `${url.replace(/^http/, 'ws')}/hocuspocus`,
  name: [organizationId, documentId, shownId].map(encodeURIComponent).join('/'),
  document: doc,
  // Hocuspocus asks for a new token before each connection.
  token: async () => (await backend('/weft/token')).token,
  onSynced: () => show('synced'),
  onUnsyncedChanges: ({ number }) => show(number === 0 ? 'saved' : 'saving'),
  onDisconnect: () => show('offline'),
  onAuthenticationFailed: ({ reason }) => show(`refused: ${reason}`),
})

const editor = new Editor({
  element: at('editor'),
  extensions: [
    StarterKit.configure({ undoRedo: false }),
    Collaboration.configure({ document: doc }),
    CollaborationCaret.configure({ provider, user: { name, color: colors[doc.clientID % colors.length] } }),
    Highlights.configure({ onClick: (id) => thread.highlight(id) }),
    Extension.create(tiptapSuggestions(suggestions, shownId)),
  ],
})
suggestions.listenTo(provider)
const thread = comments({ editor, backend, at })

at('suggest').setAttribute('aria-pressed', String(isSuggesting))
at('suggest').addEventListener('click', () => {
  const next = new URLSearchParams({ ...Object.fromEntries(parameters), name })
  if (isSuggesting) next.delete('suggesting')
  else next.set('suggesting', '')
  location.search = next.toString()
})
for (const id of ['comment', 'bot']) at(id).hidden = isSuggesting

const does = {
  bold: (chain) => chain.toggleBold(),
  italic: (chain) => chain.toggleItalic(),
  heading: (chain) => chain.toggleHeading({ level: 2 }),
  bulletList: (chain) => chain.toggleBulletList(),
}
for (const button of document.querySelectorAll('[data-do]')) {
  const { do: what } = button.dataset
  button.addEventListener('click', () => does[what](editor.chain().focus()).run())
  editor.on('transaction', () => button.classList.toggle('on', editor.isActive(what)))
}

function showReport({ changes, note }) {
  const list = document.createElement('ul')
  list.append(
    ...changes.map((change) => Object.assign(document.createElement('li'), { textContent: change })),
  )
  const title = Object.assign(document.createElement('strong'), { textContent: 'Editor bot' })
  at('report').replaceChildren(title, ` ${note || 'has changed:'}`, ...(note ? [] : [list]))
  at('report').hidden = false
}
async function startBot() {
  at('bot').disabled = true
  showReport(await backend('/bot').catch(() => ({ changes: [], note: 'did not respond' })))
  at('bot').disabled = false
}
at('bot').addEventListener('click', () => void startBot())

// Events of our backend for all present users.
provider.on('stateless', ({ payload }) => {
  const { event, data } = JSON.parse(payload)
  if (event === 'comments.changed') void thread.load()
  if (event === 'bot.done') showReport(data)
  // The server drops the edits of this page, for example because the document has a newer schema.
  if (event !== 'weft.readOnly') return
  editor.setEditable(false)
  show(data.message)
})
// Events are lost while the page is disconnected.
provider.on('synced', () => void thread.load())

provider.awareness.on('change', () => {
  const chips = [...provider.awareness.getStates().values()].map(({ user }) => {
    const chip = document.createElement('span')
    chip.textContent = user?.status ? `${user.name} · ${user.status}` : (user?.name ?? '?')
    chip.style.background = user?.color ?? '#ddd'
    return chip
  })
  at('people').replaceChildren(...chips)
})

// For tests and for experiments in the browser console.
window.example = { doc, provider, editor, loadedAt: performance.timeOrigin }
