import type { StoreDump, StoredPage } from '../../../core/store/engine.ts'
import { decodeKey } from '../../../core/store/key-encoding.ts'
import { keyspaces } from '../../../core/store/pairs/keyspaces.ts'
import { addChecksum, checkChecksum } from '../../../core/store/pairs/record-codec.ts'
import {
  decodeStoredBlob,
  encodeBlobContent,
  type ObjectReference,
} from '../../../core/store/pairs/stored-blob.ts'
import { DamagedRecordError, withRecordName } from '../../../core/store/stored-record.ts'
import { mapInOrder } from '../map-in-order.ts'
import { StorageError } from '../storage/storage-error.ts'
import { notConfigured } from './object-blobs.ts'
import { isOfObjectIndex } from './object-index.ts'
import type { SealedObjects } from './sealed-objects.ts'

/** Limits of the objects that are read ahead. */
export const objectsAhead = { countMax: 8, bytesMax: 32 * 2 ** 20 } as const

type Pair = StoredPage[number]

/** Pairs without a reference, or one pair with its reference. */
type DumpPiece =
  | { readonly is: 'page'; readonly pairs: StoredPage }
  | { readonly is: 'reference'; readonly pair: Pair; readonly reference: ObjectReference }

/**
 * Returns a dump that has the contents of objects instead of the references, and no records of objects. The store
 * that is restored from it needs no object storage.
 * @param objects null: the first reference fails
 * @throws while pages are read: StorageError if the object storage cannot be used; CorruptRecordError if an object is
 *   missing or damaged
 */
export const resolveDump = ({ format, pages }: StoreDump, objects: SealedObjects | null): StoreDump => ({
  format,
  pages: resolvedPages(pages, objects),
})

async function* resolvedPages(
  pages: StoreDump['pages'],
  objects: SealedObjects | null,
): AsyncGenerator<StoredPage> {
  const work = (piece: DumpPiece): Promise<StoredPage> =>
    piece.is === 'page' ? Promise.resolve(piece.pairs) : readContent(piece, objects).then((pair) => [pair])
  const bytesOf = (piece: DumpPiece): number => (piece.is === 'page' ? 0 : piece.reference.bytes)
  yield* mapInOrder(piecesOf(pages), work, { ...objectsAhead, bytesOf })
}

async function* piecesOf(pages: StoreDump['pages']): AsyncGenerator<DumpPiece> {
  for await (const page of pages) {
    let pairs: Pair[] = []
    for (const pair of page) {
      if (isOfObjectIndex(pair[0])) continue
      const reference = referenceIn(pair)
      if (reference === null) {
        pairs.push(pair)
        continue
      }
      yield { is: 'page', pairs }
      pairs = []
      yield { is: 'reference', pair, reference }
    }
    yield { is: 'page', pairs }
  }
}

/** Returns null also for a damaged record, which the dump has as it is stored. */
function referenceIn([key, value]: Pair): ObjectReference | null {
  if (key[0] !== keyspaces.blobs[0]) return null
  try {
    const stored = decodeStoredBlob(
      checkChecksum(key, Buffer.from(value.buffer, value.byteOffset, value.length)),
    )
    return stored.is === 'reference' ? stored.reference : null
  } catch (error) {
    if (error instanceof DamagedRecordError) return null
    throw error
  }
}

function readContent(
  { pair: [key], reference }: Extract<DumpPiece, { is: 'reference' }>,
  objects: SealedObjects | null,
): Promise<Pair> {
  if (objects === null) throw new StorageError(notConfigured)
  return withRecordName('blob', decodeKey(Buffer.from(key.subarray(keyspaces.blobs.length))), async () => {
    const content = await objects.getForBackup(reference)
    return [key, addChecksum(key, encodeBlobContent(content))] as const
  })
}
