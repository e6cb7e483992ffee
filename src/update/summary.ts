/** The structs of one client in an update. */
export interface StructBlock {
  readonly client: number
  /** Clock of the first struct. */
  readonly from: number
  /** Clock after the last struct. */
  readonly to: number
  /** True if structs in between are missing. */
  readonly skips: boolean
  readonly structs: number
  /** Start of its structs in the bytes. */
  readonly start: number
  readonly end: number
}

/** The structs of an update and its dependencies, without its content. */
export interface UpdateSummary {
  readonly clients: readonly StructBlock[]
  /** Pairs client, clock: structs of these other clients must be known up to the clock. */
  readonly needs: readonly number[]
  /** Pairs client, clock: gaps between structs end there. */
  readonly skippedTo: readonly number[]
  /** Pairs client, clock: deleted ranges end there. */
  readonly deletedTo: readonly number[]
  readonly structs: number
  /** Offset in the bytes where the structs end and the deletions start. */
  readonly structsEnd: number
  /** Deleted ranges. */
  readonly deletes: number
  /** New shared types: `checkNesting` must check them. */
  readonly types: number
  /** Values in rows, as in arrays: splitting a row copies its values. */
  readonly values: number
  /**
   * Triples client, from clock, to clock: runs of several values or characters that have the same parent as
   * their origin. `checkMapEntries` must check them.
   */
  readonly longRuns: readonly number[]
}

type ClockByClient = ReadonlyMap<number, number>

/**
 * Returns whether the update continues exactly where `clocks` end and depends only on structs that they
 * cover. Then it can be applied and forwarded unchanged. (An update may also be complete because its blocks
 * depend on each other; that is rare and left to Yjs.)
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
 * Returns the clocks that must be received before the whole update can be applied, as pairs client, clock:
 * neither `clocks` nor the update itself have them.
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

/** If there are more clients than this, a map is used: most updates have one. */
const searchedMax = 8

/** Returns whether each of the pairs client, clock is reached after the update. */
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

/** Counts an applied update. */
export function advance(summary: UpdateSummary, clocks: Map<number, number>): void {
  for (const { client, to } of summary.clients) {
    if (to > (clocks.get(client) ?? 0)) clocks.set(client, to)
  }
}

/**
 * Returns whether the update is one or two keystrokes: nothing must be checked in the document, before or
 * after it is applied.
 */
export const isSimple = ({ structs, deletes, types, longRuns }: UpdateSummary): boolean =>
  types === 0 && longRuns.length === 0 && structs + deletes <= simpleMax

const simpleMax = 4

export const isEmpty = (summary: UpdateSummary): boolean => summary.structs === 0 && summary.deletes === 0

/** Bytes of a summary without its lists. */
const summaryBytes = 128
/** Bytes of a block of one client, with its place in the list. */
const blockBytes = 112
/** Bytes of a number in a list, which may have 50% spare capacity. */
const numberBytes = 12

/**
 * Returns the maximum bytes of memory of a summary: for many small parts, several times the bytes of the
 * update.
 */
export const memoryOf = ({ clients, needs, skippedTo, deletedTo, longRuns }: UpdateSummary): number =>
  summaryBytes +
  blockBytes * clients.length +
  numberBytes * (needs.length + skippedTo.length + deletedTo.length + longRuns.length)
