import { errorMessage } from '../../base/errors.ts'
import { close } from '../../model/close.ts'
import { checkPlaces, hasPlaces } from '../../update/check-places.ts'
import { IntegrationTooExpensiveError } from '../../update/integration.ts'
import { MalformedUpdateError } from '../../update/malformed.ts'
import { readUpdate } from '../../update/read-update.ts'
import { isEmpty, isPlain, isSimple } from '../../update/summary.ts'
import type { DocumentState, PlacedBatch, PlacedIntegration } from '../document/document-state.ts'
import {
  batchBytesMax,
  isTooLargeToPredict,
  loopStepsMax,
  tickStepsMax,
  updatesPerTransaction,
} from '../document/integration-limits.ts'
import { DocumentExpensiveError } from '../document/unreadable-documents.ts'
import type { Change, ClientChange, Member } from './change.ts'
import type { PendingUpdate, PendingUpdateBuffer } from './pending-updates.ts'
import type { RoomTrace } from './room-trace.ts'

/**
 * Maximum milliseconds of a tick that the updates of one document take. A limit for steps is not enough,
 * because reading an update and predicting its steps also takes time.
 */
const takeMsMax = { 'in a tick': 8, 'in a shared tick': 3 } as const

/**
 * When updates are applied. `in a shared tick`: clients have edited other documents recently, and their updates
 * wait until the share of this document ends. `at the end`: the room is closed next.
 */
type TakeTime = keyof typeof takeMsMax | 'at the end'

/** Thrown if a vetted update could not be applied. The document in memory is then no longer reliable. */
export class UpdateApplyError extends Error {
  override readonly name = 'UpdateApplyError'
}

/** The result of applying the updates of one tick. */
interface AppliedPart {
  /** The updates to commit. */
  readonly accepted: readonly Change[]
  /** The updates that a thread must integrate first, in order. */
  readonly expensive: readonly ClientChange[]
  /**
   * The updates that were not applied, in order: the updates after `expensive`, or those for which the time
   * of this tick did not suffice.
   */
  readonly later: readonly ClientChange[]
}

const none: readonly ClientChange[] = []

/** Returns whether a thread must integrate an update. */
const isForThread = ({ summary }: ClientChange): boolean => isTooLargeToPredict(summary)

/**
 * Applies the arrived updates of one tick to the document of a room, and returns the new, complete parts for
 * the commit. All updates of clients go through this class. An update that continues the document exactly is
 * applied unchanged, together with its neighbors. Any other update is split: its new part is applied, and a
 * part with missing dependencies becomes pending.
 */
export class UpdateApplier {
  readonly #state: DocumentState
  readonly #pending: PendingUpdateBuffer
  readonly #trace: RoomTrace | undefined
  /** A pending update whose dependencies have arrived and that is expensive to integrate. */
  #expensive: ClientChange | null = null
  /** Pending updates whose dependencies have arrived and that must be rebased. */
  #outdated: ClientChange[] = []
  readonly #mustRebase: (item: ClientChange) => boolean

  constructor(
    state: DocumentState,
    pending: PendingUpdateBuffer,
    trace?: RoomTrace,
    mustRebase: (item: ClientChange) => boolean = () => false,
  ) {
    this.#state = state
    this.#mustRebase = mustRebase
    this.#pending = pending
    this.#trace = trace
  }

  /** Drops the pending updates when the room is closed. */
  clear(): void {
    this.#pending.clear()
  }

