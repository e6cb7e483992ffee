/** Node reads this many files in parallel. */
const atOnce = 4

/**
 * Returns the results of `work` in the order of the items, with at most `atOnce` calls in parallel: a store
 * may have many files.
 * @throws the errors of `work`
 */
export async function mapLimit<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  const left = items.entries()
  const workOn = async () => {
    for (const [index, item] of left) results[index] = await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, workOn))
  return results
}
