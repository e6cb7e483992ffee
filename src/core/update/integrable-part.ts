import { addTo } from '../base/maps.ts'
import { type StructRun, writeUpdate } from './join-updates.ts'
import { type ReadItem, readUpdate, type StructPlace, type UpdateListener } from './read-update.ts'
import type { StructBlock, UpdateSummary } from './summary.ts'

/** Returns the next clock of a client in a document. */
type ClockOf = (client: number) => number

/**
 * Number of bytes of an update up to which Yjs itself finds the structs that can be integrated. For each client
 * with other structs, Yjs copies a list of all clients.
 */
const smallBytes = 256

/**
 * Returns the part of a vetted update (V1) that can be integrated into a document, with all
 * deletions: the structs that Yjs would integrate. Returns the update itself if this is the whole update, or if
 * it is small. Takes n·log n.
 */
export function integrablePart(bytes: Uint8Array, clockOf: ClockOf): Uint8Array {
  if (bytes.length < smallBytes) return bytes
  const dependencies = new Dependencies(clockOf)
  const summary = readUpdate(bytes, dependencies)
  dependencies.resolve(summary)
  const runs = new Map<number, StructRun>()
  let isWhole = true
  for (const block of summary.clients) {
    const end = dependencies.endOf(block)
    if (end !== null) isWhole = false
    if (end?.index !== 0) runs.set(block.client, runOf(bytes, block, end))
  }
  return isWhole ? bytes : writeUpdate(runs, bytes.subarray(summary.structsEnd))
}

function runOf(
  bytes: Uint8Array,
  { from, to, structs, start, end }: StructBlock,
  cut: StructPlace | null,
): StructRun {
  return { from, to, structs: cut?.index ?? structs, parts: [bytes.subarray(start, cut?.start ?? end)] }
}

/** A struct that depends on other structs of the update or on missing ones, or follows a gap. */
interface Dependent {
  readonly client: number
  readonly clock: number
  readonly place: StructPlace
  /** Number of dependencies that are not integrated. */
  waits: number
}

/** A dependency on the struct of a client with this clock. */
interface Dependency {
  readonly clock: number
  readonly of: Dependent
}

/**
 * The dependencies between the structs of an update. They are resolved from the structs without dependencies
 * (Kahn, "Topological sorting of large networks", 1962).
 */
class Dependencies implements UpdateListener {
  readonly #known: ClockOf
  /** The dependents of each client, in the order of their clocks. */
  readonly #dependents = new Map<number, Dependent[]>()
  /** The dependencies on each client. */
  readonly #dependencies = new Map<number, Dependency[]>()
  /** The numbers of integrated dependents and of met dependencies of each client. */
  readonly #done = new Map<number, number>()
  readonly #met = new Map<number, number>()

  constructor(known: ClockOf) {
    this.#known = known
  }

  item({ client, clock, length, origin, rightOrigin, parent, at }: ReadItem): void {
    if (clock + length <= this.#known(client)) return
    const of: Dependent = { client, clock, place: at, waits: 0 }
    for (const id of [origin, rightOrigin, typeof parent === 'string' ? null : parent]) {
      if (id === null || id.client === client || id.clock < this.#known(id.client)) continue
      of.waits += 1
      addTo(this.#dependencies, id.client, { clock: id.clock, of })
    }
    if (of.waits > 0) addTo(this.#dependents, client, of)
  }

  skip(client: number, clock: number, length: number, place: StructPlace): void {
    if (clock + length > this.#known(client))
      addTo(this.#dependents, client, { client, clock, place, waits: 1 })
  }

  /** Finds what can be integrated. */
  resolve({ clients }: UpdateSummary): void {
    for (const dependencies of this.#dependencies.values()) dependencies.sort((a, b) => a.clock - b.clock)
    const blocks = new Map(clients.map((block) => [block.client, block]))
    const open = clients.filter(({ client, from }) => from <= this.#known(client))
    for (let block = open.pop(); block !== undefined; block = open.pop())
      for (const client of this.#advance(block)) {
        const next = blocks.get(client)
        if (next !== undefined && next.from <= this.#known(client)) open.push(next)
      }
  }

  /** Returns the place of the first struct of a client that cannot be integrated; null if there is none. */
  endOf({ client, from, start }: StructBlock): StructPlace | null {
    if (from > this.#known(client)) return { index: 0, start }
    return this.#dependents.get(client)?.[this.#done.get(client) ?? 0]?.place ?? null
  }

  /** Integrates the structs of a client up to one that waits. Returns the clients that may continue. */
  #advance({ client, to }: StructBlock): readonly number[] {
    const dependents = this.#dependents.get(client) ?? []
    let done = this.#done.get(client) ?? 0
    while (dependents[done]?.waits === 0) done += 1
    this.#done.set(client, done)
    return this.#meet(client, dependents[done]?.clock ?? to)
  }

  /** Notes that the structs of a client before a clock are integrated. */
  #meet(client: number, end: number): readonly number[] {
    const dependencies = this.#dependencies.get(client) ?? []
    const continuing: number[] = []
    let met = this.#met.get(client) ?? 0
    for (let next = dependencies[met]; next !== undefined && next.clock < end; next = dependencies[met]) {
      met += 1
      next.of.waits -= 1
      if (next.of.waits === 0) continuing.push(next.of.client)
    }
    this.#met.set(client, met)
    return continuing
  }
}
