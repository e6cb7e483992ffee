import { afterEach, beforeEach, expect, it } from 'vitest'
import * as Y from 'yjs'
import { isTooLargeToPredict } from '../../../src/core/rooms/document/integration-limits.ts'
import { largeUpdateBytes } from '../../../src/core/rooms/document/vet-update.ts'
import { rangesPerStep } from '../../../src/core/update/outline.ts'
import { readUpdate } from '../../../src/core/update/read-update.ts'
import { contentOf, eventually, RawClient, typed } from '../../support/clients/clients.ts'
import { block, contents, item, list, updateOf } from '../../support/data/update-builder.ts'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer

beforeEach(async () => {
  server = await startTestServer()
})

afterEach(() => server.stop())

async function connect(userId: string): Promise<RawClient> {
  const token = await server.token(userId)
  return RawClient.connect(`${server.wsUrl}/sync/acme/large/main?token=${token}`)
}

/** An update of few items with many values, which is vetted in ten slices. */
const large = (client: number): Uint8Array =>
  updateOf([
    block(
      client,
      list(10, () => item({ parent: 'values' }, contents.values(rangesPerStep))),
    ),
  ])

/** Text after `large` of the same client. */
const after = (client: number): Uint8Array =>
  updateOf([block(client, [item({ parent: 'content' }, contents.text('later'))], 10 * rangesPerStep)])

it('[ROOM-70] handles the messages after large updates in their order', async () => {
  expect(large(1).length).toBeGreaterThan(largeUpdateBytes)
  const [writer, witness] = [await connect('ada'), await connect('bob')]
  await writer.roundTrip()
  const before = writer.vectors().length
  for (const client of [1, 2]) {
    writer.sendUpdate(large(client))
    writer.sendUpdate(after(client))
  }
  await eventually(() => contentOf(witness.updates()) === 'laterlater')
  // The server requests missing updates when a message arrives too early.
  expect(writer.vectors()).toHaveLength(before)
  for (const client of [writer, witness]) client.end()
})

it('[ROOM-70] handles a large update and the messages after it when the client closes at once', async () => {
  const [writer, witness] = [await connect('ada'), await connect('bob')]
  await witness.roundTrip()
  writer.sendUpdate(large(1))
  writer.sendUpdate(after(1))
  writer.socket.close()
  await eventually(() => contentOf(witness.updates()) === 'later')
  witness.end()
})

it('[ROOM-70] integrates an update of many items on a thread also when the client closes at once', async () => {
  const [writer, witness] = [await connect('ada'), await connect('bob')]
  await witness.roundTrip()
  const doc = new Y.Doc()
  for (let n = 0; n < 4_500; n += 1) doc.getArray('list').insert(0, [n])
  const update = Y.encodeStateAsUpdate(doc)
  expect(isTooLargeToPredict(readUpdate(update))).toBe(true)
  writer.sendUpdate(update)
  writer.socket.close()
  await eventually(() => witness.updates().length > 0)
  const copy = new Y.Doc()
  for (const bytes of witness.updates()) Y.applyUpdate(copy, bytes)
  expect(copy.getArray('list').length).toBe(4_500)
  witness.end()
})

it('[ROOM-70] closes with 4400 when a later slice finds malformed bytes, without an effect of later messages', async () => {
  const [writer, witness] = [await connect('ada'), await connect('bob')]
  await witness.roundTrip()
  writer.sendUpdate(large(1).subarray(0, -3))
  writer.sendUpdate(typed('later', 77))
  expect(await writer.closed).toMatchObject({ code: 4400 })
  await witness.roundTrip()
  expect(witness.updates()).toEqual([])
  witness.end()
})
