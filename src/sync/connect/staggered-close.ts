/** For each of them in turn so much more time, in ms, so that where they go they do not come all at once. */
const intervalMs = 10
/** Those whose moment is so near are sent together, in ms. */
const sliceMs = 20

/** Calls all of them: each at some moment of its own within `overMs` where that is more than 0, sooner if they are few. */
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
