/** Maximum number of parallel calls. It is the number of files that Node reads in parallel. */
const atOnce = 4

/**
 * Calls `work` for each item, with at most `atOnce` calls in parallel. Without this limit, a store with many
 * files would cause as many parallel calls. Returns the results in the order of the items.
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
