/** For each of them in turn so much more time, in ms, so that where they go they do not come all at once. */
const eachMs = 10
/** Those whose moment is so near are sent together, in ms. */
const sliceMs = 20

/** Calls all of them: each at some moment of its own within `overMs` where that is more than 0, sooner if they are few. */
export async function staggerCalls(endings: readonly (() => void)[], overMs: number): Promise<void> {
  const withinMs = Math.min(overMs, endings.length * eachMs)
  const moments = endings.map((end) => ({ end, at: Math.random() * withinMs })).sort((a, b) => a.at - b.at)
  const startedAt = performance.now()
  for (const { end, at } of moments) {
    const leftMs = startedAt + at - performance.now()
    if (leftMs > sliceMs) await new Promise((resolve) => setTimeout(resolve, leftMs))
    end()
  }
}
