// What a CI job does to the board by REST while people drag cards:
//   npm run ci -- add "Build 17 failed"          a new card, in the first column unless its id comes after the title
//   npm run ci -- move "Build 17 failed" done    a card to the end of a column
import { randomUUID } from 'node:crypto'
import { between } from './src/order.js'
import { call } from './weft.js'

const board = {
  organizationId: 'example',
  documentId: process.env.EXAMPLE_BOARD ?? 'board',
  editorId: 'main',
  contentKey: 'cards',
}

/** The cards as they are, by id, and which version that is; none where there has never been one. */
async function read() {
  try {
    const [{ data, version }] = await call('/v2/crdt/get', board)
    return { cards: data, baseVersion: version }
  } catch (error) {
    if (error.status === 'NOT_FOUND') return { cards: {} }
    throw error
  }
}

function lastOrder(cards, column) {
  const orders = Object.values(cards).flatMap((card) => (card.column === column ? [card.order] : []))
  return orders.sort().at(-1) ?? ''
}

/**
 * Sends the cards as they are to be. With `baseVersion` only what differs from what was read is changed: whatever people
 * have done meanwhile stays.
 */
async function change(edit) {
  const { cards, baseVersion } = await read()
  const data = edit(cards)
  await call('/v2/crdt/update', { ...board, type: 'map', data, baseVersion, upsert: true, userId: 'ci' })
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
