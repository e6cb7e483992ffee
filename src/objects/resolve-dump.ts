import { mapInOrder } from '../backups/map-in-order.ts'
import { DamagedRecordError } from '../engine/damaged-record.ts'
import type { StoreDump, StoredPage } from '../engine/engine.ts'
import { keyspaces } from '../engine/pairs/keyspaces.ts'
import { addChecksum, checkChecksum } from '../engine/pairs/record-codec.ts'
import { decodeStoredBlob, encodeBlobContent, type ObjectReference } from '../engine/pairs/stored-blob.ts'
import { StorageError } from '../storage/storage-error.ts'
import { notConfigured } from './object-blobs.ts'
import { isOfObjectIndex } from './object-index.ts'
import type { SealedObjects } from './sealed-objects.ts'

/** Limits of the objects that are read ahead. */
const ahead = { countMax: 8, bytesMax: 32 * 2 ** 20 } as const

type Pair = StoredPage[number]

/** Pairs without a reference, or one pair with its reference. */
type DumpPiece =
  | { readonly is: 'page'; readonly pairs: StoredPage }
  | { readonly is: 'reference'; readonly pair: Pair; readonly reference: ObjectReference }

/**
 * Returns a dump that has the contents of objects instead of the references, and no records of objects. The store
 * that is restored from it needs no object storage. A missing or damaged object stays a reference, so that reading
 * it reports the damage.
 * @param objects null: the first reference fails
 * @throws StorageError (while pages are read) if the object storage cannot be used
 */
export const resolveDump = (
  { format, pages }: StoreDump,
  objects: SealedObjects | null,
  onDamaged: (problem: string) => void,
): StoreDump => ({ format, pages: resolvedPages(pages, objects, onDamaged) })

async function* resolvedPages(
  pages: StoreDump['pages'],
  objects: SealedObjects | null,
  onDamaged: (problem: string) => void,
): AsyncGenerator<StoredPage> {
  const work = (piece: DumpPiece): Promise<StoredPage> =>
    piece.is === 'page'
      ? Promise.resolve(piece.pairs)
      : readContent(piece, objects, onDamaged).then((pair) => [pair])
  const bytesOf = (piece: DumpPiece): number => (piece.is === 'page' ? 0 : piece.reference.bytes)
  yield* mapInOrder(piecesOf(pages), work, { ...ahead, bytesOf })
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

async function readContent(
  { pair, reference }: Extract<DumpPiece, { is: 'reference' }>,
  objects: SealedObjects | null,
  onDamaged: (problem: string) => void,
): Promise<Pair> {
  if (objects === null) throw new StorageError(notConfigured)
  try {
    const content = await objects.get(reference)
    return [pair[0], addChecksum(pair[0], encodeBlobContent(content))]
  } catch (error) {
    if (!(error instanceof DamagedRecordError)) throw error
    onDamaged(error.message)
    return pair
  }
}
