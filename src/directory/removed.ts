import type { Key } from '../engine/engine.ts'

/** The topic on which it is told that documents have been removed for good. */
export const removedTopic = 'documents.removed'

/** @param prefixes what the keys of the removed logs start with: of organizations, or of documents */
export const encodeRemoved = (prefixes: readonly Key[]): Uint8Array => Buffer.from(JSON.stringify(prefixes))

/** What `encodeRemoved` was given. */
export const decodeRemoved = (message: Uint8Array): readonly Key[] =>
  JSON.parse(Buffer.from(message).toString()) as readonly Key[]
