import { loadRoom } from '../../../core/rooms/log/load-room.ts'
import { type ContentSum, contentSum, isSameContent } from '../../../core/rooms/log/merge-stored.ts'
import type { DocumentLog, Key } from '../../../core/store/engine.ts'
import { StorageError } from '../../backups/storage/storage-error.ts'

export type StoredDocumentState =
  | { readonly state: 'absent' }
  | { readonly state: 'deleted'; readonly epoch: number }
  | {
      readonly state: 'live'
      readonly epoch: number
      readonly head: number
      /** The complete state of the document (encoding V1). */
      readonly bytes: Uint8Array
    }

/** Reads the state of a document from the store. @throws CorruptRecordError, StoreUnavailableError */
export async function readStoredState(log: DocumentLog, doc: Key): Promise<StoredDocumentState> {
  const { loaded, state } = await loadRoom(log, doc, { isBounded: false })
  if (loaded.state !== 'live') return loaded
  const { epoch, head } = loaded
  return { state: 'live', epoch, head, bytes: state.encode() }
}

/**
 * Reads a document from the store after a write, and checks that it has the content that was written.
 * @throws StorageError if the content differs
 */
export async function readBack(log: DocumentLog, doc: Key, content: ContentSum): Promise<void> {
  const stored = await readStoredState(log, doc)
  if (stored.state === 'live' && isSameContent(contentSum(stored.bytes), content)) return
  throw new StorageError(`document ${JSON.stringify(doc)} differs from what was written: run verify`)
}
