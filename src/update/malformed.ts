/** Bytes that no legitimate client sends. The message describes the problem; it may be sent to the client. */
export class MalformedUpdateError extends Error {
  override readonly name = 'MalformedUpdateError'
}

/** A message whose framing is broken. */
export class MalformedMessageError extends Error {
  override readonly name = 'MalformedMessageError'
}
