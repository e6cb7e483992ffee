/**
 * Thrown for an update with bytes that no legitimate client sends. The error message describes the problem,
 * and may be sent to the client.
 */
export class MalformedUpdateError extends Error {
  override readonly name = 'MalformedUpdateError'
}

/** Returns the result of a read; null if the bytes are malformed. */
export function nullIfMalformed<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof MalformedUpdateError) return null
    throw error
  }
}

/** Thrown for a message whose framing is invalid. */
export class MalformedMessageError extends Error {
  override readonly name = 'MalformedMessageError'
}
