import * as Y from 'yjs'
import { eventually, RawClient } from '../../support/clients/clients.ts'

/** What a process of its own is to do over and over, until it is told to stop. */
export interface NoiseOrder {
  readonly kind: 'loading' | 'replacing' | 'flooding'
  /** Such as `ws://127.0.0.1:54321/sync/acme/large/main?token=…`. */
  readonly socketUrl: string
  readonly restUrl: string
  readonly headers: Readonly<Record<string, string>>
  /** Two bodies of a replacement, which take turns. */
  readonly bodies: readonly string[]
}

/** Flooding goes on until so much is unsent: then the server holds the client up. */
const unsentBytesMax = 2 ** 20
const timeoutMs = 60_000
const updatesAtOnce = 100

let done = 0
const going = { on: true }

process.on('message', (message: NoiseOrder | 'stop') => {
  if (message === 'stop') going.on = false
  else void makeNoise(message).catch(fail)
})

function fail(error: unknown): void {
  console.error(error)
  process.exit(1)
}

/** Tells how often it did so when it has stopped. */
async function makeNoise(order: NoiseOrder): Promise<void> {
  const once =
    order.kind === 'flooding' ? await flooder(order) : { loading: load, replacing: replace }[order.kind]
  while (going.on) {
    done += await once(order)
    if (done <= updatesAtOnce) process.send?.('begun')
  }
  process.send?.(done, () => process.exit(0))
}

/** Opens the document as a newcomer, and leaves; it is closed then. */
async function load({ socketUrl }: NoiseOrder): Promise<number> {
  const client = await RawClient.connect(socketUrl)
  client.sendVector(Uint8Array.of(0))
  await eventually(() => client.offers().length > 0, undefined, timeoutMs)
  client.socket.close()
  await client.closed
  return 1
}

async function replace({ restUrl, headers, bodies }: NoiseOrder): Promise<number> {
  const body = bodies[done % bodies.length] as string
  const response = await fetch(restUrl, { method: 'POST', headers, body })
  if (!response.ok) throw new Error(await response.text())
  await response.arrayBuffer()
  return 1
}

/** Small updates, as fast as the server takes them. */
async function flooder({ socketUrl }: NoiseOrder): Promise<() => Promise<number>> {
  const client = await RawClient.connect(socketUrl)
  const doc = new Y.Doc()
  doc.on('update', (update: Uint8Array) => client.sendUpdate(update))
  return async () => {
    for (let count = 0; count < updatesAtOnce; count++) doc.getMap('map').set('key', done + count)
    await eventually(() => client.socket.bufferedAmount < unsentBytesMax, undefined, timeoutMs)
    await new Promise((resolve) => setImmediate(resolve))
    return updatesAtOnce
  }
}
