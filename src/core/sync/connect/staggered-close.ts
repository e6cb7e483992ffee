/**
 * Average milliseconds between two closes. The closes are spread, so that the clients do not all connect to
 * the other nodes at the same moment.
 */
const intervalMs = 10
/** Closes that are due within this number of milliseconds run in one slice. */
const sliceMs = 20

/**
 * Calls all functions, each at a random time within `overMs` milliseconds. For few functions, the total time
 * is shorter: `intervalMs` for each function.
 */
export async function staggerCalls(calls: readonly (() => void)[], overMs: number): Promise<void> {
  const withinMs = Math.min(overMs, calls.length * intervalMs)
  const schedule = calls.map((end) => ({ end, at: Math.random() * withinMs })).sort((a, b) => a.at - b.at)
  const startedAt = performance.now()
  for (const { end, at } of schedule) {
    const remainingMs = startedAt + at - performance.now()
    if (remainingMs > sliceMs) await new Promise((resolve) => setTimeout(resolve, remainingMs))
    end()
  }
}