  /**
   * Applies updates until the budget of the tick is used up.
   * @param when `at the end`: no budget applies, and only the updates after an expensive one are left over
   * @throws UpdateApplyError, DocumentExpensiveError; all updates that this call has accepted are then lost
   */
  take(incoming: readonly ClientChange[], when: TakeTime = 'in a tick'): AppliedPart {
    const [only] = incoming
    if (incoming.length === 1 && only !== undefined && isSimple(only.summary) && this.#fits(only)) {
      if (this.#isInexpensive(only)) return this.#taken(this.#takeKeystroke(only), none)
      return { accepted: [], expensive: [only], later: none }
    }
    if (when !== 'at the end' && this.#state.bytesToSplit !== null && incoming.some(isForThread)) {
      const batch = this.#batchOf(incoming, () => true)
      return { accepted: [], expensive: batch, later: incoming.slice(batch.length) }
    }
    const accepted: Change[] = []
    const run: Change[] = []
    let runSteps = 0
    const isSpent = when === 'at the end' ? () => false : this.#tickBudget(takeMsMax[when])
    for (const [index, received] of incoming.entries()) {
      if (index > 0 && isSpent()) {
        this.#applyRun(run, accepted)
        return this.#taken(accepted, incoming.slice(index))
      }
      const item = received.kind === 'offer' ? this.#withoutKnown(received) : received
      const steps = this.#state.stepsBound(item)
      if (runSteps + steps > loopStepsMax) this.#applyRun(run, accepted)
      runSteps = run.length === 0 ? steps : runSteps + steps
      if (steps > loopStepsMax) {
        if (!this.#isInexpensive(item)) {
          const batch = this.#batchOf([item, ...incoming.slice(index + 1)], isForThread)
          return { accepted, expensive: batch, later: incoming.slice(index + batch.length) }
        }
      } else if (this.#trace !== undefined) this.#trace.predicted(item, 0)
      if (hasPlaces(item.summary) && !this.#fitsInto(item, () => this.#applyRun(run, accepted))) continue
      if (this.#fits(item)) {
        this.#state.advance(item.summary)
        run.push(item)
        item.onApplied?.()
        // After each run, the steps that it took are known, and the budget of the tick is checked.
        if (run.length === updatesPerTransaction) this.#applyRun(run, accepted)
      } else {
        this.#applyRun(run, accepted)
        if (!this.#integrate(item, accepted)) this.addPending(item)
      }
    }
    this.#applyRun(run, accepted)
    if (accepted.length > 0 && this.#pending.size > 0) this.#retryPending(accepted)
    return this.#taken(accepted, none)
  }

  /**
   * Starts the budget of the document for this tick. Returns a function that returns whether the budget is
   * used up.
   */
  #tickBudget(msMax: number): () => boolean {
    const stepsMax = this.#state.steps + tickStepsMax
    const endsAt = performance.now() + msMax
    return () => this.#state.steps > stepsMax || performance.now() > endsAt
  }

  #taken(accepted: readonly Change[], later: readonly ClientChange[]): AppliedPart {
    const expensive = this.takeExpensive()
    return { accepted, expensive: expensive === null ? none : [expensive], later }
  }

  /**
   * Returns the first of the waiting updates, and those directly after it that may be in its job on a thread. A thread
   * reads the whole document first, so one update after the other would take quadratic time. Together, they have at most
   * as many bytes as the document, so that they take about as long as that read, and at most `batchBytesMax`.
   */
  #batchOf(
    waiting: readonly ClientChange[],
    mayJoin: (item: ClientChange) => boolean,
  ): readonly ClientChange[] {
    const bytesMax = Math.min(this.#state.sizeBytes, batchBytesMax)
    let bytes = 0
    const end = waiting.findIndex((item, index) => {
      bytes += item.bytes.length
      return index > 0 && (bytes > bytesMax || !mayJoin(item))
    })
    return end === -1 ? waiting : waiting.slice(0, end)
  }

  #withoutKnown(offer: ClientChange): ClientChange {
    const bytes = this.#state.withoutKnown(offer.bytes, offer.summary)
    return bytes === offer.bytes ? offer : { ...offer, bytes, summary: readUpdate(bytes) }
  }

  #isInexpensive(item: ClientChange): boolean {
    const { bytes, summary } = item
    // In its handshake, a client usually offers content that the document already has, for example all
    // deletions of a large document. Such an update takes no steps.
    const steps = this.#state.isKnown(bytes, summary) ? 0 : this.#state.predict(bytes, summary)
    if (this.#trace !== undefined) this.#trace.predicted(item, steps)
    return steps <= loopStepsMax
  }

  /** Applies one simple update, which is the most frequent case. */
  #takeKeystroke(item: ClientChange): readonly Change[] {
    this.#state.advance(item.summary)
    const updates: Change[] = [item]
    this.#state.applyLater(updates)
    item.onApplied?.()
    if (this.#pending.size > 0) this.#retryPending(updates)
    return updates
  }

  /**
   * Applies an expensive update that a thread has integrated into a copy of this state of the document.
   * @param placed result of the thread; its `added` is null if nothing is new
   * @throws UpdateApplyError
   */
  takePlaced(item: ClientChange, placed: PlacedIntegration): readonly Change[] {
    const { added, gap } = placed
    const accepted: Change[] = []
    if (added !== null) {
      try {
        this.#state.takePlaced(added, placed)
      } catch (cause) {
        throw new UpdateApplyError(
          'an update that a thread integrated could not be applied to the document',
          { cause },
        )
      }
      this.#acceptAdded(item, added, accepted)
    }
    if (gap) this.addPending(item)
    else item.onApplied?.()
    if (accepted.length > 0 && this.#pending.size > 0) this.#retryPending(accepted)
    return accepted
  }

  /**
   * Takes the state into which a thread has integrated expensive updates.
   * @param items the updates of `batch.placed`. The sender of a malformed update is ended
   */
  takeBatch(items: readonly ClientChange[], { placed, state }: PlacedBatch): readonly Change[] {
    const accepted: Change[] = []
    this.#state.become(state)
    for (const [index, { added, gap, problem }] of placed.entries()) {
      const item = items[index] as ClientChange
      if (problem !== null) {
        item.from.end(close('badRequest', problem))
        continue
      }
      if (added !== null) this.#acceptAdded(item, added, accepted)
      if (gap) this.addPending(item)
      else item.onApplied?.()
    }
    if (accepted.length > 0 && this.#pending.size > 0) this.#retryPending(accepted)
    return accepted
  }

  #acceptAdded(item: ClientChange, added: Uint8Array, accepted: Change[]): void {
    const isWhole = Buffer.compare(added, item.bytes) === 0
    const summary = isWhole ? item.summary : readUpdate(added)
    this.#accept({ ...item, bytes: added, summary }, accepted)
  }

  /**
   * Removes and returns the pending update that is expensive and whose dependencies have arrived; null if
   * there is none.
   */
  takeExpensive(): ClientChange | null {
    const expensive = this.#expensive
    this.#expensive = null
    return expensive
  }

  /** Returns the pending updates that must be rebased now. */
  takeOutdated(): readonly ClientChange[] {
    return this.#outdated.splice(0)
  }

  /** Retries the pending updates after a change that the caller has applied. Returns those that were applied. */
  retry(): readonly Change[] {
    const accepted: Change[] = []
    this.#retryPending(accepted)
    return accepted
  }

  hasPendingOf(member: Member): boolean {
    return this.#pending.hasOf(member)
  }

  #fits({ kind, summary }: ClientChange): boolean {
    return kind === 'update' && isPlain(summary, this.#state.clocks)
  }

  /**
   * Returns whether the new items of the update may have their places. If not, closes the sender; the room continues.
   * @param applyEarlier applies the updates before this one. Called only if a place is not in the document
   */
  #fitsInto({ bytes, from }: ClientChange, applyEarlier: () => void): boolean {
    // The room must end if its document cannot be read.
    const { doc } = this.#state
    try {
      if (!checkPlaces(bytes, doc)) {
        applyEarlier()
        checkPlaces(bytes, doc)
      }
      return true
    } catch (error) {
      if (!(error instanceof MalformedUpdateError)) throw error
      from.end(close('badRequest', errorMessage(error)))
      return false
    }
  }

  #applyRun(run: Change[], accepted: Change[]): void {
    if (run.length === 0) return
    try {
      if (run.every(({ summary }) => isSimple(summary))) this.#state.applyLater(run)
      else this.#state.applyPlain(run)
    } catch (cause) {
      throw cause instanceof DocumentExpensiveError
        ? cause
        : new UpdateApplyError('an update could not be applied', { cause })
    }
    for (const update of run) accepted.push(update)
    run.length = 0
  }

  /**
   * Applies the parts of the update whose dependencies are present. Returns false if a part was not applied
   * because its dependencies are missing.
   */
  #integrate(item: ClientChange, accepted: Change[]): boolean {
    const { bytes, summary, from, onApplied } = item
    try {
      const isKnown = isEmpty(summary) || this.#state.isKnown(bytes, summary)
      const { added, gap } = isKnown ? nothingNew : this.#state.integrate(bytes)
      if (added !== null) {
        this.#accept({ ...item, bytes: added, summary: readUpdate(added) }, accepted)
      }
      if (!gap) onApplied?.()
      return !gap
    } catch (cause) {
      if (cause instanceof DocumentExpensiveError) throw cause
      from.end(
        cause instanceof IntegrationTooExpensiveError
          ? close('tooLarge', 'the update is too expensive to integrate', 'integrationSteps')
          : close('badRequest', 'the update could not be applied'),
      )
      throw new UpdateApplyError('an update could not be integrated', { cause })
    }
  }

