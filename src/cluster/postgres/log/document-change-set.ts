import { crc32 } from 'node:zlib'
import type { CorruptRecordError, LogUpdate } from '../../../core/store/engine.ts'
import { encodeNumber } from '../../../core/store/key-encoding.ts'
import { attributionNumber, type LiveLogState, type LogState } from '../../../core/store/log-state.ts'
import { packAuthor } from '../../../core/store/stored-author.ts'
import type { DocumentRow } from './document-rows.ts'

export interface NewEntry {
  readonly doc: string
  readonly epoch: number
  readonly seq: number
  readonly at: number
  readonly by: Buffer
  readonly crc: number
  readonly bytes: Uint8Array
}

export interface NewSnapshot {
  readonly doc: string
  readonly epoch: number
  readonly seq: number
  readonly crc: number
  readonly bytes: Uint8Array
}

const noChange = { at: 0, by: '' }

/**
 * Returns the checksum of an entry. The checksum includes the key of the document and the numbers of the
 * entry, so that one entry cannot be mistaken for another.
 */
export function entryCrc(
  key: Uint8Array,
  {
    epoch,
    seq,
    at,
    by,
    bytes,
  }: Pick<NewEntry, 'epoch' | 'seq' | 'at' | 'bytes'> & { readonly by: Uint8Array },
): number {
  const numbers = Buffer.concat([encodeNumber(epoch), encodeNumber(seq), encodeNumber(at)])
  return crc32(bytes, crc32(by, crc32(numbers, crc32(key))))
}

export const snapshotCrc = (key: Uint8Array, epoch: number, seq: number, bytes: Uint8Array): number =>
  crc32(bytes, crc32(Buffer.concat([encodeNumber(epoch), encodeNumber(seq)]), crc32(key)))

/** Returns the rows of a snapshot and of the attribution that belongs to it. */
export function newSnapshots(
  { key, doc, epoch }: { readonly key: Uint8Array; readonly doc: string; readonly epoch: number },
  upTo: number,
  snapshot: Uint8Array,
  attribution: Uint8Array | null = null,
): readonly NewSnapshot[] {
  const row = (seq: number, bytes: Uint8Array): NewSnapshot => ({
    doc,
    epoch,
    seq,
    crc: snapshotCrc(key, epoch, seq, bytes),
    bytes,
  })
  return [row(upTo, snapshot), ...(attribution === null ? [] : [row(attributionNumber, attribution)])]
}

/** One document in a transaction: its stored state, and the changes that the calls of a group make to it. */
export class DocumentChangeSet {
  readonly key: Buffer
  readonly before: DocumentRow
  after: DocumentRow
  entries: NewEntry[] = []
  /** Set if the document was destroyed: entries and snapshots up to this epoch are deleted. */
  destroyedEpoch: number | null = null

  /** The error if the stored row is damaged. The document can then only be destroyed. */
  #damage: CorruptRecordError | null

  constructor(key: Buffer, before: DocumentRow, damage: CorruptRecordError | null = null) {
    this.key = key
    this.before = before
    this.after = before
    this.#damage = damage
  }

  /** @throws CorruptRecordError if the stored row is damaged */
  get standing(): LogState {
    if (this.#damage !== null) throw this.#damage
    return this.after.standing
  }

  append({ epoch, marks, head }: LiveLogState, updates: readonly LogUpdate[], at: number): void {
    const doc = this.before.id
    const entries = updates.map((update, index) => {
      const by = Buffer.from(packAuthor(update))
      const entry = { epoch, seq: head + 1 + index, at, by, bytes: update.bytes }
      return { ...entry, doc, crc: entryCrc(this.key, entry) }
    })
    for (const entry of entries) this.entries.push(entry)
    this.after = {
      ...this.after,
      standing: { state: 'live', epoch, marks, head: head + updates.length },
      changed: { at, by: updates.at(-1)?.by ?? '' },
    }
  }

  /**
   * Destroys the document.
   * @param only the expected epoch: if the document has another epoch, nothing changes
   */
  destroy(only?: number): void {
    const { standing } = this.after
    if (standing.state !== 'live') return
    const { epoch } = standing
    if (only !== undefined && only !== epoch) return
    this.entries = []
    this.destroyedEpoch = epoch
    this.#damage = null
    this.after = { ...this.after, standing: { state: 'deleted', epoch }, changed: noChange }
  }
}
