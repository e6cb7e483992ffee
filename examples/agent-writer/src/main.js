import { Editor } from '@tiptap/core'
import { Collaboration } from '@tiptap/extension-collaboration'
import { CollaborationCaret } from '@tiptap/extension-collaboration-caret'
import { StarterKit } from '@tiptap/starter-kit'
import { DocumentProvider } from 'weft-server/provider'

const parameters = new URLSearchParams(location.search)
const name = parameters.get('name') ?? `Guest ${Math.floor(Math.random() * 1000)}`
const documentId = parameters.get('document') ?? 'essay'
const colors = ['#f6a5a5', '#f6d6a5', '#d5f6a5', '#a5f6c9', '#a5e0f6', '#b5a5f6', '#f6a5e0']
const color = colors[Math.floor(Math.random() * colors.length)]
const at = (id) => document.getElementById(id)

const userId = sessionStorage.getItem('user') ?? crypto.randomUUID()
sessionStorage.setItem('user', userId)
const visitor = new URLSearchParams({ name, user: userId })
const { url } = await (await fetch('/settings')).json()

const provider = new DocumentProvider({
  url,
  organizationId: 'example',
  documentId,
  tokenUrl: `/weft/token?${visitor}`,
  user: { color },
})
const editor = new Editor({
  element: at('editor'),
  extensions: [
    // Collaboration has its own undo. It keeps the text of other users and of the writer.
    StarterKit.configure({ undoRedo: false }),
    Collaboration.configure({ document: provider.doc }),
    // Draws the caret of the writer like those of users.
    CollaborationCaret.configure({ provider, user: { name, color } }),
  ],
  editable: false,
})
provider.on('role', (_role, canWrite) => editor.setEditable(canWrite))

function showStatus() {
  const { status, saved } = provider
  at('status').textContent = status === 'connected' ? (saved ? 'saved' : 'saving') : status
}
provider.on('status', showStatus)
provider.on('saved', showStatus)

provider.awareness.on('change', () => {
  const chips = [...provider.awareness.getStates().values()].map(({ user }) => {
    const chip = document.createElement('span')
    chip.textContent = `${user?.name ?? '?'}${user?.kind === 'agent' ? ' · agent' : ''}`
    chip.style.background = user?.color ?? '#ddd'
    return chip
  })
  at('people').replaceChildren(...chips)
})

/** Calls our backend (server.js), which has the API key and the token of the writer. */
async function backend(path, data) {
  const response = await fetch(`${path}?${visitor}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ documentId, ...data }),
  })
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.error)
  return answer
}

const outcomes = { done: 'The section is complete.', kept: 'Stopped.', withdrawn: 'Removed.' }
const stopButtons = ['keep', 'withdraw'].map(at)
const show = (isWriting) => {
  at('write').disabled = isWriting
  for (const button of stopButtons) button.hidden = !isWriting
}

let writeId = null
for (const button of stopButtons)
  button.addEventListener('click', () => {
    void backend('/stop', { writeId, effect: button.id }).catch(report)
  })

async function write(prompt) {
  writeId = crypto.randomUUID()
  show(true)
  at('outcome').textContent = 'Writing …'
  const { outcome } = await backend('/write', { writeId, prompt })
  at('outcome').textContent = outcomes[outcome]
}
const report = ({ message }) => {
  at('outcome').textContent = message
}
at('writer').addEventListener('submit', (event) => {
  event.preventDefault()
  write(at('prompt').value)
    .catch(report)
    .finally(() => show(false))
})

// For tests and for experiments in the browser console.
window.example = { provider, editor }