  #accept(added: Change, accepted: Change[]): void {
    this.#state.advance(added.summary)
    accepted.push(added)
  }

  /** Keeps an update until its dependencies have arrived. */
  addPending(incoming: ClientChange): void {
    this.#pending.add(incoming, this.#state.clocks)
    if (this.#trace !== undefined) this.#trace.pending(incoming)
    // An offer is already the reply to a request for missing updates: its sender has no more updates, and
    // further requests would repeat indefinitely.
    if (incoming.kind === 'update') incoming.from.requestMissing()
  }

  #retryPending(accepted: Change[]): void {
    // Repeats until nothing more is applied, because an applied update may complete another pending update.
    for (let before = -1; before < accepted.length; ) {
      before = accepted.length
      const taken = this.#pending.take(this.#state.clocks)
      const candidates = taken.filter(({ incoming }) => !this.#mustRebase(incoming))
      for (const update of taken) if (!candidates.includes(update)) this.#outdated.push(update.incoming)
      const waiting = candidates.filter((update) => this.#isMissingMore(update, accepted))
      this.#pending.restore(waiting)
    }
  }

  #isMissingMore({ incoming }: PendingUpdate, accepted: Change[]): boolean {
    if (!this.#isInexpensive(incoming)) {
      // Only one expensive update is integrated at a time; any other expensive update stays pending.
      const isNext = this.#expensive === null
      this.#expensive ??= incoming
      return !isNext
    }
    const isPlaced = !hasPlaces(incoming.summary) || this.#fitsInto(incoming, () => {})
    return isPlaced && !this.#integrate(incoming, accepted)
  }
}

const nothingNew = { added: null, gap: false }
