import { memoized } from '../../base/maps.ts'
import type { ChangeMeta, ChangeOrigin, ChangeSource } from '../../model/change-origin.ts'
import { type IdListener, partsOfClient, readIds, runSteps, StepMeter, type Steps } from '../outline.ts'
import type { AttributedRange, Attribution } from './attribution.ts'
import { RangeList } from './range-list.ts'

/** The origin of ids that were inserted or deleted before the server knew their authors. */
const unknownOrigin: ChangeOrigin = { by: '', at: 0, source: 'socket', meta: null }

/** An entry of a log: its update (V1) and the origin of the update. */
export interface AttributedUpdate extends Pick<ChangeOrigin, 'by' | 'at'> {
  readonly bytes: Uint8Array
  /** Default: `socket`. */
  readonly source?: ChangeSource
  /** Default: null. */
  readonly meta?: ChangeMeta | null
}

/**
 * Milliseconds within which the changes of one author have one time. The time is that of the first of these
 * changes. Without this rule, each keystroke would be a range of its own.
 */
export const sameTimeMs = 5_000

/**
 * Determines the attribution of a document from the entries of its log, in their order. The first entry that
 * inserts an id, and the first that deletes it, give the origin. So a client gains nothing if it uses the
 * client id of another user or sends an update again.
 */
export class AttributionBuilder implements IdListener {
  readonly #inserted = new Map<number, RangeList>()
  readonly #deleted = new Map<number, RangeList>()
  /** The newest origin of each author. */
  readonly #newest = new Map<string, ChangeOrigin>()
  #entry: ChangeOrigin | null = null
  #origin: ChangeOrigin | null = null
  readonly #originOfEntry = (): ChangeOrigin => {
    this.#origin ??= this.#resolve(this.#entry as ChangeOrigin)
    return this.#origin
  }

  /**
   * Creates a builder in steps between which other work can run.
   * @param base the attribution of the entries before the first one that is added
   */
  static *after(base: Attribution): Steps<AttributionBuilder> {
    const builder = new AttributionBuilder()
    yield* builder.#load(base)
    return builder
  }

  /**
   * Adds the next entry. Throws in the middle if the bytes are damaged; the builder must then not be used
   * again.
   * @throws MalformedUpdateError
   */
  add(entry: AttributedUpdate): void {
    runSteps(this.addSteps(entry))
  }

  /** Adds as `add`, in steps between which other work can run. No other entry may be added meanwhile. */
  *addSteps({ bytes, by, at, source = 'socket', meta = null }: AttributedUpdate): Steps<void> {
    this.#entry = { by, at, source, meta }
    this.#origin = null
    yield* readIds(bytes, this)
  }

  /**
   * Gives all ids of a state (V1) that have no origin yet the unknown origin, so that no later entry gets them.
   * Works in steps.
   * @throws MalformedUpdateError
   */
  addUnknown(state: Uint8Array): Steps<void> {
    return this.addSteps({ ...unknownOrigin, bytes: state })
  }

  /** Adds the attribution of entries that follow, in steps between which other work can run. */
  *addLater(later: Attribution): Steps<void> {
    const resolved = new Map<ChangeOrigin, ChangeOrigin>()
    for (const origin of [...originsOf(later)].sort((a, b) => a.at - b.at))
      resolved.set(origin, this.#resolve(origin))
    yield* extend(this.#inserted, later.inserted, resolved)
    yield* extend(this.#deleted, later.deleted, resolved)
  }

  build(): Attribution {
    return runSteps(this.buildSteps())
  }

  /** Builds as `build`, in steps between which other work can run. No entry may be added meanwhile. */
  *buildSteps(): Steps<Attribution> {
    return { inserted: yield* rangesOf(this.#inserted), deleted: yield* rangesOf(this.#deleted) }
  }

  *#load(base: Attribution): Steps<void> {
    yield* fill(this.#inserted, base.inserted)
    yield* fill(this.#deleted, base.deleted)
    for (const origin of originsOf(base)) {
      const author = authorKey(origin)
      const newest = this.#newest.get(author)
      if (newest === undefined || newest.at < origin.at) this.#newest.set(author, origin)
    }
  }

  inserted(client: number, from: number, to: number): void {
    listOf(this.#inserted, client).add(from, to, this.#originOfEntry)
  }

  deleted(client: number, from: number, to: number): void {
    listOf(this.#deleted, client).add(from, to, this.#originOfEntry)
  }

  /** Returns the newest origin of the same author if its time is close; otherwise a new one. */
  #resolve(origin: ChangeOrigin): ChangeOrigin {
    const author = authorKey(origin)
    const newest = this.#newest.get(author)
    if (newest !== undefined && Math.abs(origin.at - newest.at) <= sameTimeMs) return newest
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

/** Returns a text that is equal for changes with the same user, source and data. */
export const authorKey = ({ by, source, meta }: Omit<ChangeOrigin, 'at'>): string =>
  source === 'socket' && meta === null ? by : `\0${JSON.stringify([source, by, meta])}`

const listOf = (lists: Map<number, RangeList>, client: number): RangeList =>
  memoized(lists, client, () => new RangeList())

function* fill(lists: Map<number, RangeList>, stored: Attribution['inserted']): Steps<void> {
  const step = new StepMeter()
  for (const [client, ranges] of stored) {
    lists.set(client, RangeList.of(ranges))
    if (step.isOver(ranges.length + partsOfClient)) yield
  }
}

function* extend(
  lists: Map<number, RangeList>,
  later: Attribution['inserted'],
  resolved: ReadonlyMap<ChangeOrigin, ChangeOrigin>,
): Steps<void> {
  const step = new StepMeter()
  for (const [client, ranges] of later) {
    const list = listOf(lists, client)
    for (const { clock, length, origin } of ranges) {
      list.add(clock, clock + length, () => resolved.get(origin) ?? origin)
      if (step.isOver(1)) yield
    }
    if (step.isOver(partsOfClient)) yield
  }
}

function* rangesOf(lists: ReadonlyMap<number, RangeList>): Steps<Attribution['inserted']> {
  const all = new Map<number, readonly AttributedRange[]>()
  const step = new StepMeter()
  for (const [client, list] of lists) {
    const ranges = list.ranges()
    all.set(client, ranges)
    if (step.isOver(ranges.length + partsOfClient)) yield
  }
  return all
}
