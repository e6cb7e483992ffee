import type { Key, LoadedLog } from '../engine/engine.ts'
import { ApiError } from '../errors.ts'
import type { Begun } from '../events/windows.ts'
import { addressKey, type DocumentAddress } from '../model/address.ts'
import { type Close, close } from '../model/close.ts'
import type { UpdateSummary } from '../update/summary.ts'
import { writeStateVector } from '../update/vector.ts'
import { Answering, type OfferEncoder } from './answering.ts'
import { AwarenessBoard } from './awareness.ts'
import { bytesOf, editorsOf } from './commit-notes.ts'
import { CommitLine, type CommitListeners, type Commits } from './commits.ts'
import { Compaction } from './compaction.ts'
import { type CopiedRoom, Copy } from './copy.ts'
import { Delivery, type RoomUpdate } from './delivery.ts'
import { type EditedRoom, quiet } from './edited-room.ts'
import { Editing } from './editing.ts'
import { damageIn, deleted, isDeletion, reloaded } from './failing.ts'
import { HeldUpdates, type Incoming } from './held.ts'
import { Holding } from './holding.ts'
import { BrokenDocument, Intake } from './intake.ts'
import type { LoadedRoom } from './loading.ts'
import { hasOlder } from './log-form.ts'
import type { Existence } from './log-position.ts'
import type { Member } from './member.ts'
import { DamagedDocument } from './quarantine.ts'
import { Replacing } from './replacing.ts'
import type { RoomTools } from './room-tools.ts'
import type { RoomState } from './state.ts'

/**
 * One open document: a cache of its log, and the people looking at it. Every change, whoever causes it, goes
 * vet → apply → append → (durable) → members; nothing is shown before it is durable.
 */
export class Room {
  readonly address: DocumentAddress
  readonly doc: Key
  readonly state: RoomState
  readonly awareness: AwarenessBoard
  readonly answering: Answering
  readonly #tools: RoomTools
  readonly #members = new Set<Member>()
  readonly #commits: Commits
  /** To be told what other nodes do with the document; null where there are none. */
  readonly copy: Copy | null
  readonly #intake: Intake
  readonly #compaction: Compaction
  #editing: Editing | null = null
  #replacing: Replacing | null = null
  /**
   * What has arrived in this turn. Null and not empty in between: an empty array would grow old in most rooms, and then
   * keep from the garbage collector what is put into it.
   */
  #incoming: Incoming[] | null = null
  #incomingBytes = 0
  #incomingSince = 0
  /** Why the room has ended; null while it is open. */
  #ended: Close | null = null
  /** While the document must not change, what arrives waits in `#incoming`. */
  readonly #holding = new Holding()
  /** Was the document worked on since `rest` was last called? */
  #worked = true
  /** When it was last changed here; 0 before. */
  #editedAt = 0

  constructor(address: DocumentAddress, { loaded, state, tail }: LoadedRoom, tools: RoomTools) {
    const { clock, limits, metrics } = tools
    this.address = address
    this.doc = addressKey(address)
    this.state = state
    this.answering = new Answering(state)
    this.#tools = tools
    this.awareness = new AwarenessBoard({
      members: this.#members,
      presence: tools.presence.boardOf(address),
      editorId: address.editorId,
      clock,
      windowMs: limits.awarenessWindowMs,
      refused: () => metrics.statesRefused.inc(),
    })
    this.#intake = new Intake(state, new HeldUpdates(limits.heldBytesMax, clock))
    this.copy = tools.copies === null ? null : new Copy(this.#copied(loaded), tools.copies, tools)
    this.#commits = this.copy?.commits ?? new CommitLine(tools.log, this.doc, loaded, this.#listeners)
    this.#compaction = new Compaction(tools.log, this.doc, {
      state,
      commits: this.#commits,
      base: loaded.state === 'live' ? loaded.base : 0,
      tail,
      limits,
      clock,
      isHome: () => tools.copies?.isHome(this.doc) ?? true,
      quiet: this.copy === null ? null : () => quiet(this.#edited()),
    })
  }

