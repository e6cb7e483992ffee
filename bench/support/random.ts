/** Function that returns a random integer from 0 to `below - 1`. */
export type Random = (below: number) => number

/** Returns a generator of pseudorandom numbers. The numbers are the same in each run. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
