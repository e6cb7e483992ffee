/**
 * The seed of everything random in tests: WEFT_FUZZ_SEED repeats a run. Without it, each run has a new seed and so
 * tries new cases. A test that draws from it states it in its title or in its failures.
 */
export const seed = seedFrom(process.env.WEFT_FUZZ_SEED)

function seedFrom(given: string | undefined): number {
  if (given === undefined || given === '') return Date.now() % 1_000_000
  const number = Number(given)
  if (!Number.isSafeInteger(number) || number < 0)
    throw new Error(`WEFT_FUZZ_SEED is ${JSON.stringify(given)}; it must be a whole number`)
  return number
}
