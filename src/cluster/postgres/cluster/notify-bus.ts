import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase } from 'pg'
import { pauseAfter } from '../../../core/base/backoff.ts'
import { errorMessage } from '../../../core/base/errors.ts'
import type { Log } from '../../../core/base/log.ts'
import type { Bus, BusListener } from '../../../core/store/engine.ts'
import { LocalBus } from '../../../core/store/single-node.ts'
import { plainArray } from '../connection/arrays.ts'
import type { PostgresDatabase } from '../connection/database.ts'
import { type DatabaseSession, statement } from '../connection/database-session.ts'
import { type BusMessage, PartReader, payloadsOf } from './notify-parts.ts'

/** Pauses between attempts to connect, in ms. */
const pauses = { firstMs: 50, maxMs: 2_000 }
/** Time in ms without a message after which the connection is checked. */
const checkEveryMs = 2_000
/** Maximum time in ms for the answer of the database. After that time, the connection counts as lost. */
const patienceMs = 5_000
/** Limits in bytes: of one message, of the messages that wait to be sent, and of the messages of one statement. */
const bytesMax = { message: 2 ** 20, waiting: 16 * 2 ** 20, statement: 64 * 1024 }
/** Maximum number of topics with unreadable messages that are remembered. */
const failuresMax = 1_000
/** Minimum time in ms between two log entries about unreadable messages of the same topic. */
const failureEveryMs = 10_000

const notify = statement(
  'notify',
  'select count(pg_notify($1, part)) from unnest($2::text[]) part',
  patienceMs,
)

/**
 * Delays of loss notifications in ms. `first`: time from the first loss to its notification. `next`: minimum
 * time between two notifications; it is longer, because each notification makes the listeners check
 * everything.
 */
const lossPauseMs = { first: 20, next: 1_000 }

/**
 * Notifies the listeners that messages were lost. Combines losses in quick succession into one notification.
 */
class LossNotifier {
  readonly #listeners = new Set<{ readonly call: () => void }>()
  #notifiedAt = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | null = null

