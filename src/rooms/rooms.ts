import type { Clock } from '../clock.ts'
import type { Content } from '../content/read.ts'
import { type Reading, readState } from '../content/reading.ts'
import { inSlices } from '../directory/items.ts'
import type { RemovalTask } from '../directory/removal-task.ts'
import { decodeRemovalNews, removalTopic } from '../directory/removed.ts'
import { CorruptRecord, type Engine, type Key, StoreUnavailable } from '../engine/engine.ts'
import { keyName } from '../engine/keys.ts'
import type { VisitNotes } from '../events/visits.ts'
import type { EditNotes } from '../events/windows.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { addressKey, type DocumentAddress, organizationPrefix } from '../model/address.ts'
import { type Close, close } from '../model/close.ts'
import { type Copies, copiesOf } from './copies.ts'
import { deleted } from './failing.ts'
import { type DocumentRecords, isIn, removeAgain } from './going.ts'
import { compactLeft } from './leaving.ts'
import { Live } from './live.ts'
import { type LoadedRoom, loadRoom } from './loading.ts'
import { finishLog } from './log-form.ts'
import { Occupancy } from './occupancy.ts'
import { type Presence, presenceOf } from './presence.ts'
import { Quarantine } from './quarantine.ts'
import { isReadInline, readOnThread } from './reading.ts'
import { Resting } from './resting.ts'
import { Room } from './room.ts'
import type { RoomLimits, RoomName, RoomTools } from './room-tools.ts'
import { Threads } from './threads/pool.ts'
import { Turns } from './turns.ts'
import { LogUpkeep } from './upkeep.ts'

export interface RoomsOptions extends RoomLimits {
  /** How long a room without visitors is kept in memory. */
  readonly idleMs: number
  /** After this long without work, at most twice, a room keeps its document as bytes only. */
  readonly restMs: number
  /** Open documents of one workspace; 0: no limit. */
  readonly documentsPerWorkspaceMax: number
  /** Threads for large replacements; 0: they are computed on the event loop. */
  readonly replaceThreads: number
}

/** Threads for reading large documents, if there are any for replacements. */
const readersMax = 1
/** Large replacements, and large readings, that may wait for a thread. */
const waitingForThreadMax = 64
/** Bounded work takes seconds at most: a thread that takes longer is ended. */
const threadJobMs = 60_000

/** A claim that keeps a room open. */
export interface Lease {
  readonly room: Room
  /** Must be called exactly once. */
  release(): void
}

export interface RoomsParts {
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Log
  readonly records: DocumentRecords
  readonly edits: EditNotes
  readonly visits: VisitNotes
}

interface OpenRoom {
  readonly room: Room
  /** Counts it off, and listens no more for what other nodes do. */
  readonly leave: () => void
  leases: number
  cancelIdle: (() => void) | null
}

/**
 * The open rooms of this process: at most one for a document, kept while somebody holds a lease and a little
 * longer. A room that failed or was deleted is forgotten at once; the next visitor loads the log anew.
 */
export class Rooms {
  /** Who is on which document. */
  readonly presence: Presence
  /** Who listens to what backends say. */
  readonly live: Live
  readonly #engine: Engine
  readonly #options: RoomsOptions
  readonly #tools: RoomTools
  readonly #clock: Clock
  readonly #metrics: Metrics
  readonly #rooms = new Map<string, OpenRoom>()
  /** Loading, or waiting for the end of a deletion. */
  readonly #opening = new Map<string, Promise<unknown>>()
  readonly #threads: Threads
  readonly #quarantine: Quarantine
  readonly #readers: Threads
  readonly #records: DocumentRecords
  readonly #occupancy: Occupancy
  readonly #upkeep: LogUpkeep
  /** Null where this is the only process that writes to the store. */
  readonly #copies: Copies | null
  readonly #unsubscribe: () => void
  readonly #resting: Resting

