import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { bucketOf } from '../../store/buckets.ts'
import type { Engine, Key, LogHead } from '../../store/engine.ts'
import { keyName } from '../../store/key-encoding.ts'
import type { Commits } from '../log/commits.ts'
import { decodeMessage, encodeMessage, type ReplicaMessage } from './replica-messages.ts'

/** An open document to whose log other nodes may append. */
interface ReplicatedRoom {
  readonly doc: Key
  readonly commits: Pick<Commits, 'durableTo' | 'differs' | 'catchUp'>
  readonly replica: { receive(message: ReplicaMessage): void }
}

type RoomIndex = ReadonlyMap<string, { readonly room: ReplicatedRoom }>

/** A room whose replica differed from the head of its log in a comparison. */
interface Behind {
  readonly room: ReplicatedRoom
  readonly head: LogHead | null
  /** Value of `durableTo` before the head was read. */
  readonly had: number
}

/**
 * Minimum and maximum milliseconds between two comparisons of all replicas with their logs; the pause is
 * chosen at random. The comparisons find appends whose notices the bus has lost.
 */
const compareEveryMs = { min: 2_000, max: 4_000 }
/**
 * Number of heads in one read, and milliseconds of pause after each read. This limits a comparison to 10,000
 * heads per second.
 */
const compared = { together: 500, pauseMs: 50 }
/**
 * Milliseconds between a comparison and the reads of the logs that differ. Most differences disappear in this
 * time, because the notices of the appends are already being sent.
 */
const onItsWayMs = 500
/**
 * Maximum random delay in milliseconds before the comparison that follows a message loss. All nodes notice
 * the loss, and they must not all read the heads simultaneously.
 */
const afterLossMs = 250
type ComparisonState =
  /** No comparisons: the logs have one writer, or the object is closed. */
  | { readonly is: 'off' }
  | { readonly is: 'waiting'; readonly cancel: () => void }
  /**
   * `again`: a message was lost during the comparison. Its document may already have been compared, so
   * another comparison must follow.
   */
  | { readonly is: 'comparing'; readonly again: boolean }

/**
 * Maximum number of messages that are kept for a document while it is being opened. If more arrive, the
 * opened room reads the log instead.
 */
const keptNewsMax = 64

/** Returns the topic for the messages about a document. All documents in the same bucket use the same topic. */
const topicOf = (doc: Key): string => `document/${bucketOf(doc)}`

/**
 * Keeps the replicas of each document equal on all nodes. Sends the messages of the rooms of this node to the
 * other nodes, and passes the messages of other nodes to the rooms. Regularly compares the replicas with the
 * heads of their logs, because the bus may lose messages. Does nothing if the logs have one writer.
 */
export class ReplicaSync {
  readonly #engine: Engine
  readonly #clock: Clock
  readonly #logger: Log
  readonly #rooms: RoomIndex
  /**
   * For each subscribed topic, the number of watched documents, and a function that ends the subscription.
   */
  readonly #topics = new Map<string, { count: number; readonly end: () => void }>()
  /** Messages that have arrived for documents that are being opened, by the names of the documents. */
  readonly #opening = new Map<string, ReplicaMessage[]>()
  readonly #endLoss: () => void
  #state: ComparisonState = { is: 'off' }

  /** @param rooms the open rooms, by the names of their documents */
  constructor(engine: Engine, clock: Clock, logger: Log, rooms: RoomIndex) {
    this.#engine = engine
    this.#clock = clock
    this.#logger = logger
    this.#rooms = rooms
    this.#endLoss = engine.bus.onLoss(() => this.#lost())
    if (!engine.log.hasOneWriter) this.#compareIn(nextMs())
  }

  /** Sends a message to the nodes that have the document open. */
  tell(doc: Key, message: ReplicaMessage): void {
    const { bus, log } = this.#engine
    if (log.hasOneWriter) return
    bus.publish(topicOf(doc), encodeMessage(keyName(doc), message))
  }

  /**
   * Returns whether this node owns the document. The owner does the work that only one node needs to do.
   */
  isHome(doc: Key): boolean {
    const { cluster } = this.#engine
    return cluster.owner(doc).id === cluster.self
  }

