import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { eventually, RawClient } from '../support/clients.ts'
import { type ServerProcess, startProcess } from '../support/process.ts'
import { Random } from '../support/random-doc.ts'

const rounds = process.env.WEFT_TEST_ALL === '1' ? 50 : 6
const seed = Number(process.env.WEFT_FUZZ_SEED ?? Date.now() % 1_000_000)
const address = { organizationId: 'acme', documentId: 'crash', editorId: 'main' }

const connect = async (server: ServerProcess): Promise<RawClient> =>
  RawClient.connect(`${server.wsUrl}/sync/acme/crash/main?token=${await server.token()}`)

/** The document as a newcomer gets it. */
async function stateOf(server: ServerProcess): Promise<Y.Doc> {
  const client = await connect(server)
  await client.roundTrip()
  const doc = new Y.Doc()
  for (const update of client.offers()) Y.applyUpdate(doc, update)
  client.end()
  return doc
}

/** Types into the document, a letter a millisecond or so, until the connection is gone. */
async function write(server: ServerProcess, random: Random): Promise<void> {
  const client = await connect(server)
  await client.roundTrip()
  const doc = new Y.Doc()
  for (const update of client.offers()) Y.applyUpdate(doc, update)
  doc.on('update', (update: Uint8Array) => client.sendUpdate(update))
  const text = doc.getText('content')
  while (client.socket.readyState === client.socket.OPEN) {
    if (text.length > 0 && random.below(8) === 0) text.delete(random.below(text.length), 1)
    else text.insert(random.below(text.length + 1), String.fromCharCode(97 + random.below(26)))
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

/** Appends one line after the other by REST; the versions answered with 200 go into `acknowledged`. */
async function replace(server: ServerProcess, acknowledged: number[]): Promise<void> {
  for (;;) {
    const { data } = await server.post('/v2/crdt/get', address)
    const target = `${(data as [{ data: string }])[0].data}\n${acknowledged.length}`
    const { status, data: answer } = await server.post('/v2/crdt/update', {
      ...address,
      type: 'text',
      data: target,
    })
    if (status === 200) acknowledged.push(numberOf((answer as { version: string }).version))
  }
}

/** How many updates the log of a version holds. */
const numberOf = (version: string): number => Number(version.split('.')[1])

it(`[DUR-4] ${rounds} SIGKILLs at random moments: what a client or a 200 has shown is there afterwards (seed ${seed})`, async () => {
  const random = new Random(seed)
  const data = await mkdtemp(join(tmpdir(), 'weft-crash-'))
  let [shown, answered] = [0, 0]
  try {
    let server = await startProcess(data)
    await server.post('/v2/crdt/add', { ...address, type: 'text', data: 'start' })
    for (let round = 0; round < rounds; round++) {
      const acknowledged: number[] = []
      const reader = await connect(server)
      await reader.roundTrip()
      const running = [
        ...Array.from({ length: 4 }, () => write(server, random)),
        replace(server, acknowledged),
      ]
      const ended = Promise.allSettled(running)
      await eventually(() => reader.updates().length > 0)
      await new Promise((resolve) => setTimeout(resolve, random.below(400)))
      await server.end('SIGKILL')
      await Promise.all([ended, reader.closed])
      server = await startProcess(data)
      const kept = await stateOf(server)
      const before = kept.getText('content').toString()
      for (const update of [...reader.offers(), ...reader.updates()]) Y.applyUpdate(kept, update)
      expect(kept.store.pendingStructs).toBeNull()
      expect(kept.getText('content').toString(), `round ${round}, seed ${seed}`).toBe(before)
      const [{ version }] = (await server.post('/v2/crdt/get', address)).data as [{ version: string }]
      expect(numberOf(version), `round ${round}, seed ${seed}`).toBeGreaterThanOrEqual(
        Math.max(0, ...acknowledged),
      )
      shown += reader.updates().length
      answered += acknowledged.length
    }
    await server.end('SIGKILL')
    expect(shown).toBeGreaterThan(rounds)
    expect(answered).toBeGreaterThan(0)
  } finally {
    await rm(data, { recursive: true, force: true })
  }
}, 300_000)