  constructor(engine: Engine, options: RoomsOptions, { records, visits, ...parts }: RoomsParts) {
    this.#engine = engine
    this.#options = options
    this.#clock = parts.clock
    this.#metrics = parts.metrics
    this.#records = records
    this.#quarantine = new Quarantine(parts)
    this.#occupancy = new Occupancy(options.documentsPerWorkspaceMax)
    const threads = options.replaceThreads
    const limits = { waitingMax: waitingForThreadMax, jobMs: threadJobMs }
    this.#threads = new Threads({ threads, ...limits })
    this.#readers = new Threads({ threads: Math.min(threads, readersMax), ...limits })
    this.#copies = copiesOf(engine, {
      ...parts,
      room: (name) => this.#rooms.get(name)?.room,
      open: () => [...this.#rooms.values()].map(({ room }) => room),
    })
    this.presence = presenceOf(engine, parts.clock, visits)
    this.live = new Live(this.presence.calls)
    this.#tools = {
      ...parts,
      presence: this.presence,
      log: engine.log,
      health: () => engine.health(),
      turns: new Turns(),
      threads: this.#threads,
      readers: this.#readers,
      limits: options,
      copies: this.#copies,
      left: (doc) => this.#upkeep.note(doc),
      damaged: (room, { record }) => void this.#quarantine.add(room.address, record),
      ended: (room) => this.#forget(room),
    }
    this.#upkeep = new LogUpkeep({
      log: engine.log,
      clock: parts.clock,
      logger: parts.logger,
      keepVersionsMs: options.keepVersionsMs,
      finish: (doc) => this.#finishLog(doc),
    })
    this.#resting = new Resting(parts.clock, options.restMs, () => this.#rooms.values())
    this.#unsubscribe = engine.bus.subscribe(removalTopic, (message) => {
      const news = decodeRemovalNews(message)
      if (news.kind === 'begun') this.#closeGoing(news.task)
      else for (const prefix of news.prefixes) this.#removed(prefix)
      return undefined
    })
  }

  /**
   * Opens the room, loading it if need be.
   * @throws StoreUnavailable while the store is away, DamagedDocument; ApiError RESOURCE_EXHAUSTED when the workspace has
   *   too many documents open
   */
  async open(address: DocumentAddress): Promise<Lease> {
    const key = keyName(addressKey(address))
    for (;;) {
      const open = this.#rooms.get(key)
      if (open !== undefined) return this.#lease(open)
      const opening = this.#opening.get(key)
      if (opening === undefined) await this.#exclusively(key, () => this.#load(key, address))
      else await opening.catch(() => {})
    }
  }

  /** Runs `work` with the room open. */
  async use<T>(address: DocumentAddress, work: (room: Room) => Promise<T>): Promise<T> {
    const lease = await this.open(address)
    try {
      return await work(lease.room)
    } finally {
      lease.release()
    }
  }

  /**
   * Removes the document for good, then ends its sessions: a stale client cannot bring it back. What comes in between
   * is refused by the log.
   */
  async destroy(address: DocumentAddress): Promise<void> {
    const doc = addressKey(address)
    const key = keyName(doc)
    for (;;) {
      const opening = this.#opening.get(key)
      if (opening === undefined) break
      await opening.catch(() => {})
    }
    await this.#exclusively(key, async () => {
      await this.#engine.log.destroy(doc)
      this.#copies?.tell(doc, { is: 'changed' })
      this.#quarantine.delete(key)
      this.#rooms.get(key)?.room.close(deleted)
    })
  }

  /**
   * Reads one root of a whole state (V1) that no room has, a large one on a thread.
   * @throws ApiError INVALID_ARGUMENT as `readDocument` does; RESOURCE_EXHAUSTED when too many large ones wait
   */
  async readState(bytes: Uint8Array, reading: Reading): Promise<Content> {
    if (isReadInline(this.#readers, bytes.length)) return readState(bytes, reading)
    return readOnThread(this.#readers, bytes, reading)
  }

  /** Ends every room. What was committed before is durable when the engine has been closed. */
  async closeAll(reason: Close): Promise<void> {
    this.#resting.stop()
    this.#unsubscribe()
    this.#copies?.close()
    const rooms = [...this.#rooms.values()].map(({ room }) => room)
    for (const room of rooms) room.flush()
    await Promise.all(rooms.map((room) => room.settled()))
    await compactLeft(rooms, this.#engine, this.#clock)
    for (const room of rooms) room.close(reason)
    this.presence.close()
    await this.#upkeep.stop()
    await Promise.all([this.#threads.close(), this.#readers.close()])
  }

  #removed(prefix: Key): void {
    this.#endRemoved(prefix)
    this.#quarantine.deleteUnder(keyName(prefix))
    this.presence.endRemoved(prefix)
  }

  /** Ends the rooms of documents whose logs have been removed. */
  #endRemoved(prefix: Key): void {
    this.#whenOpened(prefix, (key) => this.#endRoom(key))
    for (const key of this.#openUnder(prefix)) this.#endRoom(key)
  }

  /** Closes the rooms of what is marked as being deleted. Its logs go later: until then nobody gets in. */
  #closeGoing(task: RemovalTask): void {
    const prefix = organizationPrefix(task.scope)
    const closeIt = (key: string): Promise<void> => this.#closeIfGoing(key, task)
    this.#whenOpened(prefix, closeIt)
    void inSlices(this.#openUnder(prefix), closeIt)
  }

  async #closeIfGoing(key: string, task: RemovalTask): Promise<void> {
    const room = this.#rooms.get(key)?.room
    if (room === undefined) return
    try {
      if (await isIn(task, room.address, this.#records)) room.close(deleted)
    } catch (err) {
      this.#tools.logger.warn({ err }, 'a room of a deleted folder is closed when that is removed')
    }
  }

  #openUnder(prefix: Key): readonly string[] {
    const start = keyName(prefix)
    return [...this.#rooms.keys()].filter((key) => key.startsWith(start))
  }

  #whenOpened(prefix: Key, work: (key: string) => unknown): void {
    const start = keyName(prefix)
    for (const [key, opening] of this.#opening)
      if (key.startsWith(start)) void opening.catch(() => {}).then(() => work(key))
  }

  /** What the room has appended since may have made a new log. Nobody opens the document until that is gone too. */
  #endRoom(key: string): void {
    const room = this.#rooms.get(key)?.room
    if (room === undefined || room.copy?.looksWhetherItIsGone()) return
    room.close(deleted)
    void this.#exclusively(key, () => removeAgain(this.#engine.log, room)).catch((err: unknown) =>
      this.#tools.logger.warn({ err }, 'a removed document could not be removed again'),
    )
  }

  /** Who asked for it takes it at once: only when it is left it can be idle. */
  async #load(key: string, address: DocumentAddress): Promise<void> {
    const health = this.#engine.health()
    if (!health.ok) throw new StoreUnavailable(health.reason)
    const leave = this.#occupancy.enter(address.workspaceId)
    let unwatch = (): void => undefined
    try {
      unwatch = (await this.#copies?.watch(addressKey(address))) ?? unwatch
      const room = new Room(address, await this.#loaded(key, address), this.#tools)
      this.#rooms.set(key, { room, leave: bothOf(leave, unwatch), leases: 0, cancelIdle: null })
      this.#copies?.opened(room)
      this.#metrics.documentsOpen.set(this.#rooms.size)
    } catch (error) {
      bothOf(leave, unwatch)()
      throw error
    }
  }

  async #loaded(key: string, address: DocumentAddress): Promise<LoadedRoom> {
    const loaded = await this.#read(address)
    this.#quarantine.delete(key)
    // What crashed after its first update, or was stored before there were records, gets its record here.
    if (loaded.loaded.state === 'live') await this.#records.ensure(address, address.documentId)
    return loaded
  }

  async #read(address: DocumentAddress): Promise<LoadedRoom> {
    try {
      const doc = addressKey(address)
      const trust = this.#quarantine.has(keyName(doc)) ? 'doubted' : 'trusted'
      return await loadRoom(this.#engine.log, doc, trust)
    } catch (error) {
      throw error instanceof CorruptRecord ? this.#quarantine.add(address, error) : error
    }
  }

  /** While `work` runs nobody else opens or destroys the room. */
  async #exclusively(key: string, work: () => Promise<void>): Promise<void> {
    const running = work().finally(() => {
      if (this.#opening.get(key) === running) this.#opening.delete(key)
    })
    this.#opening.set(key, running)
    await running
  }

  #lease(open: OpenRoom): Lease {
    open.leases += 1
    open.cancelIdle?.()
    open.cancelIdle = null
    return {
      room: open.room,
      release: () => {
        open.leases -= 1
        if (open.leases === 0) this.#watchIdle(open)
      },
    }
  }

  #watchIdle(open: OpenRoom): void {
    const retire = (): void => {
      cancel()
      void this.#retire(open)
    }
    const cancelTimer = this.#clock.after(this.#options.idleMs, retire)
    const cancelRest = this.#occupancy.rest(open.room.address.workspaceId, { retire })
    const cancel = (): void => {
      cancelTimer()
      cancelRest()
      open.cancelIdle = null
    }
    open.cancelIdle = cancel
  }

  /** Lets an idle room go, unless somebody came while its last work was being finished. */
  async #retire(open: OpenRoom): Promise<void> {
    await open.room.compact('leaving')
    await open.room.settled()
    if (open.leases === 0) open.room.close(close('restarting', 'the room was idle'))
  }

  /** Nobody opens the document meanwhile. */
  async #finishLog(doc: Key): Promise<'done' | 'later'> {
    const key = keyName(doc)
    const editedSince = this.#clock.now() - this.#options.keepVersionsMs
    if (this.#opening.has(key)) return 'later'
    const open = this.#rooms.get(key)
    if (open !== undefined) return open.room.finishLog(editedSince)
    let outcome: 'done' | 'later' = 'done'
    await this.#exclusively(key, async () => {
      outcome = await finishLog(this.#engine.log, doc, editedSince)
    })
    return outcome
  }

  /** What the room has appended may still be on its way: who opens the document next must find it in the log. */
  #awaitAppends(key: string, room: Room): void {
    const before = this.#opening.get(key)
    const settled = Promise.allSettled([before, room.settled()]).then(() => {
      if (this.#opening.get(key) === settled) this.#opening.delete(key)
    })
    this.#opening.set(key, settled)
  }

  #forget(room: RoomName): void {
    const key = keyName(room.doc)
    const open = this.#rooms.get(key)
    if (open?.room !== room) return
    open.cancelIdle?.()
    open.leave()
    this.#rooms.delete(key)
    this.#metrics.documentsOpen.set(this.#rooms.size)
    this.#awaitAppends(key, open.room)
  }

  /** Bytes of updates that wait here to be given to the store. */
  get queuedBytes(): number {
    return this.#copies?.queued.bytes ?? 0
  }
}

const bothOf = (first: () => void, second: () => void) => (): void => {
  first()
  second()
}
