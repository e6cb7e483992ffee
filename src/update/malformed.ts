/** Bytes that no legitimate client sends. The message says what is wrong; it may be shown to the sender. */
export class MalformedUpdateError extends Error {
  override readonly name = 'MalformedUpdateError'
}

/** A message whose framing is broken. */
export class MalformedMessageError extends Error {
  override readonly name = 'MalformedMessageError'
}
