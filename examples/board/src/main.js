import { DocumentProvider } from 'weft-server/provider'
import { Board } from './board.js'
import { watchDragging } from './dragging.js'
import { watchKeys } from './keys.js'
import { Menu } from './menu.js'
import { People } from './people.js'
import { View } from './view.js'

const parameters = new URLSearchParams(location.search)
const name = parameters.get('name') ?? `Guest ${Math.floor(Math.random() * 1000)}`
const documentId = parameters.get('board') ?? 'board'

// Our backend (server.js) creates the tokens; the browser never gets the API key.
const query = new URLSearchParams({ name, user: crypto.randomUUID() })
const { url } = await (await fetch('/settings')).json()
const provider = new DocumentProvider({
  url,
  organizationId: 'example',
  documentId,
  tokenUrl: `/weft/token?${query}`,
})
const { doc } = provider
const board = new Board(doc)
const root = document.getElementById('board')
const said = document.getElementById('said')
const say = (text) => {
  said.textContent = text
}

const people = new People(provider.awareness, name)
const view = new View(root, board, people)
const menu = new Menu(document.getElementById('menu'), board, view, say)
view.onMenu = (id) => menu.open(id)
watchKeys(root, board, view, say)
watchDragging(root, board, view, people)
people.watch(root, document.getElementById('people'), () => view.render())
doc.on('afterTransaction', () => view.render())

const status = document.getElementById('status')
const showStatus = () => {
  const { problem, synced } = provider
  status.textContent =
    problem?.action === 'stop' ? `refused: ${problem.message}` : synced ? 'synced' : provider.status
}
provider.on('status', showStatus)
provider.on('synced', (synced) => {
  if (synced) board.begin()
  showStatus()
})

document.getElementById('new-column').addEventListener('submit', (event) => {
  event.preventDefault()
  const input = event.target.elements.title
  if (input.value.trim() !== '') board.addColumn(input.value.trim())
  input.value = ''
})

// For tests and for experiments in the browser console.
window.example = { doc, provider, board }
