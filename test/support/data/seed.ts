/** Every short run of the tests has this seed, so that it tests the same cases on each machine. */
const usualSeed = 271_828

/**
 * Seed of all random numbers in tests. A long run (WEFT_TEST_LONG=1), the soak test and the cluster test have a new
 * seed, and therefore test new cases. WEFT_FUZZ_SEED sets the seed, so that a run can be repeated. A test that uses the seed must state it in
 * its title or in its failure messages.
 */
export const seed = seedFrom(process.env.WEFT_FUZZ_SEED)

function seedFrom(given: string | undefined): number {
  if (given === undefined || given === '')
    return process.env.VITEST !== undefined && process.env.WEFT_TEST_LONG !== '1'
      ? usualSeed
      : Date.now() % 1_000_000
  const number = Number(given)
  if (!Number.isSafeInteger(number) || number < 0)
    throw new Error(`WEFT_FUZZ_SEED is ${JSON.stringify(given)}; it must be a whole number`)
  return number
}
