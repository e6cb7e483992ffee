/** Bytes that no legitimate client sends. The message says what is wrong; it may be shown to the sender. */
export class MalformedUpdate extends Error {
  override readonly name = 'MalformedUpdate'
}

/** A message whose framing is broken. */
export class MalformedMessage extends Error {
  override readonly name = 'MalformedMessage'
}