  listen(call: () => void): () => void {
    const listener = { call }
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  tell(): void {
    const waitMs = Math.max(lossPauseMs.first, this.#notifiedAt + lossPauseMs.next - performance.now())
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      this.#notifiedAt = performance.now()
      for (const { call } of Array.from(this.#listeners)) call()
    }, waitMs).unref()
  }

  end(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#listeners.clear()
  }
}

/**
 * Implements the bus with `LISTEN` and `NOTIFY`. The name of the schema is the channel. A bus has a connection of its
 * own, on which it sends and receives. Messages of this node reach its own listeners through a local bus, even while the
 * database is unavailable.
 *
 * PostgreSQL loses no notification of a connection. So messages are lost only while a node has no connection, or if
 * their sender could not send them. The sender then reports the loss with its next notification.
 */
export class NotifyBus implements Bus {
  readonly #local = new LocalBus()
  readonly #database: PostgresDatabase
  readonly #schema: string
  readonly #log: Log | undefined
  readonly #losses = new LossNotifier()
  readonly #id = randomBytes(9).toString('base64url')
  readonly #reader = new PartReader(this.#id, () => this.lost())
  readonly #stop = new AbortController()
  /** Times at which an unreadable message of a topic was last logged, as `performance.now` returned them. */
  readonly #failureLoggedAt = new Map<string, number>()
  #waiting: BusMessage[] = []
  #waitingBytes = 0
  /** Whether the other nodes do not know yet that messages of this node may be lost. */
  #hasLost = false
  #state: 'new' | 'up' | 'away' = 'new'
  /** Ends the wait for messages to send; null if the bus does not wait. */
  #wake: (() => void) | null = null
  #running: Promise<void> = Promise.resolve()

  private constructor(database: PostgresDatabase, schema: string, log: Log | undefined) {
    this.#database = database
    this.#schema = schema
    this.#log = log
  }

  /** Opens the bus. If the database is unavailable, resolves anyway, and retries until the bus is closed. */
  static async open(
    database: PostgresDatabase,
    { schema, log }: { readonly schema: string; readonly log: Log | undefined },
  ): Promise<NotifyBus> {
    const bus = new NotifyBus(database, schema, log)
    await new Promise<void>((opened) => {
      bus.#running = bus.#run(opened)
    })
    return bus
  }

  get isConnected(): boolean {
    return this.#state === 'up'
  }

  publish(topic: string, message: Uint8Array): void {
    if (this.#stop.signal.aborted) return
    this.#local.publish(topic, message)
    const { length } = message
    const isTooLarge = length > bytesMax.message
    if (isTooLarge) this.#log?.warn({ topic, bytes: length }, 'a message is too large for the bus')
    if (isTooLarge || !this.isConnected || this.#waitingBytes + length > bytesMax.waiting)
      this.#hasLost = true
    else {
      this.#waiting.push({ topic, message })
      this.#waitingBytes += length
    }
    this.#wake?.()
  }

  subscribe(topic: string, listener: BusListener): () => void {
    return this.#local.subscribe(topic, listener)
  }

  onLoss(listener: () => void): () => void {
    return this.#losses.listen(listener)
  }

  /** Calls the `onLoss` listeners. Call this method when messages may have been lost. */
  lost(): void {
    this.#losses.tell()
  }

  /** Sends the published messages, then stops sending and receiving. */
  async close(): Promise<void> {
    this.#stop.abort()
    this.#wake?.()
    await this.#running
    this.#losses.end()
  }

  /**
   * Keeps a connection until the bus is closed.
   * @param tried called after the first attempt to connect
   */
  async #run(tried: () => void): Promise<void> {
    for (let failures = 1; !this.#stop.signal.aborted; failures += 1) {
      try {
        await this.#database.apart(async (session, client) => {
          await this.#join(session, client)
          failures = 0
          tried()
          await this.#send(session)
        })
      } catch (error) {
        this.#away(error)
        tried()
        const pauseMs = pauseAfter(pauses, Math.max(1, failures))
        await sleep(pauseMs, undefined, { signal: this.#stop.signal }).catch(() => undefined)
      }
    }
  }

  async #join(session: DatabaseSession, client: ClientBase): Promise<void> {
    client.on('notification', ({ payload = '' }) => {
      for (const { topic, message } of this.#reader.read(payload)) this.#hear(topic, message)
    })
    client.once('end', () => this.#wake?.())
    // A message needs no durability, because a lost one is detected.
    await session.command(
      `set application_name = 'weft bus'; set synchronous_commit = off; listen "${this.#schema}"`,
    )
    if (this.#state === 'away') {
      this.#log?.info('the bus is available again')
      this.lost()
    }
    this.#state = 'up'
  }

  #away(error: unknown): void {
    if (this.#stop.signal.aborted) return
    if (this.#state !== 'away') this.#log?.warn({ reason: errorMessage(error) }, 'the bus is not available')
    this.#state = 'away'
    this.#hasLost = true
    this.#waiting = []
    this.#waitingBytes = 0
  }

  /**
   * Sends what waits until the bus is closed. While the database answers, further messages are collected. Also sends a
   * part without messages: at once, so that the others learn what this node has dropped before, and after each pause,
   * to check the connection.
   * @throws ConnectionLostError
   */
  async #send(session: DatabaseSession): Promise<void> {
    for (;;) {
      const isLast = this.#stop.signal.aborted
      const payloads = payloadsOf({ sender: this.#id, isAfterLoss: this.#hasLost, messages: this.#take() })
      this.#hasLost = false
      await session.rows(notify, [this.#schema, plainArray(payloads)])
      if (this.#waiting.length > 0 || this.#hasLost) continue
      if (isLast) return
      await this.#idle()
    }
  }

  /** Waits for the next message and the end of its tick. */
  #idle(): Promise<void> {
    if (this.#stop.signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const check = setTimeout(() => this.#wake?.(), checkEveryMs).unref()
      this.#wake = () => {
        this.#wake = null
        clearTimeout(check)
        setImmediate(resolve)
      }
    })
  }

  /** Removes and returns the messages of the next statement. */
  #take(): readonly BusMessage[] {
    let [bytes, count] = [0, 0]
    while (count < this.#waiting.length && bytes < bytesMax.statement)
      bytes += this.#waiting[count++]?.message.length ?? 0
    this.#waitingBytes -= bytes
    return this.#waiting.splice(0, count)
  }

  /**
   * Delivers a message in a microtask, as for local messages. So all received messages are read before a listener reacts
   * to one of them.
   */
  #hear(topic: string, message: Uint8Array): void {
    queueMicrotask(() => this.#local.hear(topic, message, (error) => this.#failed(topic, error)))
  }

  /** Treats a message that a listener could not read as lost. Such a message may be from another version of Weft. */
  #failed(topic: string, error: unknown): void {
    this.lost()
    const now = performance.now()
    if (now - (this.#failureLoggedAt.get(topic) ?? Number.NEGATIVE_INFINITY) < failureEveryMs) return
    if (this.#failureLoggedAt.size >= failuresMax) this.#failureLoggedAt.clear()
    this.#failureLoggedAt.set(topic, now)
    this.#log?.error({ err: error, topic }, 'could not read a message of another node')
  }
}
