import { messageOf } from '../errors.ts'
import { close } from '../model/close.ts'
import { checkEntries } from '../update/entries.ts'
import { checkNesting } from '../update/nesting.ts'
import { readUpdate } from '../update/read.ts'
import { isEmpty, isPlain, isSimple, type UpdateSummary } from '../update/summary.ts'
import type { RoomUpdate } from './delivery.ts'
import type { HeldUpdates, Incoming } from './held.ts'
import type { Member } from './member.ts'
import type { RoomState } from './state.ts'

/** Applying failed although vetting passed. The document in memory can't be trusted any more. */
export class BrokenDocument extends Error {
  override readonly name = 'BrokenDocument'
}

/**
 * The one way in: applies what has arrived in a turn and returns what is new and whole, to be committed. An
 * update that fits exactly goes in as it is, together with its neighbours; everything else is taken apart.
 */
export class Intake {
  readonly #state: RoomState
  readonly #held: HeldUpdates

  constructor(state: RoomState, held: HeldUpdates) {
    this.#state = state
    this.#held = held
  }

  /** @throws BrokenDocument */
  take(incoming: readonly Incoming[]): readonly RoomUpdate[] {
    const [only] = incoming
    if (incoming.length === 1 && only !== undefined && isSimple(only.summary) && this.#fits(only))
      return this.#takeKeystroke(only)
    const accepted: RoomUpdate[] = []
    const run: RoomUpdate[] = []
    for (const item of incoming) {
      if (item.summary.types > 0) {
        this.#applyRun(run, accepted)
        if (!this.#nests(item)) continue
      }
      if (this.#fits(item)) {
        this.#state.advance(item.summary)
        run.push(updateOf(item))
        item.taken?.()
      } else {
        this.#applyRun(run, accepted)
        if (!this.#integrate(item, accepted)) this.#hold(item)
      }
    }
    this.#applyRun(run, accepted)
    if (accepted.length > 0 && this.#held.size > 0) this.#retryHeld(accepted)
    return accepted
  }

  /** What most turns of most rooms bring. */
  #takeKeystroke(item: Incoming): readonly RoomUpdate[] {
    this.#state.advance(item.summary)
    const updates = [updateOf(item)]
    this.#state.applyLater(updates)
    item.taken?.()
    const accepted = this.retry()
    return accepted.length === 0 ? updates : [...updates, ...accepted]
  }

  holdsOf(member: Member): boolean {
    return this.#held.hasOf(member)
  }

  /** What can be applied now of what was held, because others have brought what it builds on. @throws BrokenDocument */
  retry(): readonly RoomUpdate[] {
    const accepted: RoomUpdate[] = []
    if (this.#held.size > 0) this.#retryHeld(accepted)
    return accepted
  }

  #fits({ kind, summary }: Incoming): boolean {
    return kind === 'update' && isPlain(summary, this.#state.clocks)
  }

  /** Types nested too deep close their sender and touch nobody else. */
  #nests({ bytes, from }: Incoming): boolean {
    try {
      checkNesting(bytes, this.#state.doc)
      return true
    } catch (error) {
      from.end(close('bad', messageOf(error)))
      return false
    }
  }

  #applyRun(run: RoomUpdate[], accepted: RoomUpdate[]): void {
    if (run.length === 0) return
    try {
      if (run.every(({ summary }) => isSimple(summary))) this.#state.applyLater(run)
      else this.#state.applyPlain(run)
    } catch (cause) {
      throw new BrokenDocument('an update could not be applied', { cause })
    }
    for (const { summary, from } of run) this.#checkEntries(summary, from)
    for (const update of run) accepted.push(update)
    run.length = 0
  }

  /** The last thing to be vetted can only be seen afterwards; nothing is stored yet. */
  #checkEntries(summary: UpdateSummary, from: Member | null): void {
    if (summary.longRuns.length === 0) return
    try {
      checkEntries(summary, this.#state.doc)
    } catch (cause) {
      from?.end(close('bad', messageOf(cause)))
      throw new BrokenDocument(messageOf(cause), { cause })
    }
  }

  /** Applies what can be applied; false when a part is missing something. */
  #integrate({ bytes, summary, from, taken }: Incoming, accepted: RoomUpdate[]): boolean {
    try {
      const isKnown = isEmpty(summary) || this.#state.isKnown(bytes, summary)
      const { added, gap } = isKnown ? nothingNew : this.#state.integrate(bytes)
      if (added !== null) this.#accept(added, from, accepted)
      if (!gap) taken?.()
      return !gap
    } catch (cause) {
      from.end(close('bad', 'the update could not be applied'))
      throw new BrokenDocument('an update could not be integrated', { cause })
    }
  }

  #accept(added: Uint8Array, from: Member, accepted: RoomUpdate[]): void {
    const summary = readUpdate(added, { allowSubdocuments: true })
    this.#checkEntries(summary, from)
    this.#state.advance(summary)
    accepted.push({ bytes: added, by: from.user.id, from, summary })
  }

  #hold(incoming: Incoming): void {
    this.#held.add(incoming)
    // An offer is the answer to our asking: its sender has nothing more, and would be asked for ever.
    if (incoming.kind === 'update') incoming.from.askForMissing()
  }

  #retryHeld(accepted: RoomUpdate[]): void {
    // What one brings may be what another waits for.
    for (let before = -1; before < accepted.length; ) {
      before = accepted.length
      const candidates = this.#held.take(this.#state.clocks)
      const waiting = candidates.filter(
        ({ incoming }) => this.#nests(incoming) && !this.#integrate(incoming, accepted),
      )
      this.#held.restore(waiting)
    }
  }
}

const nothingNew = { added: null, gap: false }

const updateOf = ({ bytes, from, summary }: Incoming): RoomUpdate => ({
  bytes,
  by: from.user.id,
  from,
  summary,
})