  get #listeners(): CommitListeners {
    return {
      durable: (delivery) => this.#deliver(delivery),
      failed: (error) => this.#fail(error),
    }
  }

  #copied(loaded: LoadedLog): CopiedRoom {
    return {
      ...this.#listeners,
      doc: this.doc,
      loaded,
      state: this.state,
      intake: this.#intake,
      holding: this.#holding,
      turn: () => this.turn(),
      noted: (updates, now) => this.#noted(updates, now),
      added: (updates) => this.#added(updates),
      send: (delivery) => this.#send(delivery),
      commit: (updates, since) => this.#commit(updates, since),
    }
  }

  /** Reading the document and applying updates to it, on behalf of REST: most rooms have nobody who asks for it. */
  get editing(): Editing {
    this.#editing ??= new Editing(this.#edited())
    return this.#editing
  }

  /** Replacing its content, on behalf of REST. */
  get replacing(): Replacing {
    this.#replacing ??= new Replacing(this.#edited())
    return this.#replacing
  }

  #edited(): EditedRoom {
    const { log, health, threads, readers, clock, limits, metrics } = this.#tools
    return {
      log,
      doc: this.doc,
      state: this.state,
      commits: this.#commits,
      threads,
      readers,
      documentBytesMax: limits.documentBytesMax,
      health,
      held: () => this.#holding.held,
      replaced: (where) => metrics.replacements.inc({ where }),
      begin: () => this.#begin(),
      hold: () => {
        this.turn()
        return this.#holding.hold(() => this.turn())
      },
      commit: (update) => this.#commit([update], clock.now()),
      others: this.copy,
      fail: (error) => this.#fail(error),
    }
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

  /** Resolves when every append has ended, well or not. */
  settled(): Promise<void> {
    return this.#commits.settled()
  }

  /** A room that has ended meanwhile ends its newcomer too. */
  join(member: Member): void {
    if (this.#ended !== null) return member.end(this.#ended)
    this.#members.add(member)
    this.awareness.join(member)
  }

  leave(member: Member): void {
    if (this.#members.delete(member)) this.awareness.leave(member)
  }

  /** Takes a vetted update. False when the document would grow past its limit: then it was not taken. */
  receive(incoming: Incoming): boolean {
    if (this.#ended !== null) return true
    const { length } = incoming.bytes
    const { documentBytesMax } = this.#tools.limits
    if (!this.state.hasRoomFor(this.#incomingBytes + length, documentBytesMax)) return false
    if (this.#incoming === null) {
      this.#incomingSince = this.#tools.clock.now()
      this.#tools.turns.add(this)
      this.#incoming = [incoming]
    } else this.#incoming.push(incoming)
    this.#incomingBytes += length
    this.#worked = true
    return true
  }

  /** Must the document not change at the moment? What arrives waits. */
  get isHeld(): boolean {
    return this.#holding.held !== null
  }

  /** Is something of this member kept back, because what it builds on is missing? */
  holdsOf(member: Member): boolean {
    return this.#intake.holdsOf(member)
  }

  /** Applies and commits what has arrived in this turn of the event loop. */
  turn(): void {
    if (this.#incoming === null || this.#ended !== null || this.#holding.held !== null) return
    const incoming = this.#incoming
    this.#incoming = null
    this.#incomingBytes = 0
    try {
      const accepted = this.#intake.take(incoming)
      if (accepted.length > 0) this.#commit(accepted, this.#incomingSince)
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Takes what has arrived, also where it had to wait: for a room that is to be closed. */
  flush(): void {
    this.#holding.release()
    this.turn()
  }

  /** Makes a frame of what somebody with this state vector lacks; null where that cannot be told, and the room has ended. */
  answer(encoder: OfferEncoder, vector: Uint8Array): Uint8Array | null {
    return this.#read(() => this.answering.frameFor(encoder, vector))
  }

  /** What somebody lacks who had this much of what was delivered; null as above. */
  missed(vector: Uint8Array): Uint8Array | null {
    return this.#read(() => this.state.diff(vector))
  }

  /** Is there nothing new in this vetted update? Dear where it deletes something: ask seldom. */
  contains(bytes: Uint8Array, summary: UpdateSummary): boolean {
    return this.#read(() => this.state.contains(bytes, summary)) ?? false
  }

  /** State vector of what members have been sent so far: what a slow one has, when it stops being sent more. */
  deliveredVector(): Uint8Array {
    return writeStateVector(this.#commits.deliveredClocks(this.state.clocks))
  }

  /** Brings the log into its compact form if that is worth it. Failing is no harm: the log is complete. */
  async compact(when: 'editing' | 'leaving' = 'editing'): Promise<void> {
    const { due, dueAtLeaving } = this.#compaction
    if (this.#ended !== null || !(when === 'leaving' ? dueAtLeaving && this.#editedAt > 0 : due)) return
    try {
      await this.#compaction.run()
      if (this.#compaction.hasLeft) this.#tools.left(this.doc)
    } catch (err) {
      this.#tools.logger.warn({ err }, 'compaction failed')
    }
  }

  /** Gives the log its final form, unless somebody has edited since. @throws what the log throws */
  async finishLog(editedSince: number): Promise<'done' | 'later'> {
    if (Math.max(this.#editedAt, this.#commits.changed.at) >= editedSince) return 'later'
    // An earlier room may have left them.
    const hasLeft = this.#compaction.hasLeft || (await hasOlder(this.#tools.log, this.doc))
    if (hasLeft && this.#ended === null) await this.#compaction.finish()
    return 'done'
  }

  /** Ends everyone's session. The room is of no use afterwards. */
  close(reason: Close): void {
    if (this.#ended !== null) return
    this.#ended = reason
    if (this.#editedAt > 0 && this.#compaction.hasLeft) this.#tools.left(this.doc)
    this.awareness.close()
    const members = [...this.#members]
    this.#members.clear()
    for (const member of members) member.end(reason)
    this.#tools.ended(this)
  }

  #commit(updates: readonly RoomUpdate[], since: number): void {
    const now = this.#tools.clock.now()
    this.#added(updates)
    const begun = this.#noted(updates, now)
    this.#commits.commit(new Delivery(updates, since), now, begun?.jobs)
    if (begun !== null) this.#commits.durable.then(begun.stored, begun.lost)
  }

  /** Who edits, and whether that begins something. */
  #noted(updates: readonly RoomUpdate[], now: number): Begun | null {
    const { metrics, edits } = this.#tools
    this.#editedAt = now
    metrics.updates[updates[0]?.from === null ? 'rest' : 'socket'] += updates.length
    return edits.noted(this.address, editorsOf(updates))
  }

  #added(updates: readonly RoomUpdate[]): void {
    this.#worked = true
    this.#compaction.noted(updates.length, bytesOf(updates))
  }

  #deliver(delivery: Delivery): void {
    this.#send(delivery)
    const { metrics, clock } = this.#tools
    metrics.ackLagSeconds.observe((clock.now() - delivery.since) / 1000)
  }

  #send(delivery: Delivery): void {
    for (const member of this.#members) member.deliver(delivery)
    // Not before they have it: nobody waits for this but who asks for the document.
    if (this.state.isDue || this.#compaction.due) this.#tools.turns.follow(this)
  }

  /** What a commit leaves to be done when its members have it. */
  followUp(): void {
    if (this.#ended !== null) return
    try {
      this.state.applyDue()
    } catch (error) {
      return this.#fail(new BrokenDocument('what is stored could not be applied', { cause: error }))
    }
    if (this.#compaction.due) void this.compact()
  }

  /** Lets the Y.Doc go when nothing has happened since the last call; its bytes stay. */
  rest(): void {
    if (!this.#worked && this.#ended === null) this.state.drop()
    this.#worked = false
  }

  /** What has arrived comes first. It may be what ends the room. */
  #begin(): void {
    this.#worked = true
    this.turn()
    if (this.#ended !== null) throw new ApiError('UNAVAILABLE', 'The document is being closed; try again')
  }

  /** Yjs may be the first to read what was stored: only where the bytes do not do. */
  #read<T>(work: () => T): T | null {
    try {
      return work()
    } catch (error) {
      if (!(error instanceof DamagedDocument)) throw error
      this.#fail(error)
      return null
    }
  }

  /** Away with what is in memory: clients come back, the log is read again, and their handshake resends what is missing. */
  #fail(error: unknown): void {
    if (this.#ended !== null) return
    const damage = damageIn(error)
    if (damage !== null) {
      this.#tools.damaged(this, damage)
      return this.close(close('internal', 'the stored document is damaged'))
    }
    if (isDeletion(error)) return this.close(deleted)
    const { organizationId } = this.address
    this.#tools.logger.error({ err: error, organizationId }, 'room failed')
    this.close(reloaded(error))
  }
}
