/**
 * Returns the first index below `length` at which `isReached` is true; `length` if there is none. `isReached` must be
 * true for all indexes after it. Takes logarithmic time.
 */
export function firstIndex(length: number, isReached: (index: number) => boolean): number {
  let [low, high] = [0, length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isReached(middle)) high = middle
    else low = middle + 1
  }
  return low
}
