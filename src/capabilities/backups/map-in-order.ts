/** Limits of the work that `mapInOrder` does at the same time. A single item may exceed `bytesMax`. */
interface AheadLimits<T> {
  readonly countMax: number
  readonly bytesMax: number
  readonly bytesOf: (item: T) => number
}

/**
 * Calls `work` for several items at the same time, and yields the results in the order of the items. When it
 * ends, also by an error, no call is in progress.
 * @throws the errors of `source` and `work`
 */
export async function* mapInOrder<T, R>(
  source: AsyncIterable<T> | Iterable<T>,
  work: (item: T) => Promise<R>,
  { countMax, bytesMax, bytesOf }: AheadLimits<T>,
): AsyncGenerator<R> {
  const running: { readonly bytes: number; readonly result: Promise<R> }[] = []
  let bytes = 0
  try {
    for await (const item of source) {
      const own = bytesOf(item)
      for (let first = running[0]; first !== undefined; first = running[0]) {
        if (running.length < countMax && bytes + own <= bytesMax) break
        yield await first.result
        running.shift()
        bytes -= first.bytes
      }
      const result = work(item)
      // The error is thrown when it is the turn of the item.
      result.catch(() => undefined)
      running.push({ bytes: own, result })
      bytes += own
    }
    for (const { result } of running) yield await result
  } finally {
    await Promise.allSettled(running.map(({ result }) => result))
  }
}
