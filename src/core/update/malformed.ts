/**
 * Thrown for an update with bytes that no legitimate client sends. The error message describes the problem,
 * and may be sent to the client.
 */
export class MalformedUpdateError extends Error {
  override readonly name = 'MalformedUpdateError'
}

/** Thrown for a message whose framing is invalid. */
export class MalformedMessageError extends Error {
  override readonly name = 'MalformedMessageError'
}
