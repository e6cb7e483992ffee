/** Returns the length of the longest sequence that starts both sequences. */
export function commonStart(a: ArrayLike<unknown>, b: ArrayLike<unknown>): number {
  const limit = Math.min(a.length, b.length)
  let length = 0
  while (length < limit && a[length] === b[length]) length += 1
  return length
}

/** Returns the length of the longest sequence that ends both sequences, without their first `start` members. */
export function commonEnd(a: ArrayLike<unknown>, b: ArrayLike<unknown>, start: number): number {
  const limit = Math.min(a.length, b.length) - start
  let length = 0
  while (length < limit && a[a.length - 1 - length] === b[b.length - 1 - length]) length += 1
  return length
}