  /**
   * Subscribes to the messages about a document that is about to be loaded. Resolves when the subscription is
   * active, so that no later message is missed. The value is a function that ends the subscription.
   */
  async watch(doc: Key): Promise<() => void> {
    if (this.#engine.log.hasOneWriter) return () => undefined
    const name = keyName(doc)
    this.#opening.set(name, [])
    const topic = topicOf(doc)
    const subscription = this.#topics.get(topic) ?? { count: 0, end: this.#subscribe(topic) }
    subscription.count += 1
    this.#topics.set(topic, subscription)
    await this.#engine.bus.flushed()
    return () => {
      this.#opening.delete(name)
      subscription.count -= 1
      if (subscription.count > 0) return
      subscription.end()
      this.#topics.delete(topic)
    }
  }

  /** Passes the messages that arrived while the document was loaded to its room. */
  opened(room: ReplicatedRoom): void {
    const name = keyName(room.doc)
    for (const message of this.#opening.get(name) ?? []) room.replica.receive(message)
    this.#opening.delete(name)
  }

  close(): void {
    if (this.#state.is === 'waiting') this.#state.cancel()
    this.#state = { is: 'off' }
    this.#endLoss()
  }

  #subscribe(topic: string): () => void {
    return this.#engine.bus.subscribe(topic, (bytes) => {
      const decoded = decodeMessage(bytes, this.#isWanted)
      if (decoded !== null) this.#receive(decoded.name, decoded.message)
      return undefined
    })
  }

  /**
   * Returns whether this node needs the messages about a document. A topic also has messages about documents
   * that are open only on other nodes.
   */
  readonly #isWanted = (name: string): boolean => this.#opening.has(name) || this.#rooms.has(name)

  #receive(name: string, message: ReplicaMessage): void {
    this.#rooms.get(name)?.room.replica.receive(message)
    const kept = this.#opening.get(name)
    if (kept === undefined) return
    if (kept.length < keptNewsMax) kept.push(message)
    else kept[0] = { is: 'changed' }
  }

  /**
   * Schedules a comparison soon after a message loss. If a comparison is running, the next one follows it,
   * because a comparison of many documents may take longer than the time until the next loss.
   */
  #lost(): void {
    switch (this.#state.is) {
      case 'waiting':
        return this.#compareIn(afterLoss())
      case 'comparing':
        this.#state = { is: 'comparing', again: true }
        return
      case 'off':
    }
  }

  #compareIn(ms: number): void {
    if (this.#state.is === 'waiting') this.#state.cancel()
    const cancel = this.#clock.after(ms, () => {
      this.#state = { is: 'comparing', again: false }
      void this.#compare()
    })
    this.#state = { is: 'waiting', cancel }
  }

  /**
   * Compares the replicas of all open documents with their logs, and reads the logs that differ. Never
   * throws: if a comparison fails, the next one finds the differences.
   */
  async #compare(): Promise<void> {
    const rooms = [...this.#rooms.values()].map(({ room }) => room)
    const behind: Behind[] = []
    try {
      for (let start = 0; start < rooms.length; start += compared.together) {
        behind.push(...(await this.#behindOf(rooms.slice(start, start + compared.together))))
        if (start + compared.together < rooms.length) await this.#pause(compared.pauseMs)
      }
    } catch (err) {
      this.#logger.debug({ err }, 'could not compare replicas with their logs')
    }
    if (behind.length > 0) await this.#pause(onItsWayMs)
    for (const { room, head, had } of behind)
      if (this.#isOpen(room) && room.commits.differs(head, had)) room.commits.catchUp()
    if (this.#state.is === 'comparing') this.#compareIn(this.#state.again ? afterLoss() : nextMs())
  }

  async #behindOf(rooms: readonly ReplicatedRoom[]): Promise<readonly Behind[]> {
    const asked = rooms.map((room) => ({ room, had: room.commits.durableTo }))
    const heads = await this.#engine.log.heads(rooms.map(({ doc }) => doc))
    return asked
      .map((each, index) => ({ ...each, head: heads[index] ?? null }))
      .filter(({ room, head, had }) => room.commits.differs(head, had))
  }

  #isOpen(room: ReplicatedRoom): boolean {
    return this.#rooms.get(keyName(room.doc))?.room === room
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#clock.after(ms, resolve)
    })
  }
}

const afterLoss = (): number => Math.random() * afterLossMs
const nextMs = (): number => compareEveryMs.min + Math.random() * (compareEveryMs.max - compareEveryMs.min)
