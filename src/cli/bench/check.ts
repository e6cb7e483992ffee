import { setTimeout as sleep } from 'node:timers/promises'
import * as Y from 'yjs'
import { during } from './cpu.ts'
import type { Scenario } from './scenario.ts'
import { type StockClient, stockClient } from './stock-client.ts'

const document = 'check'
/** Number of words that each client writes, and time in ms in which they must arrive everywhere. */
const [words, arriveMs] = [200, 10_000]

/** Waits until a condition holds. @throws Error with a message that names what does not hold */
async function eventually(what: string, holds: () => boolean): Promise<void> {
  const deadline = performance.now() + arriveMs
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(what)
    await sleep(5)
  }
}

/** Returns the content in a form that does not depend on the order in which the entries of the map arrived. */
const contentOf = ({ doc }: StockClient): string =>
  JSON.stringify([
    doc.getText('content').toJSON(),
    Object.entries(doc.getMap('map').toJSON()).toSorted(),
    doc.getArray('list').toJSON(),
  ])
const vectorOf = ({ doc }: StockClient): string => Buffer.from(Y.encodeStateVector(doc)).toString('hex')

/** Writes one word after the other, some of them at the front, so that concurrent changes meet. */
async function write({ doc }: StockClient, name: string): Promise<void> {
  const text = doc.getText('content')
  for (let index = 0; index < words; index++) {
    doc.transact(() => {
      text.insert(index % 3 === 0 ? 0 : text.length, `<${name}${index}>`)
      doc.getMap('map').set(`${name}${index % 10}`, index)
      doc.getArray<string>('list').push([`${name}${index}`])
    })
    if (index % 20 === 0) await sleep(2)
  }
}

/** @throws Error if a word is missing or exists twice */
function expectOnce(client: StockClient, names: readonly string[]): void {
  const found: readonly string[] = client.doc.getText('content').toJSON().match(/<\w+>/g) ?? []
  const expected = names.flatMap((name) => Array.from({ length: words }, (_, index) => `<${name}${index}>`))
  const missing = expected.filter((word) => !found.includes(word))
  if (missing.length > 0) throw new Error(`${missing.length} of ${expected.length} changes are lost`)
  const list = client.doc.getArray('list').length
  if (found.length > expected.length || list > expected.length)
    throw new Error(`${Math.max(found.length, list) - expected.length} changes exist twice`)
}

/**
 * Checks a server with the stock clients of its protocol, before any figure counts: two clients write at the
 * same time, and a third one connects later. All must have equal documents with each change exactly once, and
 * show each other's cursors.
 */
export const check: Scenario = {
  key: 'check',
  name: 'stock clients have equal documents',
  shows: 'Whether the server is correct. Its figures count only then.',
  needs: 'url',
  figures: {},
  async run(contender, data) {
    const server = await contender.start(data)
    const [first, second] = [stockClient(server, document), stockClient(server, document)]
    const clients = [first, second]
    const usage = await during(server, async () => {
      await Promise.all(clients.map((client) => client.synced()))
      await Promise.all([write(first, 'a'), write(second, 'b')])
      await eventually(
        'the documents of two clients are not equal',
        () => vectorOf(first) === vectorOf(second),
      )
      first.awareness.setLocalStateField('cursor', { at: 'first' })
      await eventually('a client does not see the cursor of another', () =>
        second.awareness.getStates().has(first.doc.clientID),
      )
      const third = stockClient(server, document)
      clients.push(third)
      await third.synced()
      await eventually(
        'a client that connects later has another document',
        () => vectorOf(first) === vectorOf(third),
      )
      await eventually('a client that connects later does not see the cursor of another', () =>
        third.awareness.getStates().has(first.doc.clientID),
      )
      for (const client of clients) expectOnce(client, ['a', 'b'])
      if (new Set(clients.map(contentOf)).size > 1)
        throw new Error('the contents of the clients are not equal')
    })
    for (const client of clients) client.end()
    await server.kill()
    return { figures: {}, usage }
  },
}
