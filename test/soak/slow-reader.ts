import * as Y from 'yjs'
import { eventually, RawClient } from '../support/clients/clients.ts'
import { type SoakServer, startInspected } from './support/server.ts'
import { neighbours, type Typed } from './support/typing.ts'

/** What a burst did to a server whose reader has stopped, or has not. */
export interface Burst {
  readonly sentBytes: number
  /** From what the process had while everybody read the same to the most that it had then. */
  readonly growthBytes: number
  /** What it holds after it, garbage collected, more than when the reader has caught up. */
  readonly heldBytes: number
  /** People in another document meanwhile. */
  readonly neighbours: Typed
  /** Messages that the reader got, of those that were sent. */
  readonly messages: { readonly sent: number; readonly read: number }
}

export interface BurstOptions {
  readonly bytes: number
  readonly seconds: number
  readonly reader: 'stopped' | 'reading'
}

const updateBytes = 65_536
/** Of the burst, for the process to be as large as the same work makes it where all read. */
const warmShare = 0.5

/** A client that writes one value after the other to the same place: much goes by, and the document stays small. */
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
      // A writer whose connection is held up waits.
      await eventually(() => this.client.socket.bufferedAmount < 2 ** 20, undefined, 60_000)
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }
}

/** A client that keeps nothing but the document, and comes back with it like stock clients do. */
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

  /** Who has stopped for longer than two pings are apart has been hung up on. */
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

/** @throws when the reader, reading again, or somebody who reads all the time, does not get what the writer has */
export async function burst({ bytes, seconds, reader }: BurstOptions): Promise<Burst> {
  const server = await startInspected()
  try {
    const url = `${server.wsUrl}/sync/acme/burst/main?token=${await server.token()}`
    const connect = () => RawClient.connect(url)
    const writer = new Writer(await connect())
    const [slow, witness] = [new Reading(await connect()), new Reading(await connect())]
    const everybodyReads = () => eventually(() => slow.last === writer.last && witness.last === writer.last)
    const type = await neighbours(server, seconds, 2)
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
      neighbours: typed,
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
