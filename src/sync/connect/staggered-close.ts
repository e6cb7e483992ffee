/** Time between two closes, in ms, so that the clients do not all reach the other nodes simultaneously. */
const intervalMs = 10
/** Closes that are due within this time run together, in ms. */
const sliceMs = 20

/** Calls all functions, each at a random time within `overMs`, or within a shorter time if they are few. */
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
