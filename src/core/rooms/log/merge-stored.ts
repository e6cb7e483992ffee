import * as Y from 'yjs'
import { errorMessage } from '../../base/errors.ts'
import { createDoc, noGuid } from '../../content/yjs/create-doc.ts'
import { checkPlaces } from '../../update/check-places.ts'
import { sortDeletions } from '../../update/deletions.ts'
import { noPlacements, skipObservers, withinBudget } from '../../update/integration.ts'
import { readUpdate } from '../../update/read-update.ts'
import { missingClocks, type UpdateSummary } from '../../update/summary.ts'
import { documentStepsMax, updatesPerTransaction } from '../document/integration-limits.ts'

/** The updates of one document, merged. */
export interface Merged {
  /** All updates as one update (V1). */
  readonly bytes: Uint8Array
  readonly content: ContentSum
}

/**
 * Summary of a document's content. Two documents have the same content if both members of their summaries are
 * equal.
 */
export interface ContentSum {
  /** State vector as encoded by Yjs. */
  readonly vector: Uint8Array
  /** An update that contains all deletions and nothing else. */
  readonly deletions: Uint8Array
}

/**
 * Error for one document that cannot be stored, although other documents can be. The message is a sentence
 * without a period.
 */
export class DocumentRejectedError extends Error {
  override readonly name = 'DocumentRejectedError'
}

/** Maximum number of updates that depend on each other in a circle. Yjs takes about 0.1 s for them. */
const circularMax = 1_000

/**
 * Merges updates into one update, and vets them in the same way as updates from websockets. Uses a Y.Doc,
 * because the running time of `mergeUpdates` grows with the square of the number of updates.
 * @throws DocumentRejectedError if an update is malformed, depends on an update that is missing, or takes more steps
 * of Yjs than a server spends on a document
 */
export function mergeStored(updates: readonly Uint8Array[]): Merged {
  const doc = createDoc()
  try {
    const summaries = updates.map((bytes, index) => vet(bytes, updates.length > 1 ? index + 1 : null))
    checkComplete(summaries)
    applyAll(doc, inOrder(updates, summaries))
    return vetWhole(doc)
  } finally {
    doc.destroy()
  }
}

/**
 * Merges complete states, and returns the summary of their content.
 * @throws DocumentRejectedError if a state is malformed or incomplete
 */
export function contentSum(...states: readonly Uint8Array[]): ContentSum {
  const doc = new Y.Doc(noGuid)
  try {
    applyAll(doc, states)
    return sumOf(doc)
  } finally {
    doc.destroy()
  }
}

/**
 * Returns the part of an update that is missing in a complete state; null if no part is missing.
 * @throws DocumentRejectedError
 */
export function missingUpdate(state: Uint8Array, update: Uint8Array): Uint8Array | null {
  if (Buffer.compare(state, update) === 0) return null
  const doc = new Y.Doc(noGuid)
  let lacking: Uint8Array | null = null
  try {
    applyAll(doc, [state])
    doc.on('update', (bytes: Uint8Array) => {
      lacking = bytes
    })
    applyAll(doc, [update])
    return lacking
  } finally {
    doc.destroy()
  }
}

export const isSameContent = (a: ContentSum, b: ContentSum): boolean =>
  Buffer.compare(a.vector, b.vector) === 0 && Buffer.compare(a.deletions, b.deletions) === 0

/**
 * Rejects updates of which other updates are missing, before Yjs reads them: its time grows with the square of the
 * number of clients whose structs are missing.
 * @throws DocumentRejectedError
 */
function checkComplete(summaries: readonly UpdateSummary[]): void {
  const clocks = new Map<number, number>()
  const blocks = summaries.flatMap(({ clients }) => clients)
  for (const { client, from, to } of blocks.toSorted((one, other) => one.from - other.from)) {
    const clock = clocks.get(client) ?? 0
    if (from > clock) throw incomplete()
    clocks.set(client, Math.max(clock, to))
  }
  if (summaries.some((summary) => missingClocks(summary, clocks).length > 0)) throw incomplete()
}

/**
 * Returns updates in an order in which Yjs needs linear time.
 * @throws DocumentRejectedError if too many updates depend on each other in a circle
 */
