import { setTimeout as sleep } from 'node:timers/promises'
import type { NatsConnection } from '@nats-io/transport-node'
import { errorMessage } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { EngineOpenError } from '../engine.ts'
import { connectToAny, NatsRejectedError, type NatsSettings } from './settings.ts'

/** Delays between attempts to connect, in ms: the first one and the longest. */
const pauseMs = { first: 50, longest: 5_000 }
/** Limit of bytes that are sent and not yet confirmed by the server; beyond it, messages are dropped. */
const unconfirmedBytesMax = 16 * 2 ** 20
/** Number of sent bytes after which the node requests a confirmation from the server. */
const confirmEveryBytes = 256 * 1024

export interface NatsConnectionEvents {
  /** A connection exists; nothing has been subscribed on it yet. */
  readonly up: (connection: NatsConnection) => void
  /** The server reports an error and keeps the connection. */
  readonly trouble: () => void
  /** A message that was accepted was not sent. */
  readonly dropped: () => void
}

interface Outgoing {
  readonly subject: string
  readonly bytes: Uint8Array
  readonly reply: string | undefined
}

/**
 * One connection to NATS, which reconnects until it is closed. Messages are dropped while it is disconnected.
 */
export class BusConnection {
  readonly #settings: NatsSettings
  readonly #log: Log | undefined
  readonly #events: NatsConnectionEvents
  readonly #stop = new AbortController()
  /** Resolves of calls that wait for the server, which may disconnect before it answers. */
  readonly #waiting = new Set<() => void>()
  /** The messages of this tick, which are sent in one write. */
  #outgoing: Outgoing[] = []
  #connection: NatsConnection | null = null
  #state: 'new' | 'up' | 'away' = 'new'
  #unconfirmed = 0
  #unasked = 0
  #isAsking = false
  #keeping: Promise<void> = Promise.resolve()

  private constructor(settings: NatsSettings, log: Log | undefined, events: NatsConnectionEvents) {
    this.#settings = settings
    this.#log = log
    this.#events = events
  }

  /**
   * Waits for the first attempt. Retries a server that is unreachable, but not one that rejects the client.
   * @throws EngineOpenError
   */
  static async open(
    settings: NatsSettings,
    log: Log | undefined,
    events: NatsConnectionEvents,
  ): Promise<BusConnection> {
    const link = new BusConnection(settings, log, events)
    const first = await link.#connect()
    link.#keeping = link.#keep(first)
    return link
  }

  get connection(): NatsConnection | null {
    return this.#connection
  }

  /** Maximum size of a message that the server accepts, in bytes; null while disconnected. */
  get bytesMax(): number | null {
    return this.#connection?.info?.max_payload ?? null
  }

  /** Sends a message. Returns false if it was dropped. */
  send(subject: string, bytes: Uint8Array, reply?: string): boolean {
    if (this.#connection === null || this.#unconfirmed + bytes.length > unconfirmedBytesMax) return false
    if (this.#outgoing.push({ subject, bytes, reply }) === 1) setImmediate(() => this.#sendAll())
    this.#unconfirmed += bytes.length
    this.#unasked += bytes.length
    return true
  }

  #sendAll(): void {
    const outgoing = this.#outgoing
    this.#outgoing = []
    for (const { subject, bytes, reply } of outgoing) {
      try {
        if (this.#connection === null) return this.#events.dropped()
        this.#connection.publish(subject, bytes, reply === undefined ? {} : { reply })
      } catch {
        // The connection is about to end; the status reports that in a moment.
        return this.#events.dropped()
      }
    }
    if (this.#unasked > confirmEveryBytes) this.#confirm()
  }

  /** Resolves when the server has processed everything sent so far, or is disconnected. */
  flush(): Promise<void> {
    this.#sendAll()
    const connection = this.#connection
    if (connection === null) return Promise.resolve()
    return new Promise((resolve) => {
      const end = (): void => {
        this.#waiting.delete(end)
        resolve()
      }
      this.#waiting.add(end)
      connection.flush().then(end, end)
    })
  }

  #confirm(): void {
    if (this.#isAsking) return
    const [connection, asked] = [this.#connection, this.#unasked]
    this.#isAsking = true
    this.#unasked = 0
    void this.flush().then(() => {
      if (connection !== this.#connection) return
      this.#isAsking = false
      this.#unconfirmed -= asked
      if (this.#unasked > confirmEveryBytes) this.#confirm()
    })
  }

  async #keep(first: NatsConnection | null): Promise<void> {
    let [connection, pause] = [first, pauseMs.first]
    while (!this.#stop.signal.aborted) {
      if (connection !== null) {
        pause = pauseMs.first
        await this.#serve(connection)
      }
      const signal = this.#stop.signal
      // Jitter, so that not all nodes connect at the same moment.
      await sleep(pause * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => undefined)
      pause = Math.min(2 * pause, pauseMs.longest)
      connection = signal.aborted ? null : await this.#connect().catch(() => null)
    }
    await connection?.close()
  }

  /** Returns null if no server is reachable. @throws EngineOpenError if a server rejects the client */
  async #connect(): Promise<NatsConnection | null> {
    try {
      return await connectToAny(this.#settings)
    } catch (error) {
      this.#away(error)
      if (!(error instanceof NatsRejectedError)) return null
      throw new EngineOpenError('failed', error.message, { cause: error })
    }
  }

  /** Resolves when the connection has ended. */
  async #serve(connection: NatsConnection): Promise<void> {
    this.#connection = connection
    ;[this.#unconfirmed, this.#unasked, this.#isAsking] = [0, 0, false]
    if (this.#state === 'away')
      this.#log?.info({ server: connection.getServer() }, 'the bus is available again')
    this.#state = 'up'
    this.#events.up(connection)
    if (this.#stop.signal.aborted) await connection.close()
    const watching = this.#watch(connection)
    const reason = await connection.closed()
    this.#connection = null
    for (const end of this.#waiting) end()
    await watching
    if (!this.#stop.signal.aborted) this.#away(reason ?? new Error('the connection has ended'))
  }

  async #watch(connection: NatsConnection): Promise<void> {
    for await (const status of connection.status()) {
      if (status.type === 'error') {
        this.#log?.error({ reason: errorMessage(status.error) }, 'the bus rejected an operation')
        this.#events.trouble()
      }
    }
  }

  /** Logged once for each outage. */
  #away(error: unknown): void {
    if (this.#state === 'away') return
    this.#state = 'away'
    this.#log?.warn(
      { reason: errorMessage(error) },
      'the bus is not available; changes of other nodes arrive through the store only',
    )
  }

  async close(): Promise<void> {
    const connection = this.#connection
    if (connection !== null)
      await Promise.race([this.flush(), sleep(closingMsMax, undefined, { ref: false })])
    this.#stop.abort()
    if (connection === null) return
    await connection.close()
    await this.#keeping
  }
}

/** How long the server may take to accept the remaining messages, in ms. */
const closingMsMax = 1_000
