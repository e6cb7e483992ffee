/** Node reads so many files at the same time. */
const atOnce = 4

/** What `work` makes of each item, in their order; of a store's many files, a few at a time. @throws what it throws */
export async function mapLimit<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  const left = items.entries()
  const workOn = async () => {
    for (const [index, item] of left) results[index] = await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, workOn))
  return results
}
