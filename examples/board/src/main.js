import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'
import { Board } from './board.js'
import { watchDragging } from './dragging.js'
import { watchKeys } from './keys.js'
import { Menu } from './menu.js'
import { People } from './people.js'
import { View } from './view.js'

const parameters = new URLSearchParams(location.search)
const name = parameters.get('name') ?? `Guest ${Math.floor(Math.random() * 1000)}`
const query = new URLSearchParams({ name, board: parameters.get('board') ?? 'board' })

// Our backend (server.js) requests a token of Weft; the browser never gets the API key.
const { token, room, syncUrl } = await (await fetch(`/token?${query}`)).json()

const doc = new Y.Doc()
const provider = new WebsocketProvider(syncUrl, room, doc, { params: { token } })
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
provider.on('status', (event) => {
  status.textContent = event.status
})
provider.on('sync', (synced) => {
  if (!synced) return
  board.begin()
  status.textContent = 'synced'
})
provider.on('closed', (event) => {
  status.textContent = `refused: ${event.reason}`
})

document.getElementById('new-column').addEventListener('submit', (event) => {
  event.preventDefault()
  const input = event.target.elements.title
  if (input.value.trim() !== '') board.addColumn(input.value.trim())
  input.value = ''
})

// For tests and for experiments in the browser console.
window.example = { doc, provider, board }
