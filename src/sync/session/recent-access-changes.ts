import type { AccessChange } from '../../directory/permissions/access-change.ts'
import type { Session } from './session.ts'
import { isAffectedBy } from './session-index.ts'

/** Number of kept changes: more than the number of changes that occur while a client connects. */
const changesMax = 1_024

/**
 * A change with more ids is kept as one that affects all sessions: many long ids would take a quarter of a
 * megabyte.
 */
const namesMax = 32

/** The latest access changes, for a session whose permission was read before it was indexed. */
export class RecentAccessChanges {
  /** A ring buffer; null stands for a change with unknown content. */
  readonly #changes: (AccessChange | null)[] = []
  #count = 0

  /** Number of changes so far. */
  get count(): number {
    return this.#count
  }

  /** @param change null: its content is unknown */
  add(change: AccessChange | null): void {
    this.#changes[this.#count % changesMax] = change === null ? null : boundedChange(change)
    this.#count += 1
  }

  /** Returns whether a change after the first `count` may affect this session. */
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
