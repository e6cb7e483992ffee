import type { StoredDocument } from '../import-documents.ts'

/** One stored update of a document, or the reason why an entry of the source cannot be read. */
export type StoredUpdate =
  | { readonly name: string; readonly update: Uint8Array }
  | Extract<StoredDocument, { readonly problem: string }>

/** The reason to reject a document whose updates exceed the limit. */
export const tooLarge = (bytesMax: number): string => `its updates have more than ${bytesMax} bytes`

/**
 * Yields the documents of a source whose adjacent entries belong to one document. Does not keep the updates of a
 * document in memory that has too many.
 * @param bytesMax maximum bytes of the updates of one document
 */
export async function* collectUpdates(
  entries: AsyncIterable<StoredUpdate>,
  bytesMax: number,
): AsyncGenerator<StoredDocument> {
  let current: { readonly name: string; readonly updates: Uint8Array[]; bytes: number } | null = null
  const collected = ({ name, updates, bytes }: NonNullable<typeof current>): StoredDocument =>
    bytes <= bytesMax ? { name, updates } : { name, problem: tooLarge(bytesMax) }
  for await (const entry of entries) {
    const isProblem = 'problem' in entry
    if (current !== null && (isProblem || entry.name !== current.name)) {
      yield collected(current)
      current = null
    }
    if (isProblem) {
      yield entry
      continue
    }
    current ??= { name: entry.name, updates: [], bytes: 0 }
    current.bytes += entry.update.length
    if (current.bytes <= bytesMax) current.updates.push(entry.update)
    else current.updates.length = 0
  }
  if (current !== null) yield collected(current)
}
