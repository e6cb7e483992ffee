import * as Y from 'yjs'
import { eventually, RawClient } from '../support/clients/clients.ts'
import { type SoakServer, startInspected } from './support/server.ts'
import { neighbors, type Typed } from './support/typing.ts'

/** The effect of a burst on a server whose reader has stopped, or reads. */
export interface Burst {
  readonly sentBytes: number
  /** Growth from the memory while all clients read the same burst to the peak of this one. */
  readonly growthBytes: number
  /** Memory after garbage collection that is released when the reader has caught up. */
  readonly heldBytes: number
  /** Latencies of users in another document. */
  readonly neighbors: Typed
  /** Number of messages that were sent, and number that the reader got. */
  readonly messages: { readonly sent: number; readonly read: number }
}

export interface BurstOptions {
  readonly bytes: number
  readonly seconds: number
  readonly reader: 'stopped' | 'reading'
}

const updateBytes = 65_536
/** Share of the burst after which the process has its normal size for this work. */
const warmShare = 0.5

/** A client that writes one value after the other to the same place, so the document stays small. */
class Writer {
  readonly client: RawClient
  readonly #doc = new Y.Doc()
  sent = 0

  constructor(client: RawClient) {
    this.client = client
    this.#doc.on('update', (update: Uint8Array) => client.sendUpdate(update))
  }

  get last(): unknown {
    return this.#doc.getMap('map').get('value')
  }

  async write(bytes: number, seconds: number): Promise<void> {
    const start = performance.now()
    const count = Math.ceil(bytes / updateBytes)
    for (let written = 0; written < count; ) {
      const due = Math.min(count, Math.ceil(((performance.now() - start) / 1000 / seconds) * count))
      for (; written < due; written++)
        this.#doc.getMap('map').set('value', String(this.sent++).padEnd(updateBytes, 'x'))
      // A writer waits while its connection is paused.
      await eventually(() => this.client.socket.bufferedAmount < 2 ** 20, undefined, 60_000)
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }
}

/** A client that keeps only the document, and reconnects with it like stock clients. */
class Reading {
  readonly #doc = new Y.Doc()
  #client: RawClient
  messages = 0

  constructor(client: RawClient) {
    this.#client = client
    this.#join(client)
  }

  get last(): unknown {
    return this.#doc.getMap('map').get('value')
  }

  stop(): void {
    this.#client.socket.pause()
  }

  /** The server has closed a connection that stopped for longer than the time between two pings. */
  async goOn(connect: () => Promise<RawClient>): Promise<void> {
    const { socket } = this.#client
    socket.resume()
    if (socket.readyState === socket.OPEN) return
    this.#client = await connect()
    this.#join(this.#client)
    this.#client.sendVector(Y.encodeStateVector(this.#doc))
  }

  #join(client: RawClient): void {
    client.socket.on('message', () => this.#take(client))
  }

  #take(client: RawClient): void {
    this.messages += 1
    for (const update of [...client.offers(), ...client.updates()]) Y.applyUpdate(this.#doc, update)
    client.received.length = 0
  }
}

/**
 * @throws if the reader, after it continues, or the reader that never stops does not get the writer's last
 * value
 */
export async function burst({ bytes, seconds, reader }: BurstOptions): Promise<Burst> {
  const server = await startInspected()
  try {
    const url = `${server.wsUrl}/sync/acme/burst/main?token=${await server.token()}`
    const connect = () => RawClient.connect(url)
    const writer = new Writer(await connect())
    const [slow, witness] = [new Reading(await connect()), new Reading(await connect())]
    const everybodyReads = () => eventually(() => slow.last === writer.last && witness.last === writer.last)
    const type = await neighbors(server, seconds, 2)
    await Promise.all([type(), writer.write(bytes * warmShare, seconds * warmShare)])
    await everybodyReads()
    server.forgetPeak()
    const residentBefore = server.residentBytes()
    if (reader === 'stopped') slow.stop()
    const sent = writer.sent
    const read = slow.messages
    const [typed] = await Promise.all([type(), writer.write(bytes, seconds)])
    await eventually(() => witness.last === writer.last, undefined, 60_000)
    const growthBytes = server.peakBytes() - residentBefore
    const heldBytes = await heldBytesOf(server)
    await eventually(
      async () => {
        if (slow.last !== writer.last) await slow.goOn(connect)
        return slow.last === writer.last
      },
      undefined,
      60_000,
    )
    return {
      sentBytes: bytes,
      growthBytes,
      heldBytes: heldBytes - (await heldBytesOf(server)),
      neighbors: typed,
      messages: { sent: writer.sent - sent, read: slow.messages - read },
    }
  } finally {
    await server.stop()
  }
}

async function heldBytesOf({ inspector }: SoakServer): Promise<number> {
  const { usedBytes, bufferBytes } = await inspector.heap()
  return usedBytes + bufferBytes
}
