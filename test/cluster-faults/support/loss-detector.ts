import * as decoding from 'lib0/decoding'
import * as Y from 'yjs'
import { RawClient } from '../../support/clients/clients.ts'
import type { Random } from '../../support/data/random-doc.ts'

const messageSaved = 111
/** Maximum number of unacknowledged updates: a client without acknowledgments stops typing. */
const aheadMax = 50
/** Pauses of a writer between keystrokes. */
const pauseMs = { least: 40, more: 80 }
const handshakeTimeout = 3_000

/**
 * A document whose writers keep nothing after their connection ends, so that no client restores what the
 * servers lose. Counts updates by client id; each update has one letter.
 */
export class BlindDocument {
  readonly documentId: string
  /** Acknowledged updates. */
  readonly acknowledged = new Map<number, number>()
  /** Updates that a client received, by broadcast or in an answer. */
  readonly shown = new Map<number, number>()

  constructor(documentId: string) {
    this.documentId = documentId
  }

  see(update: Uint8Array): void {
    for (const [client, clock] of Y.parseUpdateMeta(update).to) raise(this.shown, client, clock)
  }

  get updates(): number {
    return sumOf(this.acknowledged)
  }

  get shownUpdates(): number {
    return sumOf(this.shown)
  }

  /** Returns the number of acknowledged or shown updates that a state lacks. */
  lostIn(vector: ReadonlyMap<number, number>): number {
    const expected = new Map(this.acknowledged)
    for (const [client, clock] of this.shown) raise(expected, client, clock)
    return [...expected].reduce(
      (sum, [client, clock]) => sum + Math.max(0, clock - (vector.get(client) ?? 0)),
      0,
    )
  }
}

const sumOf = (counts: ReadonlyMap<number, number>): number =>
  [...counts.values()].reduce((sum, count) => sum + count, 0)

function raise(counts: Map<number, number>, client: number, count: number): void {
  counts.set(client, Math.max(count, counts.get(client) ?? 0))
}

export interface BlindOptions {
  readonly document: BlindDocument
  /** Returns the URL at the next node, with a token. */
  readonly url: (documentId: string) => string
  readonly random: Random
  readonly onClose: (code: number, reason: string) => void
}

/** Types letters over one connection after the other, each with a new client id. */
export class BlindWriter {
  readonly #options: BlindOptions
  readonly #running: Promise<void>
  #state: 'writing' | 'finishing' | 'stopped' = 'writing'
  /** The time of each letter of this connection, in ms of `performance.now()`. */
  #typedAt: number[] = []
  /** The time of the latest acknowledged letter. */
  #acknowledgedTypedAt = 0

  constructor(options: BlindOptions) {
    this.#options = options
    this.#running = this.#run()
  }

  /** Returns whether an edit made after `since` was acknowledged. */
  hasWrittenSince(since: number): boolean {
    return this.#acknowledgedTypedAt > since
  }

  /** Stops typing. Resolves when everything is acknowledged or the connection has ended. */
  async finish(): Promise<void> {
    this.#state = 'finishing'
    await this.#running
  }

  /** Stops without waiting for acknowledgments. */
  async stop(): Promise<void> {
    this.#state = 'stopped'
    await this.#running
  }

  async #run(): Promise<void> {
    const { document, url, random, onClose } = this.#options
    while (this.#state === 'writing') {
      const connecting = RawClient.connect(url(document.documentId), {}, { handshakeTimeout })
      const client = await connecting.catch(() => null)
      if (client === null) await pause(50 + random.below(100))
      else {
        await this.#visit(client)
        if (this.#state === 'writing') {
          const { code, reason } = await client.closed
          onClose(code, reason)
          await pause(random.below(100))
        }
      }
    }
  }

  async #visit(client: RawClient): Promise<void> {
    const { document, random } = this.#options
    const doc = new Y.Doc()
    const text = doc.getText('content')
    doc.on('update', (update: Uint8Array) => client.sendUpdate(update))
    this.#typedAt = []
    client.sendVector(Uint8Array.of(0))
    const isOpen = (): boolean => client.socket.readyState === client.socket.OPEN
    const acknowledged = (): number => document.acknowledged.get(doc.clientID) ?? 0
    const isDone = (): boolean => this.#state === 'finishing' && acknowledged() === text.length
    while (isOpen() && this.#state !== 'stopped' && !isDone()) {
      if (this.#state === 'writing' && text.length - acknowledged() < aheadMax) {
        this.#typedAt.push(performance.now())
        text.insert(text.length, 'x')
      }
      await pause(pauseMs.least + random.below(pauseMs.more))
      this.#take(client, doc.clientID)
    }
    if (isOpen()) client.socket.close()
    await client.closed
    this.#take(client, doc.clientID)
    doc.destroy()
  }

  #take(client: RawClient, clientId: number): void {
    const { document } = this.#options
    for (const update of [...client.updates(), ...client.offers()]) document.see(update)
    for (const [type, ...rest] of client.received.splice(0)) {
      if (type !== messageSaved) continue
      const count = decoding.readVarUint(decoding.createDecoder(Uint8Array.from(rest)))
      raise(document.acknowledged, clientId, count)
      this.#acknowledgedTypedAt = Math.max(this.#acknowledgedTypedAt, this.#typedAt[count - 1] ?? 0)
    }
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
