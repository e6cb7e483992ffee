import { setTimeout as sleep } from 'node:timers/promises'
import type { NatsConnection } from '@nats-io/transport-node'
import { pauseAfter } from '../../core/base/backoff.ts'
import { errorMessage } from '../../core/base/errors.ts'
import type { Log } from '../../core/base/log.ts'
import { EngineOpenError } from '../../core/store/engine.ts'
import { connectToAny, NatsRejectedError, type NatsSettings } from './settings.ts'

/** Pauses between attempts to connect. */
const pauses = { firstMs: 50, maxMs: 5_000 }
/**
 * Maximum number of bytes that are sent but not yet confirmed by the server. When this number is reached,
 * further messages are dropped.
 */
const unconfirmedBytesMax = 16 * 2 ** 20
/** Number of sent bytes after which this node requests a confirmation from the server. */
const confirmEveryBytes = 256 * 1024

interface NatsConnectionEvents {
  /** Called when a connection has been opened. It has no subscriptions yet. */
  readonly up: (connection: NatsConnection) => void
  /** Called when the server reports an error but keeps the connection. */
  readonly trouble: () => void
  /** Called when a message that `send` accepted could not be sent. */
  readonly dropped: () => void
}

interface Outgoing {
  readonly subject: string
  readonly bytes: Uint8Array
  readonly reply: string | undefined
}

/**
 * A connection to NATS that reconnects until it is closed. While it is disconnected, messages are dropped.
 */
export class BusConnection {
  readonly #settings: NatsSettings
  readonly #log: Log | undefined
  readonly #events: NatsConnectionEvents
  readonly #stop = new AbortController()
  /**
   * Functions that resolve the calls that wait for an answer of the server. They are also called when the
   * connection is lost before the answer arrives.
   */
  readonly #waiting = new Set<() => void>()
  /** The messages of this tick. They are sent in one write. */
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
   * Opens the connection. Waits for the first attempt to connect. If no server is reachable, resolves anyway
   * and repeats the attempt in the background.
   * @throws EngineOpenError if a server rejects the client; the attempt is then not repeated
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

  /** Maximum size in bytes of a message that the server accepts; null while disconnected. */
  get bytesMax(): number | null {
    return this.#connection?.info?.max_payload ?? null
  }

  /** Accepts a message for sending. Returns false if the message was dropped. */
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
        // The connection is about to end; its `closed` promise will report that.
        return this.#events.dropped()
      }
    }
    if (this.#unasked > confirmEveryBytes) this.#confirm()
  }

  /**
   * Resolves when the server has processed everything that was sent before, or when the connection is lost.
   */
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
    let [connection, failures] = [first, 0]
    while (!this.#stop.signal.aborted) {
      if (connection !== null) {
        failures = 0
        await this.#serve(connection)
      }
      const signal = this.#stop.signal
      failures += 1
      await sleep(pauseAfter(pauses, failures), undefined, { signal }).catch(() => undefined)
      connection = signal.aborted ? null : await this.#connect().catch(() => null)
    }
    await connection?.close()
  }

  /**
   * Connects to a server. Returns null if no server is reachable.
   * @throws EngineOpenError if a server rejects the client
   */
  async #connect(): Promise<NatsConnection | null> {
    try {
      return await connectToAny(this.#settings)
    } catch (error) {
      this.#away(error)
      if (!(error instanceof NatsRejectedError)) return null
      throw new EngineOpenError('failed', error.message, { cause: error })
    }
  }

  /** Uses a connection until the connection ends. */
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

  /** Logs an outage when it begins, and not again while it lasts. */
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

/** Maximum time in ms for which closing waits until the server has accepted the remaining messages. */
const closingMsMax = 1_000