function inOrder(updates: readonly Uint8Array[], summaries: readonly UpdateSummary[]): Uint8Array[] {
  const order = new Set(applicationOrder(summaries))
  if (updates.length - order.size > circularMax)
    throw new DocumentRejectedError(`more than ${circularMax} updates depend on each other in a circle`)
  for (const index of updates.keys()) order.add(index)
  return [...order].map((index) => updates[index] as Uint8Array)
}

const incomplete = (): DocumentRejectedError =>
  new DocumentRejectedError('it builds on updates that are missing')

/**
 * Vets an update. Returns its summary.
 * @param number position of the update for messages; null if there is only one update
 * @throws DocumentRejectedError
 */
export function vet(bytes: Uint8Array, number: number | null): UpdateSummary {
  try {
    return readUpdate(bytes)
  } catch (error) {
    const what = number === null ? 'its update' : `its update ${number}`
    throw new DocumentRejectedError(`${what} is malformed: ${errorMessage(error)}`)
  }
}

function applyAll(doc: Y.Doc, updates: readonly Uint8Array[]): void {
  skipObservers(doc)
  const stepsMax = documentStepsMax(updates.reduce((sum, { length }) => sum + length, 0))
  try {
    withinBudget({ doc, stepsMax, ...noPlacements }, () => {
      for (let start = 0; start < updates.length; start += updatesPerTransaction)
        doc.transact(() => {
          for (const bytes of updates.slice(start, start + updatesPerTransaction))
            Y.applyUpdate(doc, sortDeletions(bytes))
        })
    })
  } catch (error) {
    throw new DocumentRejectedError(`Yjs cannot read it: ${errorMessage(error)}`)
  }
  const { pendingStructs, pendingDs } = doc.store
  if (pendingStructs !== null || pendingDs !== null) throw incomplete()
}

/**
 * Checks the merged document for properties that only the whole document shows: its depth, the entries of its
 * maps, and whether its update is within the limits for reading.
 * @throws DocumentRejectedError
 */
function vetWhole(doc: Y.Doc): Merged {
  try {
    const bytes = Y.encodeStateAsUpdate(doc)
    checkPlaces(bytes, new Y.Doc(noGuid))
    return { bytes, content: sumOf(doc) }
  } catch (error) {
    throw new DocumentRejectedError(`it cannot be served: ${errorMessage(error)}`)
  }
}

function sumOf(doc: Y.Doc): ContentSum {
  const vector = Y.encodeStateVector(doc)
  return { vector, deletions: Y.encodeStateAsUpdate(doc, vector) }
}

interface Requirement {
  readonly clock: number
  /** Index of the update that needs the structs before the clock. */
  readonly index: number
}

/**
 * Returns the indexes of updates in an order in which each follows the updates that it depends on (Kahn's algorithm).
 * Yjs needs quadratic time for another order. Updates that depend on each other in a circle are left out.
 */
function applicationOrder(summaries: readonly UpdateSummary[]): readonly number[] {
  const { required, missing } = requirementsOf(summaries)
  const clocks = new Map<number, number>()
  const order = missing.flatMap((count, index) => (count === 0 ? [index] : []))
  // The loop also visits the indexes that it appends.
  for (const index of order)
    for (const { client, to } of summaries[index]?.clients ?? []) {
      if (to <= (clocks.get(client) ?? 0)) continue
      clocks.set(client, to)
      const waiting = required.get(client) ?? []
      for (let next = waiting.at(-1); next !== undefined && next.clock <= to; next = waiting.at(-1)) {
        waiting.pop()
        missing[next.index] = (missing[next.index] ?? 0) - 1
        if (missing[next.index] === 0) order.push(next.index)
      }
    }
  return order
}

/** Returns the requirements of all updates by client, the smallest clock last, and their number by update. */
function requirementsOf(summaries: readonly UpdateSummary[]) {
  const required = new Map<number, Requirement[]>()
  const missing = summaries.map((summary, index) => {
    const pairs = missingClocks(summary, new Map())
    for (let at = 0; at < pairs.length; at += 2) {
      const [client = 0, clock = 0] = pairs.slice(at, at + 2)
      const known = required.get(client)
      if (known === undefined) required.set(client, [{ clock, index }])
      else known.push({ clock, index })
    }
    return pairs.length / 2
  })
  for (const ofClient of required.values()) ofClient.sort((one, other) => other.clock - one.clock)
  return { required, missing }
}
