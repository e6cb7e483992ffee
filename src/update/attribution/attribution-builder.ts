import type { ChangeOrigin } from '../../model/change-origin.ts'
import { type IdListener, readOutline } from '../outline.ts'
import type { AttributedRange, Attribution } from './attribution.ts'
import { RangeList } from './range-list.ts'

/** An entry of a log: its update (V1) and the origin of the update. */
export interface AttributedUpdate extends ChangeOrigin {
  readonly bytes: Uint8Array
}

/**
 * Milliseconds within which the changes of one author have one time. The time is that of the first of these
 * changes. Without this rule, each keystroke would be a range of its own.
 */
const sameTimeMs = 5_000

/**
 * Determines the attribution of a document from the entries of its log, in their order. The first entry that
 * inserts an id, and the first that deletes it, give the origin. So a client gains nothing if it uses the
 * client id of another user or sends an update again.
 */
export class AttributionBuilder implements IdListener {
  readonly #inserted: Map<number, RangeList>
  readonly #deleted: Map<number, RangeList>
  /** The newest origin of each author. */
  readonly #newest = new Map<string, ChangeOrigin>()
  #entry: ChangeOrigin | null = null
  #origin: ChangeOrigin | null = null
  readonly #originOfEntry = (): ChangeOrigin => {
    this.#origin ??= this.#resolve(this.#entry as ChangeOrigin)
    return this.#origin
  }

  /** @param base the attribution of the entries before the first one that is added */
  constructor(base?: Attribution) {
    this.#inserted = listsOf(base?.inserted)
    this.#deleted = listsOf(base?.deleted)
    if (base === undefined) return
    for (const origin of originsOf(base)) {
      const author = authorOf(origin)
      const newest = this.#newest.get(author)
      if (newest === undefined || newest.at < origin.at) this.#newest.set(author, origin)
    }
  }

  /**
   * Adds the next entry. Throws in the middle if the bytes are damaged; the builder must then not be used
   * again.
   * @throws MalformedUpdateError
   */
  add(entry: AttributedUpdate): void {
    this.#entry = entry
    this.#origin = null
    readOutline(entry.bytes, this)
  }

  build(): Attribution {
    return { inserted: rangesOf(this.#inserted), deleted: rangesOf(this.#deleted) }
  }

  inserted(client: number, from: number, to: number): void {
    listOf(this.#inserted, client).add(from, to, this.#originOfEntry)
  }

  deleted(client: number, from: number, to: number): void {
    listOf(this.#deleted, client).add(from, to, this.#originOfEntry)
  }

  /** Returns the newest origin of the same author if its time is close; otherwise a new one. */
  #resolve({ by, at, source, meta }: ChangeOrigin): ChangeOrigin {
    const author = authorOf({ by, source, meta })
    const newest = this.#newest.get(author)
    if (newest !== undefined && Math.abs(at - newest.at) <= sameTimeMs) return newest
    const origin: ChangeOrigin = { by, at, source, meta }
    this.#newest.set(author, origin)
    return origin
  }
}

/** Returns the different origins of an attribution. Origins of equal values are one origin if they are one object. */
export function originsOf({ inserted, deleted }: Attribution): ReadonlySet<ChangeOrigin> {
  const origins = new Set<ChangeOrigin>()
  for (const lists of [inserted, deleted])
    for (const ranges of lists.values()) for (const { origin } of ranges) origins.add(origin)
  return origins
}

/** Returns a text that is equal for changes of the same user that were made in the same way. */
export const authorOf = ({ by, source, meta }: Omit<ChangeOrigin, 'at'>): string =>
  source === 'socket' && meta === null ? by : `\0${JSON.stringify([source, by, meta])}`

function listOf(lists: Map<number, RangeList>, client: number): RangeList {
  const known = lists.get(client)
  if (known !== undefined) return known
  const list = new RangeList()
  lists.set(client, list)
  return list
}

const listsOf = (
  lists: ReadonlyMap<number, readonly AttributedRange[]> = new Map(),
): Map<number, RangeList> => new Map([...lists].map(([client, ranges]) => [client, RangeList.of(ranges)]))

const rangesOf = (lists: ReadonlyMap<number, RangeList>): Map<number, readonly AttributedRange[]> =>
  new Map([...lists].map(([client, list]) => [client, list.ranges()]))
