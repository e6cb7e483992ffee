import type { DocumentLog, Key } from '../engine/engine.ts'
import { loadRoom } from '../rooms/loading.ts'
import { StorageError } from '../storage/problem.ts'
import { type ContentSum, contentSum, isSameContent } from './merge.ts'

/** What the store has of a document. */
export type Stored =
  | { readonly state: 'absent' }
  | { readonly state: 'deleted'; readonly epoch: number }
  | {
      readonly state: 'live'
      readonly epoch: number
      readonly head: number
      /** Its whole state (V1). */
      readonly bytes: Uint8Array
    }

/** @throws CorruptRecord, StoreUnavailable */
export async function storedOf(log: DocumentLog, doc: Key): Promise<Stored> {
  const { loaded, state } = await loadRoom(log, doc)
  if (loaded.state !== 'live') return loaded
  const { epoch, head } = loaded
  return { state: 'live', epoch, head, bytes: state.encode() }
}

/** @throws StorageError when what is stored has other content than what was written */
export async function readBack(log: DocumentLog, doc: Key, content: ContentSum): Promise<void> {
  const stored = await storedOf(log, doc)
  if (stored.state === 'live' && isSameContent(contentSum(stored.bytes), content)) return
  throw new StorageError(`document ${JSON.stringify(doc)} is not what was written: run verify`)
}
