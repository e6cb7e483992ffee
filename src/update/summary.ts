/** The structs of one client in an update. */
export interface StructBlock {
  readonly client: number
  /** Clock of the first struct. */
  readonly from: number
  /** Clock after the last. */
  readonly to: number
  /** A part in between is left out. */
  readonly skips: boolean
  readonly structs: number
  /** Where its structs are in the bytes. */
  readonly start: number
  readonly end: number
}

/** What an update brings and what it builds on, without its content. */
export interface UpdateSummary {
  readonly clients: readonly StructBlock[]
  /** Pairs client, clock: structs of these clients must be known below the clock. Other clients' only. */
  readonly needs: readonly number[]
  /** Pairs client, clock: parts that are left out in between end there. */
  readonly skippedTo: readonly number[]
  /** Pairs client, clock: deleted ranges end there. */
  readonly deletedTo: readonly number[]
  readonly structs: number
  /** Where they end in the bytes, and what is deleted begins. */
  readonly structsEnd: number
  /** Deleted ranges. */
  readonly deletes: number
  /** New shared types: `checkNesting` has to look at them. */
  readonly types: number
  /** Values in rows, as arrays hold them: splitting a row copies its values. */
  readonly values: number
  /**
   * Triples client, from clock, to clock: runs of several values or characters that belong where their origin
   * belongs. `checkMapEntries` has to look at them.
   */
  readonly longRuns: readonly number[]
}

type ClockByClient = ReadonlyMap<number, number>

/**
 * Does the update go on exactly where `clocks` end, and build on nothing else than what they cover? Then it can be
 * applied and passed on as it is. (An update may also be whole because its blocks build on each other; that is rare
 * and left to Yjs.)
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
 * Returns the clocks that others must bring before all of the update can be applied, as pairs client, clock: neither
 * `clocks` nor the update itself have them.
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

/** More clients than this are found by a map: most updates have one. */
const searchedMax = 8

/** Returns whether each of the pairs client, clock is reached once the update is in. */
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

/** A keystroke or two: nothing of it has to be looked at in the document, before or after it is applied. */
export const isSimple = ({ structs, deletes, types, longRuns }: UpdateSummary): boolean =>
  types === 0 && longRuns.length === 0 && structs + deletes <= simpleMax

const simpleMax = 4

export const isEmpty = (summary: UpdateSummary): boolean => summary.structs === 0 && summary.deletes === 0

/** Bytes of a summary without its lists. */
const summaryBytes = 128
/** Bytes of a block of one client, with its place in the list. */
const blockBytes = 112
/** Bytes of a number in a list, which may have half as many places more. */
const numberBytes = 12

/** Returns the bytes of memory that a summary takes at most: for many small parts, several times the bytes of the update. */
export const memoryOf = ({ clients, needs, skippedTo, deletedTo, longRuns }: UpdateSummary): number =>
  summaryBytes +
  blockBytes * clients.length +
  numberBytes * (needs.length + skippedTo.length + deletedTo.length + longRuns.length)
