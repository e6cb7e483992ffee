import { addTo } from '../base/maps.ts'
import { deletionOf } from './deletions.ts'
import { type StructRun, writeUpdate } from './join-updates.ts'
import { nullIfMalformed } from './malformed.ts'
import type { IdRange, StoredId } from './range-index.ts'
import { type ReadItem, readState, type StructPlace, type UpdateListener } from './read-update.ts'
import type { StructBlock } from './summary.ts'

interface Struct {
  readonly clock: number
  /** Offset of its bytes in the update. */
  readonly start: number
  /** The structs of other clients that it refers to. */
  readonly needs: readonly StoredId[]
}

/** The structs of one client, in order. */
interface Source extends Pick<StructBlock, 'client' | 'to' | 'end'> {
  readonly structs: readonly Struct[]
  /** Index of the next struct that is in no part. */
  next: number
  /** True while its next struct waits for a struct of another source. */
  isWaiting: boolean
}

/** A client counts as this many structs more in each part, because its first struct takes Yjs about four times as long. */
export const structsOfClient = 4

/**
 * Splits a whole state (V1) into updates of at most `partsMax` structs or deleted ranges each, and of fewer if they are
 * from many clients or have `bytesMax` bytes without the last of them. An update depends only
 * on those before it, and the deletions are last. Applied one by one, the updates have the result of the state, with
 * other work in between. Returns the state itself if it is small enough, and if only Yjs can read it: its structs
 * depend on each other in a circle, or no client may send it. Takes time and memory in proportion to the bytes.
 */
export function splitUpdate(
  bytes: Uint8Array,
  partsMax: number,
  bytesMax = Number.POSITIVE_INFINITY,
): readonly Uint8Array[] {
  const collector = new StructCollector()
  const summary = nullIfMalformed(() => readState(bytes, collector))
  if (summary === null) return [bytes]
  if (summary.structs + summary.deletes <= partsMax && bytes.length <= bytesMax) return [bytes]
  const sources = summary.clients.map(({ client, to, end }): Source => {
    return { client, to, end, structs: collector.structs.get(client) ?? [], next: 0, isWaiting: false }
  })
  const parts = new StructSplitter(bytes, sources, { partsMax, bytesMax }).split()
  return parts === null ? [bytes] : [...parts, ...splitDeletions(collector.deletions, partsMax)]
}

class StructCollector implements UpdateListener {
  readonly structs = new Map<number, Struct[]>()
  readonly deletions: IdRange[] = []

  item({ client, clock, origin, rightOrigin, parent, at }: ReadItem): void {
    const needs = [origin, rightOrigin, typeof parent === 'string' ? null : parent].filter(
      (id): id is StoredId => id !== null && id.client !== client,
    )
    addTo(this.structs, client, { clock, start: at.start, needs: needs.length === 0 ? noIds : needs })
  }

  gc(client: number, clock: number, { start }: StructPlace): void {
    addTo(this.structs, client, { clock, start, needs: noIds })
  }

  skip(client: number, clock: number, _length: number, at: StructPlace): void {
    this.gc(client, clock, at)
  }

  deletion(client: number, clock: number, length: number): void {
    this.deletions.push({ client, clock, length })
  }
}

const noIds: readonly StoredId[] = []
const noDeletions = Uint8Array.of(0)

interface PartLimits {
  readonly partsMax: number
  readonly bytesMax: number
}

/** Brings the structs of all clients into an order of their dependencies, as Yjs does, and cuts it into updates. */
class StructSplitter {
  readonly #bytes: Uint8Array
  readonly #sources: ReadonlyMap<number, Source>
  readonly #max: PartLimits
  readonly #parts: Uint8Array[] = []
  /** The sources of the current part, with the index of their first struct in it. */
  readonly #firsts = new Map<Source, number>()
  #structs = 0
  #partBytes = 0

  constructor(bytes: Uint8Array, sources: readonly Source[], max: PartLimits) {
    this.#bytes = bytes
    this.#sources = new Map(sources.map((source) => [source.client, source]))
    this.#max = max
  }

  /** Returns null if structs depend on each other in a circle. */
  split(): readonly Uint8Array[] | null {
    for (const source of this.#sources.values()) if (!this.#takeAll(source)) return null
    this.#endPart()
    return this.#parts
  }

  /** Takes all structs of a source, after those on which they depend. Uses no recursion: chains may be long. */
  #takeAll(first: Source): boolean {
    const stack = [{ source: first, until: first.to }]
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const { source, until } = top
      const struct = source.structs[source.next]
      const needed = struct === undefined || struct.clock >= until ? undefined : this.#missing(struct)
      source.isWaiting = needed !== undefined
      if (needed?.source.isWaiting === true) return false
      if (needed !== undefined) stack.push(needed)
      else if (struct === undefined || struct.clock >= until) stack.pop()
      else this.#take(source)
    }
    return true
  }

  /** Returns a source whose structs before the clock `until` must be taken before this struct. */
  #missing({ needs }: Struct): { readonly source: Source; readonly until: number } | undefined {
    for (const { client, clock } of needs) {
      const source = this.#sources.get(client)
      const next = source?.structs[source.next]
      if (source !== undefined && next !== undefined && next.clock <= clock)
        return { source, until: clock + 1 }
    }
    return undefined
  }

  #take(source: Source): void {
    if (!this.#firsts.has(source)) {
      this.#firsts.set(source, source.next)
      this.#structs += structsOfClient
    }
    const { structs, next, end } = source
    this.#partBytes += (structs[next + 1]?.start ?? end) - (structs[next]?.start ?? end)
    source.next += 1
    this.#structs += 1
    if (this.#structs >= this.#max.partsMax || this.#partBytes >= this.#max.bytesMax) this.#endPart()
  }

  #endPart(): void {
    const runs = new Map<number, StructRun>()
    for (const [{ client, to, end, structs, next }, index] of this.#firsts) {
      const [first, after] = [structs[index], structs[next]]
      const bytes = this.#bytes.subarray(first?.start, after?.start ?? end)
      const clocks = { from: first?.clock ?? 0, to: after?.clock ?? to }
      runs.set(client, { ...clocks, structs: next - index, parts: [bytes] })
    }
    if (runs.size > 0) this.#parts.push(writeUpdate(runs, noDeletions))
    this.#firsts.clear()
    this.#structs = 0
    this.#partBytes = 0
  }
}

/** Returns updates that contain only the deletions, with at most `rangesMax` ranges each. */
function splitDeletions(deletions: readonly IdRange[], rangesMax: number): readonly Uint8Array[] {
  const parts: Uint8Array[] = []
  for (let start = 0; start < deletions.length; start += rangesMax)
    parts.push(deletionOf(deletions.slice(start, start + rangesMax)))
  return parts
}
