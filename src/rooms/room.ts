import type * as Y from 'yjs'
import type { Clock } from '../clock.ts'
import { AppendRefused, type DocumentLog, type Health, type Key } from '../engine/engine.ts'
import { ApiError, messageOf } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { addressKey, type DocumentAddress } from '../model/address.ts'
import { type Close, close } from '../model/close.ts'
import { readUpdate } from '../update/read.ts'
import { writeStateVector } from '../update/vector.ts'
import { AwarenessBoard } from './awareness.ts'
import { CommitLine, type Existence, versionOf } from './commits.ts'
import { Compaction, type CompactionLimits } from './compaction.ts'
import type { Delivery, RoomUpdate } from './delivery.ts'
import { HeldUpdates, type Incoming } from './held.ts'
import { Intake } from './intake.ts'
import type { LoadedRoom } from './loading.ts'
import type { Member } from './member.ts'
import type { RoomState } from './state.ts'
import type { Turns } from './turns.ts'

export interface RoomLimits extends CompactionLimits {
  /** Encoded size a document may reach. */
  readonly documentBytesMax: number
  /** Bytes of updates that wait for missing ones, a room. */
  readonly heldBytesMax: number
  /** Shortest time between two awareness messages of a room. */
  readonly awarenessWindowMs: number
}

/** What a room works with; the same for all rooms of a process. */
export interface RoomTools {
  readonly log: DocumentLog
  /** Can the store write? Changes by REST are refused while it can't, instead of waiting for it. */
  readonly health: () => Health
  readonly turns: Turns
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Log
  readonly limits: RoomLimits
  /** Called once, when the room can't go on: it must be forgotten, the next visitor loads it anew. */
  readonly ended: (room: Room) => void
}

export interface Changed<T> {
  readonly result: T
  /** The document's version after the change. */
  readonly version: string
  /** Size of the update that clients received; 0 when nothing changed. */
  readonly bytes: number
}

export interface Viewed<T> {
  readonly result: T
  readonly version: string
  readonly vector: Uint8Array
  readonly changed: { readonly at: number; readonly by: string }
  readonly sizeBytes: number
}

/**
 * One open document: a cache of its log, and the people looking at it. Every change, whoever causes it, goes
 * vet → apply → append → (durable) → members; nothing is shown before it is durable.
 */
export class Room {
  readonly address: DocumentAddress
  readonly doc: Key
  readonly state: RoomState
  readonly awareness: AwarenessBoard
  readonly #tools: RoomTools
  readonly #members = new Set<Member>()
  readonly #commits: CommitLine
  readonly #intake: Intake
  readonly #compaction: Compaction
  #incoming: Incoming[] = []
  #incomingBytes = 0
  #incomingSince = 0
  #open = true
  /** Was the document worked on since `rest` was last called? */
  #worked = true

