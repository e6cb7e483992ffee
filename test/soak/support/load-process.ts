import * as Y from 'yjs'
import { eventually, RawClient } from '../../support/clients/clients.ts'

/** An order for a process to repeat work until it is stopped. */
export interface NoiseOrder {
  readonly kind: 'loading' | 'replacing' | 'flooding'
  /** Such as `ws://127.0.0.1:54321/sync/acme/large/main?token=…`. */
  readonly socketUrl: string
  readonly restUrl: string
  readonly headers: Readonly<Record<string, string>>
  /** Two bodies of a replacement, used alternately. */
  readonly bodies: readonly string[]
}

/** Flooding continues up to this number of unsent bytes; then the server pauses the client. */
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

/** Repeats the work, and sends the number of repetitions when it has stopped. */
async function makeNoise(order: NoiseOrder): Promise<void> {
  const once =
    order.kind === 'flooding' ? await flooder(order) : { loading: load, replacing: replace }[order.kind]
  while (going.on) {
    done += await once(order)
    if (done <= updatesAtOnce) process.send?.('begun')
  }
  process.send?.(done, () => process.exit(0))
}

/** Opens the document as a new client and leaves, which closes the document. */
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

/** Sends small updates as fast as the server accepts them. */
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
