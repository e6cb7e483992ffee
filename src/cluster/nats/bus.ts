import { randomBytes } from 'node:crypto'
import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node'
import type { Log } from '../../core/base/log.ts'
import type { ClusterBus } from '../../core/store/cluster-bus.ts'
import type { BusListener } from '../../core/store/engine.ts'
import { LocalBus } from '../../core/store/single-node.ts'
import { decodeFrame, encodeFrame, publisherId } from './frames.ts'
import { LossNotifier } from './loss-notifier.ts'
import { BusConnection } from './nats-connection.ts'
import { SequenceCounter, SequenceTracker } from './sequence-numbers.ts'
import type { NatsSettings } from './settings.ts'
import { subjectToken } from './subjects.ts'

export interface NatsBusOptions extends NatsSettings {
  /** Prefix of all subjects of this cluster: tokens that are separated by periods. */
  readonly prefix: string
  readonly log?: Log | undefined
}

/** A topic to which this node has subscribed. */
interface Topic {
  listeners: number
  subscription: Subscription | null
  /** Time at which an unreadable message of this topic was last logged, as `performance.now` returned it. */
  failureLoggedAt: number
}

/**
 * Delay in ms before this node notifies the other nodes of dropped messages. One notification covers all
 * messages that were dropped during the delay.
 */
const admitEveryMs = 500
/** Minimum time in ms between two log entries about unreadable messages of the same topic. */
const failureEveryMs = 10_000

/**
 * Implements the bus with core NATS. Messages of this node reach its own listeners through a local bus, even
 * while NATS is disconnected. NATS does not send these messages back to this node.
 */
export class NatsBus implements ClusterBus {
  readonly #local = new LocalBus()
  readonly #prefix: string
  readonly #log: Log | undefined
  readonly #id = publisherId(randomBytes(16))
  readonly #sent = new SequenceCounter()
  readonly #losses = new LossNotifier()
  readonly #topics = new Map<string, Topic>()
  #link: BusConnection | null = null
  #admission: NodeJS.Timeout | null = null
  /** True while the server has not confirmed all subscriptions of a new connection. */
  #isFresh = false
  #settled: Promise<void> = Promise.resolve()
  #isClosed = false

  private constructor({ prefix, log }: NatsBusOptions) {
    this.#prefix = prefix
    this.#log = log
  }

  /**
   * Opens the bus. If no server is reachable, resolves anyway, and retries until the bus is closed.
   * @throws EngineOpenError if a server rejects the client
   */
  static async open(options: NatsBusOptions): Promise<NatsBus> {
    const bus = new NatsBus(options)
    bus.#link = await BusConnection.open(options, options.log, {
      up: (connection) => bus.#join(connection),
      trouble: () => bus.lost(),
      dropped: () => bus.#admit(),
    })
    return bus
  }

  get isConnected(): boolean {
    return (this.#link?.connection ?? null) !== null
  }

  publish(topic: string, message: Uint8Array): void {
    if (this.#isClosed) return
    this.#local.publish(topic, message)
    this.#send(topic, message)
  }

  subscribe(topic: string, listener: BusListener): () => void {
    const end = this.#local.subscribe(topic, listener)
    const known = this.#topics.get(topic) ?? {
      listeners: 0,
      subscription: null,
      failureLoggedAt: Number.NEGATIVE_INFINITY,
    }
    this.#topics.set(topic, known)
    known.listeners += 1
    const connection = this.#link?.connection
    if (known.subscription === null && connection) this.#subscribe(connection, topic, known)
    let state: 'open' | 'ended' = 'open'
    return () => {
      if (state === 'ended') return
      state = 'ended'
      end()
      this.#leave(topic, known)
    }
  }

  onLoss(listener: () => void): () => void {
    return this.#losses.listen(listener)
  }

  lost(): void {
    this.#losses.tell()
  }

  flushed(): Promise<void> {
    if (this.#isFresh) this.#settled = this.#link?.flush() ?? Promise.resolve()
    this.#isFresh = false
    return this.#settled
  }

  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#admission !== null) clearTimeout(this.#admission)
    this.#losses.end()
    await this.#link?.close()
  }

  get #losing(): string {
    return `${this.#prefix}.lost`
  }

  #subjectOf(topic: string): string {
    return `${this.#prefix}.topic.${subjectToken(topic)}`
  }

  /**
   * Subscribes to all topics on a new connection. This node has missed the messages that were sent before the
   * connection. Therefore it calls the loss listeners when the server has processed the subscriptions.
   */
  #join(connection: NatsConnection): void {
    this.#listen(connection, this.#losing, () => this.lost())
    for (const [topic, known] of this.#topics) this.#subscribe(connection, topic, known)
    if (this.#link !== null) void this.flushed().then(() => this.lost())
  }

  /**
   * Subscribes to one subject.
   * @param hear called with each message; the connection reads the next message only when `hear` has
   * returned. `hear` must not throw, because an error would end the connection
   */
  #listen(connection: NatsConnection, subject: string, hear: (message: Msg) => void): Subscription {
    return connection.subscribe(subject, {
      callback: (error, message) => {
        if (error === null) hear(message)
      },
    })
  }

  #subscribe(connection: NatsConnection, topic: string, known: Topic): void {
    const received = new SequenceTracker()
    this.#isFresh = true
    known.subscription = this.#listen(connection, this.#subjectOf(topic), (message) =>
      this.#receive(topic, known, received, message),
    )
  }

  #leave(topic: string, known: Topic): void {
    known.listeners -= 1
    if (known.listeners > 0) return
    this.#topics.delete(topic)
    // If the connection has ended, its subscription has also ended, and there is nothing to unsubscribe.
    if (this.isConnected) known.subscription?.unsubscribe()
  }

  #receive(topic: string, known: Topic, received: SequenceTracker, { data }: Msg): void {
    const frame = decodeFrame(data)
    if (frame === null) return this.lost()
    const { publisher, number, previous, message } = frame
    if (!received.follows(publisher, number, previous)) this.lost()
    // Delivers the message in a microtask, as for local messages. So all received messages are read before a
    // listener reacts to one of them.
    queueMicrotask(() => this.#local.hear(topic, message, (error) => this.#failed(topic, known, error)))
  }

  /**
   * Treats a message that a listener could not read as lost. Such a message may be from another version of
   * Weft, or from any other client of NATS.
   */
  #failed(topic: string, known: Topic, error: unknown): void {
    this.lost()
    const now = performance.now()
    if (now - known.failureLoggedAt < failureEveryMs) return
    known.failureLoggedAt = now
    this.#log?.error({ err: error, topic }, 'could not read a message of another node')
  }

  #send(topic: string, message: Uint8Array): void {
    const numbers = this.#sent.next(topic)
    const frame = encodeFrame({ publisher: this.#id, ...numbers, message })
    const bytesMax = this.#link?.bytesMax ?? Number.POSITIVE_INFINITY
    if (frame.length > bytesMax) {
      this.#log?.warn({ topic, bytes: frame.length, bytesMax }, 'a message is too large for the bus')
      this.#admit()
    } else if (this.#link?.send(this.#subjectOf(topic), frame) !== true) this.#admit()
  }

  /**
   * Notifies the other nodes of dropped messages of this node. Without this notification, they would detect
   * the loss only when the next message arrives.
   */
  #admit(): void {
    this.#admission ??= setTimeout(() => {
      this.#admission = null
      if (this.#link?.send(this.#losing, Buffer.from(this.#id)) !== true) this.#admit()
    }, admitEveryMs).unref()
  }
}
