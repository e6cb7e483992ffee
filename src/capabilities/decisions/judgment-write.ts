import type { Transaction } from '../../core/directory/store/transaction.ts'
import {
  type Judgment,
  type JudgmentChange,
  type JudgmentEdit,
  type JudgmentLocation,
  judgmentKeys,
  type MemoryState,
} from './judgment-keys.ts'

/** Reviewer id in judgments from which the reviewer was erased. The id of a reviewer is never empty. */
const forgotten = ''

/**
 * Collects the writes of one change: records of judgments, index entries, totals, and the entry that nodes
 * use to update their indexes.
 */
export class JudgmentWrite {
  readonly #transaction: Transaction
  readonly #added: JudgmentEdit[] = []
  readonly #anonymized: JudgmentEdit[] = []
  readonly #removed: string[] = []
  state: MemoryState

  constructor(transaction: Transaction, state: MemoryState) {
    this.#transaction = transaction
    this.state = state
  }

  add(judgment: Judgment): void {
    const { judgmentId, organizationId, reviewerId } = judgment
    const { characters } = this.#put(judgment)
    this.#transaction.put(judgmentKeys.review(reviewerId, organizationId, judgmentId), {})
    this.#added.push(changed(judgment))
    this.#count(1, characters)
  }

  /** Removes the reviewer from a judgment. The decision remains. */
  anonymize(judgment: Judgment): void {
    const { judgmentId, organizationId, reviewerId } = judgment
    this.#transaction.delete(judgmentKeys.review(reviewerId, organizationId, judgmentId))
    this.#put({ ...judgment, reviewerId: forgotten })
    this.#anonymized.push(changed(judgment))
  }

  remove(judgmentId: string, location: JudgmentLocation): void {
    this.#transaction.delete(judgmentKeys.judgment(location, judgmentId))
    this.#transaction.delete(judgmentKeys.location(judgmentId))
    this.#transaction.delete(judgmentKeys.review(location.reviewerId, location.organizationId, judgmentId))
    this.#removed.push(judgmentId)
    this.#count(-1, -location.characters)
  }

  /**
   * Stores the entry that nodes use to update their indexes. Does nothing if nothing was changed.
   * @param kept number of the most recent entries that stay stored
   */
  end(kept: number): void {
    const [added, anonymized, removed] = [this.#added, this.#anonymized, this.#removed]
    if (added.length + anonymized.length + removed.length === 0) return
    const changes = this.state.changes + 1
    const change: JudgmentChange = { added, anonymised: anonymized, removed }
    this.#transaction.put(judgmentKeys.change(changes), change)
    if (changes > kept) this.#transaction.delete(judgmentKeys.change(changes - kept))
    this.#transaction.put(judgmentKeys.state, { ...this.state, changes })
  }

  #put(judgment: Judgment): JudgmentLocation {
    const { judgmentId, organizationId, documentId, query, reason, reviewerId } = judgment
    const characters = query.length + reason.length
    const location: JudgmentLocation = { organizationId, documentId, characters, reviewerId }
    this.#transaction.put(judgmentKeys.judgment(judgment, judgmentId), judgment)
    this.#transaction.put(judgmentKeys.location(judgmentId), location)
    return location
  }

  #count(judgments: number, characters: number): void {
    const { state } = this
    this.state = {
      ...state,
      count: state.count + judgments,
      characters: state.characters + characters,
    }
  }
}

const changed = ({ judgmentId, organizationId, documentId }: Judgment): JudgmentEdit => ({
  judgmentId,
  organizationId,
  documentId,
})
