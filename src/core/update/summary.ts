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
  /**
   * Offset in the bytes of the update at which the structs start; `end` is the offset after the last struct.
   */
  readonly start: number
  readonly end: number
}

/** The structs of an update and its dependencies, without its content. */
export interface UpdateSummary {
  readonly clients: readonly StructBlock[]
  /**
   * Pairs of client and clock: the update depends on the structs of the client before this clock. The client
   * is not the one that has created the dependent struct.
   */
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
  /** True if the deleted ranges of each client are ascending and disjoint, as Yjs writes them. */
  readonly deletesInOrder: boolean
  /** Number of new shared types and subdocuments. `checkPlaces` must check them. */
  readonly types: number
  /**
   * Number of values in items that may have several values, for example elements of arrays. Splitting such an
   * item copies its values.
   */
  readonly values: number
  /**
   * Number of items with several values or characters that may be map entries. Only the document shows whether they
   * are, so `checkPlaces` must check them.
   */
  readonly longRuns: number
}

type ClockByClient = ReadonlyMap<number, number>

/**
 * Returns whether the update starts exactly where `clocks` end, and depends only on structs before `clocks`.
 * Such an update can be applied and forwarded unchanged. For other updates, the result is false even if they
 * are complete because their blocks depend on each other, or if their deletions are not in order. Such updates
 * are rare, and are left to Yjs.
 */
export function isPlain(summary: UpdateSummary, clocks: ClockByClient): boolean {
  const { clients, needs, deletedTo, deletesInOrder } = summary
  if (!deletesInOrder) return false
  for (const block of clients) {
    if (block.skips || block.from !== (clocks.get(block.client) ?? 0)) return false
  }
  for (let index = 0; index < needs.length; index += 2) {
    if ((clocks.get(needs[index] as number) ?? 0) < (needs[index + 1] as number)) return false
  }
  return areReached(deletedTo, clients, clocks)
}

/**
 * Returns the dependencies that are missing: pairs of client and clock that neither `clocks` nor the update
 * itself has. The whole update can be applied when all these clocks have been received.
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
 * Maximum number of clients for which a linear search is used; for more clients, a map is used. Most updates
 * have one client.
 */
const searchedMax = 8

/**
 * Returns whether the document, which has `clocks` now, would have all clocks of `pairs` after an update with
 * these `clients`.
 */
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

/** Advances `clocks` past an update that was applied. */
export function advance(summary: UpdateSummary, clocks: Map<number, number>): void {
  for (const { client, to } of summary.clients) {
    if (to > (clocks.get(client) ?? 0)) clocks.set(client, to)
  }
}

/**
 * Returns whether the update has at most the size of two keystrokes and needs no checks against the document,
 * neither before nor after it is applied.
 */
export const isSimple = ({ structs, deletes, types, longRuns }: UpdateSummary): boolean =>
  types === 0 && longRuns === 0 && structs + deletes <= simpleMax

const simpleMax = 4

export const isEmpty = (summary: UpdateSummary): boolean => summary.structs === 0 && summary.deletes === 0

/** Memory in bytes of a summary without its lists. */
const summaryBytes = 128
/** Memory in bytes of the block of one client, including its list entry. */
const blockBytes = 112
/** Memory in bytes of a number in a list; the list may have 50% unused capacity. */
const numberBytes = 12

/**
 * Returns an upper bound of the memory in bytes that a summary takes. If the update has many small parts,
 * this is several times the bytes of the update.
 */
export const memoryOf = ({ clients, needs, skippedTo, deletedTo }: UpdateSummary): number =>
  summaryBytes +
  blockBytes * clients.length +
  numberBytes * (needs.length + skippedTo.length + deletedTo.length)
