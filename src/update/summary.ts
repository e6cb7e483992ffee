/** The structs of one client in an update. */
export interface ClientBlock {
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
  readonly clients: readonly ClientBlock[]
  /** Pairs client, clock: structs of these clients must be known below the clock. Other clients' only. */
  readonly needs: readonly number[]
  /** Pairs client, clock: deleted ranges end there. */
  readonly deletedTo: readonly number[]
  readonly structs: number
  /** Where they end in the bytes, and what is deleted begins. */
  readonly structsEnd: number
  /** Deleted ranges. */
  readonly deletes: number
  /** New shared types: `checkNesting` has to look at them. */
  readonly types: number
  /**
   * Triples client, from clock, to clock: runs of several values or characters that belong where their origin
   * belongs. `checkEntries` has to look at them.
   */
  readonly longRuns: readonly number[]
}

type Clocks = ReadonlyMap<number, number>

/**
 * Does the update go on exactly where `clocks` end, and build on nothing else than what they cover? Then it can be
 * applied and passed on as it is. (An update may also be whole because its blocks build on each other; that is rare
 * and left to Yjs.)
 */
export function isPlain(summary: UpdateSummary, clocks: Clocks): boolean {
  const { clients, needs, deletedTo } = summary
  for (const block of clients) {
    if (block.skips || block.from !== (clocks.get(block.client) ?? 0)) return false
  }
  for (let index = 0; index < needs.length; index += 2) {
    if ((clocks.get(needs[index] as number) ?? 0) < (needs[index + 1] as number)) return false
  }
  for (let index = 0; index < deletedTo.length; index += 2) {
    const client = deletedTo[index] as number
    if (clockAfter(clients, clocks, client) < (deletedTo[index + 1] as number)) return false
  }
  return true
}

/** False when the update still builds on something that neither `clocks` nor the update itself bring. */
export function mayBeWhole({ clients, needs, deletedTo }: UpdateSummary, clocks: Clocks): boolean {
  const reaches = (pairs: readonly number[]): boolean => {
    for (let index = 0; index < pairs.length; index += 2) {
      if (clockAfter(clients, clocks, pairs[index] as number) < (pairs[index + 1] as number)) return false
    }
    return true
  }
  const starts = clients.every(({ client, from }) => from <= (clocks.get(client) ?? 0))
  return starts && reaches(needs) && reaches(deletedTo)
}

/** Where `client` stands once the update is in. */
function clockAfter(clients: readonly ClientBlock[], clocks: Clocks, client: number): number {
  const known = clocks.get(client) ?? 0
  for (const block of clients) if (block.client === client) return Math.max(known, block.to)
  return known
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
