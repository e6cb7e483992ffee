/** Maximum characters of an idempotency key. */
export const keyLengthMax = 255
/** Matches visible ASCII. Node joins repeated headers with a comma and a space, which this pattern rejects. */
const keyPattern = /^[!-~]+$/

/** Returns whether a value is a valid idempotency key. */
export const isIdempotencyKey = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= keyLengthMax && keyPattern.test(value)
