// Changes the board by REST like a CI job, while users drag cards.
//   npm run ci -- add "Build 17 failed"          adds a card to the column todo, or to the one in a third argument
//   npm run ci -- move "Build 17 failed" done    moves a card to the end of a column
import { randomUUID } from 'node:crypto'
import { readClientOptions } from 'weft-server'
import { createClient, dataOf } from 'weft-server/client'
import { between } from './src/order.js'

const weft = createClient(await readClientOptions({ dataDir: '../../data' }))

const board = {
  organizationId: 'example',
  documentId: process.env.EXAMPLE_BOARD ?? 'board',
  editorId: 'main',
  contentKey: 'cards',
}

/** Returns the present cards by id and their version; empty if the board does not exist yet. */
async function read() {
  const result = await weft.crdt.get(board)
  if (!result.ok && result.error.status === 'NOT_FOUND') return { cards: {} }
  const [{ data, version }] = dataOf(result)
  return { cards: data, baseVersion: version }
}

function lastOrder(cards, column) {
  const orders = Object.values(cards).flatMap((card) => (card.column === column ? [card.order] : []))
  return orders.sort().at(-1) ?? ''
}

/**
 * Sends the changed cards. With `baseVersion` Weft writes only the differences to the version that was read,
 * so changes that users make meanwhile stay.
 */
async function change(edit) {
  const { cards, baseVersion } = await read()
  const data = edit(cards)
  const upsert = baseVersion === undefined
  dataOf(await weft.crdt.update({ ...board, type: 'map', data, baseVersion, upsert, userId: 'ci' }))
}

const add = (title, column = 'todo') =>
  change((cards) => ({
    ...cards,
    [randomUUID()]: { title, column, order: between(lastOrder(cards, column)) },
  }))

const move = (title, column = 'done') =>
  change((cards) => {
    const [id, card] = Object.entries(cards).find((entry) => entry[1].title === title) ?? []
    if (id === undefined) throw new Error(`there is no card ${JSON.stringify(title)}`)
    return { ...cards, [id]: { ...card, column, order: between(lastOrder(cards, column)) } }
  })

const [what, title, column] = process.argv.slice(2)
const steps = { add, move }
if (!Object.hasOwn(steps, what ?? '') || !title) {
  console.error('npm run ci -- add|move "title" [column id: todo, doing, done]')
  process.exit(2)
}
await steps[what](title, column)
console.log(`CI: ${what} ${JSON.stringify(title)}`)
