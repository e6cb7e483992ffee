/** The structs of one client in an update. */
export interface StructBlock {
  readonly client: number
  /** Clock of the first struct. */
  readonly from: number
  /** Clock after the last struct. */
  readonly to: number
  /** True if structs between `from` and `to` are missing. */
  readonly skips: boolean
  readonly structs: number
  /** Offset in the bytes at which the structs start; `end` is the offset after the last struct. */
  readonly start: number
  readonly end: number
}

/** The structs of an update and its dependencies, without its content. */
export interface UpdateSummary {
  readonly clients: readonly StructBlock[]
  /** Pairs of client and clock: structs of these other clients are required up to the clock. */
  readonly needs: readonly number[]
  /** Pairs of client and clock: a gap between the structs of the client ends at the clock. */
  readonly skippedTo: readonly number[]
  /** Pairs of client and clock: the deleted ranges of the client end at the clock. */
  readonly deletedTo: readonly number[]
  readonly structs: number
  /** Offset in the bytes at which the structs end and the deletions start. */
  readonly structsEnd: number
  /** Number of deleted ranges. */
  readonly deletes: number
  /** Number of new shared types. `checkNesting` must check them. */
  readonly types: number
  /**
   * Number of values in items with several values, for example in arrays. Splitting such an item copies its
   * values.
   */
  readonly values: number
  /**
   * Triples of client, start clock and end clock: items with several values or characters that have the same
   * parent as their origin. `checkMapEntries` must check them.
   */
  readonly longRuns: readonly number[]
}

type ClockByClient = ReadonlyMap<number, number>

/**
 * Returns whether the update starts exactly where `clocks` end, and depends only on structs that `clocks`
 * cover. Such an update can be applied and forwarded unchanged. (Another update may also be complete, because
 * its blocks depend on each other. This is rare, and such an update is left to Yjs.)
 */
export function isPlain(summary: UpdateSummary, clocks: ClockByClient): boolean {
  const { clients, needs, deletedTo } = summary
  for (const block of clients) {
    if (block.skips || block.from !== (clocks.get(block.client) ?? 0)) return false
  }
  for (let index = 0; index < needs.length; index += 2) {
    if ((clocks.get(needs[index] as number) ?? 0) < (needs[index + 1] as number)) return false
  }
  return areReached(deletedTo, clients, clocks)
}

/**
 * Returns the clocks that must be received before the whole update can be applied, as pairs of client and
 * clock. Neither `clocks` nor the update itself has them.
 */
export function missingClocks(
  { clients, needs, deletedTo, skippedTo }: UpdateSummary,
  clocks: ClockByClient,
): readonly number[] {
  const missing: number[] = []
  const add = (client: number, clock: number): void => {
    if ((clocks.get(client) ?? 0) < clock) missing.push(client, clock)
  }
  for (const { client, from } of clients) add(client, from)
  forPairs(skippedTo, add)
  const ends = new Map(clients.map(({ client, to }) => [client, to]))
  const addUnlessBrought = (client: number, clock: number): void => {
    if ((ends.get(client) ?? 0) < clock) add(client, clock)
  }
  forPairs(needs, addUnlessBrought)
  forPairs(deletedTo, addUnlessBrought)
  return missing
}

function forPairs(pairs: readonly number[], work: (client: number, clock: number) => void): void {
  for (let index = 0; index < pairs.length; index += 2)
    work(pairs[index] as number, pairs[index + 1] as number)
}

/**
 * Maximum number of clients that are searched one by one; for more clients, a map is used. Most updates have
 * one client.
 */
const searchedMax = 8

/** Returns whether each of these pairs of client and clock is reached after the update is applied. */
function areReached(
  pairs: readonly number[],
  clients: readonly StructBlock[],
  clocks: ClockByClient,
): boolean {
  const ends = clients.length > searchedMax ? new Map(clients.map(({ client, to }) => [client, to])) : null
  for (let index = 0; index < pairs.length; index += 2) {
    const client = pairs[index] as number
    const clock = pairs[index + 1] as number
    if (clock <= (clocks.get(client) ?? 0)) continue
    const end = ends === null ? clients.find((block) => block.client === client)?.to : ends.get(client)
    if ((end ?? 0) < clock) return false
  }
  return true
}

/** Advances the clocks by an update that was applied. */
export function advance(summary: UpdateSummary, clocks: Map<number, number>): void {
  for (const { client, to } of summary.clients) {
    if (to > (clocks.get(client) ?? 0)) clocks.set(client, to)
  }
}

/**
 * Returns whether the update has the size of one or two keystrokes. Then nothing must be checked in the
 * document, neither before nor after the update is applied.
 */
export const isSimple = ({ structs, deletes, types, longRuns }: UpdateSummary): boolean =>
  types === 0 && longRuns.length === 0 && structs + deletes <= simpleMax

const simpleMax = 4

export const isEmpty = (summary: UpdateSummary): boolean => summary.structs === 0 && summary.deletes === 0

/** Bytes of memory of a summary without its lists. */
const summaryBytes = 128
/** Bytes of memory of the block of one client, including its list entry. */
const blockBytes = 112
/** Bytes of memory of a number in a list. The list may have 50% unused capacity. */
const numberBytes = 12

/**
 * Returns the maximum bytes of memory of a summary. If the update has many small parts, this is several times
 * the bytes of the update.
 */
export const memoryOf = ({ clients, needs, skippedTo, deletedTo, longRuns }: UpdateSummary): number =>
  summaryBytes +
  blockBytes * clients.length +
  numberBytes * (needs.length + skippedTo.length + deletedTo.length + longRuns.length)
