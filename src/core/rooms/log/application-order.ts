import { missingClocks, type UpdateSummary } from '../../update/summary.ts'

interface Requirement {
  readonly clock: number
  /** Index of the update that needs the structs before the clock. */
  readonly index: number
}

/**
 * Returns the indexes of updates in an order in which each follows the updates that it depends on (Kahn's algorithm).
 * Yjs needs quadratic time for another order. Updates that depend on each other in a circle are left out.
 */
export function applicationOrder(summaries: readonly UpdateSummary[]): readonly number[] {
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
