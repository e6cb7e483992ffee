/** Maximum number of parallel calls: Node reads this many files in parallel. */
const atOnce = 4

/**
 * Calls `work` for each item, with at most `atOnce` calls in parallel, because a store may have many files.
 * Returns the results in the order of the items.
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