  constructor(address: DocumentAddress, { loaded, state, tail }: LoadedRoom, tools: RoomTools) {
    const { clock, limits } = tools
    this.address = address
    this.doc = addressKey(address)
    this.state = state
    this.#tools = tools
    this.awareness = new AwarenessBoard(this.#members, clock, limits.awarenessWindowMs)
    this.#intake = new Intake(state, new HeldUpdates(limits.heldBytesMax, clock))
    this.#commits = new CommitLine(tools.log, this.doc, loaded, {
      durable: (delivery) => this.#deliver(delivery),
      failed: (error) => this.#fail(error),
    })
    this.#compaction = new Compaction(tools.log, this.doc, {
      state,
      commits: this.#commits,
      base: loaded.state === 'live' ? loaded.base : 0,
      tail,
      limits,
      clock,
    })
  }

  get existence(): Existence {
    return this.#commits.existence
  }

  get epoch(): number {
    return this.#commits.epoch
  }

  get memberCount(): number {
    return this.#members.size
  }

  /** Resolves with the number of the last update once everything applied so far is durable and sent. */
  get durable(): Promise<number> {
    return this.#commits.durable
  }

  join(member: Member): void {
    this.#members.add(member)
  }

  leave(member: Member): void {
    if (this.#members.delete(member)) this.awareness.leave(member)
  }

  /** Takes a vetted update. False when the document would grow past its limit: then it was not taken. */
  receive(incoming: Incoming): boolean {
    if (!this.#open) return true
    const { length } = incoming.bytes
    const { documentBytesMax } = this.#tools.limits
    if (!this.state.hasRoomFor(this.#incomingBytes + length, documentBytesMax)) return false
    if (this.#incoming.length === 0) {
      this.#incomingSince = this.#tools.clock.now()
      this.#tools.turns.add(this)
    }
    this.#incoming.push(incoming)
    this.#incomingBytes += length
    this.#worked = true
    return true
  }

  /** Applies and commits what has arrived in this turn of the event loop. */
  turn(): void {
    if (this.#incoming.length === 0 || !this.#open) return
    const incoming = this.#incoming
    this.#incoming = []
    this.#incomingBytes = 0
    try {
      const accepted = this.#intake.take(incoming)
      if (accepted.length > 0) this.#commit(accepted, this.#incomingSince).catch(handledByFail)
    } catch (error) {
      this.#fail(error)
    }
  }

  /**
   * Lets `edit` change the document as user `by`; resolves when the change is durable and sent.
   * @throws ApiError NOT_FOUND when the document has no content and `create` is false, UNAVAILABLE when the store is away
   */
  async change<T>(by: string, edit: (doc: Y.Doc) => T, options: { create: boolean }): Promise<Changed<T>> {
    this.#assertOpen()
    const health = this.#tools.health()
    if (!health.ok) throw new ApiError('UNAVAILABLE', `The store is away: ${health.reason}`)
    this.#worked = true
    this.turn()
    if (this.existence !== 'live' && !options.create) throw new ApiError('NOT_FOUND', 'No such document')
    const edited = this.#edit(edit)
    const { result } = edited
    // Even nothing makes a document: what was added empty can be found empty.
    const added = edited.added ?? (this.existence === 'live' ? null : emptyUpdate)
    if (added !== null) {
      const summary = readUpdate(added, { allowSubdocuments: true })
      this.state.advance(summary)
      this.#commit([{ bytes: added, by, from: null, summary }], this.#tools.clock.now()).catch(handledByFail)
    }
    const seq = await this.#settled()
    return { result, version: versionOf(this.epoch, seq), bytes: edited.added?.length ?? 0 }
  }

  /** Shows the document to `view`; resolves when what it saw is durable. @throws ApiError UNAVAILABLE */
  async view<T>(view: (doc: Y.Doc) => T): Promise<Viewed<T>> {
    this.#assertOpen()
    this.#worked = true
    this.turn()
    const result = view(this.state.doc)
    const { changed } = this.#commits
    const vector = this.state.vector()
    const sizeBytes = this.state.encode().length
    const version = versionOf(this.epoch, await this.#settled())
    return { result, version, vector, changed, sizeBytes }
  }

  /** State vector of what members have been sent so far: what a slow one has, when it stops being sent more. */
  deliveredVector(): Uint8Array {
    return writeStateVector(this.#commits.deliveredClocks(this.state.clocks))
  }

  /** Brings the log into its compact form if that is worth it. Failing is no harm: the log is complete. */
  async compact(): Promise<void> {
    try {
      if (this.#compaction.due && this.#open) await this.#compaction.run()
    } catch (err) {
      this.#tools.logger.warn({ err }, 'compaction failed')
    }
  }

  /** Ends everyone's session. The room is of no use afterwards. */
  close(reason: Close): void {
    if (!this.#open) return
    this.#open = false
    this.awareness.close()
    const members = [...this.#members]
    this.#members.clear()
    for (const member of members) member.end(reason)
    this.#tools.ended(this)
  }

  #edit<T>(edit: (doc: Y.Doc) => T): { result: T; added: Uint8Array | null } {
    try {
      return this.state.edit(edit)
    } catch (error) {
      // A refusal comes before the first change. Anything else may have left half an edit behind.
      if (!(error instanceof ApiError)) this.#fail(error)
      throw error
    }
  }

  #commit(updates: readonly RoomUpdate[], since: number): Promise<number> {
    const { metrics, clock } = this.#tools
    metrics.updates.inc({ source: updates[0]?.from === null ? 'rest' : 'socket' }, updates.length)
    this.#compaction.noted(
      updates.length,
      updates.reduce((sum, update) => sum + update.bytes.length, 0),
    )
    return this.#commits.commit(updates, clock.now()).then((seq) => {
      metrics.ackLagSeconds.observe((clock.now() - since) / 1000)
      void this.compact()
      return seq
    })
  }

  #deliver(delivery: Delivery): void {
    for (const member of this.#members) member.deliver(delivery)
  }

  async #settled(): Promise<number> {
    try {
      return await this.#commits.durable
    } catch (cause) {
      throw new ApiError('UNAVAILABLE', 'The change could not be stored; try again', { cause })
    }
  }

  /** Lets the Y.Doc go when nothing has happened since the last call; its bytes stay. */
  rest(): void {
    if (!this.#worked && this.#open) this.state.drop()
    this.#worked = false
  }

  #assertOpen(): void {
    if (!this.#open) throw new ApiError('UNAVAILABLE', 'The document is being closed; try again')
  }

  /** Away with what is in memory: clients come back, the log is read again, and their handshake resends what is missing. */
  #fail(error: unknown): void {
    if (!this.#open) return
    const refused = error instanceof AppendRefused
    this.#tools.logger.error(
      { err: error, refused, organizationId: this.address.organizationId },
      'room failed',
    )
    this.close(close('overloaded', `the document is reloaded: ${refused ? messageOf(error) : 'try again'}`))
  }
}

/** A Yjs update (V1) without structs and deletions. */
const emptyUpdate = new Uint8Array(2)

/** `CommitLine` reports a failed commit to the room once, by its listener. */
const handledByFail = (): void => {}
