import type { AccessChange } from '../../directory/permissions/access-change.ts'
import type { Session } from './session.ts'
import { isAffectedBy } from './session-index.ts'

/** So many changes are remembered: more than come while a newcomer is let in, however many come at once. */
const changesMax = 1_024

/** A change that names more is kept as one that concerns all: a bulk of long ids would take a quarter of a megabyte. */
const namesMax = 32

/** The last changes of access: what somebody has missed whose access was read before they were listed. */
export class RecentAccessChanges {
  /** A ring; null stands for changes that nobody could see. */
  readonly #changes: (AccessChange | null)[] = []
  #count = 0

  /** Number of changes so far. */
  get count(): number {
    return this.#count
  }

  /** @param change null: whatever it may have been */
  add(change: AccessChange | null): void {
    this.#changes[this.#count % changesMax] = change === null ? null : boundedChange(change)
    this.#count += 1
  }

  /** May one that came after the first `count` concern this session? */
  mayAffect(session: Session, count: number): boolean {
    if (this.#count - count > changesMax) return true
    for (let at = count; at < this.#count; at++) {
      const change = this.#changes[at % changesMax] ?? null
      if (change === null || isAffectedBy(change, session)) return true
    }
    return false
  }
}

const boundedChange = (change: AccessChange): AccessChange =>
  change.documents.length + change.users.length <= namesMax
    ? change
    : { scope: change.scope, all: true, documents: [], users: [] }
