import * as Y from 'yjs'
import type { Clock } from '../clock.ts'
import { systemClock } from '../clock.ts'
import type { DocumentLog, Key } from '../engine/engine.ts'
import { messageOf } from '../errors.ts'
import { addressKey, type DocumentAddress } from '../model/address.ts'
import { loadRoom } from '../rooms/loading.ts'
import { keepNone } from '../rooms/log-form.ts'
import { noUpdate } from '../rooms/state.ts'
import { StorageError } from '../storage/problem.ts'
import { readUpdate } from '../update/read.ts'
import type { ExportedLog } from './manifest.ts'

/** The time at which something was done on another server. */
export class PastClock implements Clock {
  /** Epoch milliseconds; null: it is now. */
  at: number | null = null

  now(): number {
    return this.at ?? systemClock.now()
  }

  after(ms: number, fn: () => void): () => void {
    return systemClock.after(ms, fn)
  }
}

/** `there`: all of it was there already. `merged`: there was something else, which stays. */
export type Placed = 'added' | 'merged' | 'there'

export interface DocumentToPlace {
  readonly address: DocumentAddress
  /** A whole state (V1). */
  readonly bytes: Uint8Array
  /** Where its log is to stand where there is none; null: as one that has just been begun. */
  readonly log: ExportedLog | null
}

/** Writes documents into the store of a stopped server, and reads them back. */
export class DocumentRestorer {
  readonly #log: DocumentLog
  readonly #clock: PastClock

  /** @param clock that of the engine, with which nobody else writes meanwhile */
  constructor(log: DocumentLog, clock: PastClock) {
    this.#log = log
    this.#clock = clock
  }

  /** What `place` would do. @throws StorageError when the bytes make no document; CorruptRecord */
  async plan({ address, bytes }: DocumentToPlace): Promise<Placed> {
    const found = await this.#find(addressKey(address), bytes)
    if (found.state === 'none') return 'added'
    return found.missing === null ? 'there' : 'merged'
  }

  /**
   * Resolves when it is durable and has been read back.
   * @param stateVector that it must have where there was none, base64; that of the bytes unless given
   * @throws StorageError, CorruptRecord, StoreUnavailable
   */
  async place(document: DocumentToPlace, stateVector?: string): Promise<Placed> {
    const doc = addressKey(document.address)
    const found = await this.#find(doc, document.bytes)
    if (found.state === 'none') await this.#begin(doc, document)
    else if (found.missing !== null)
      await this.#log.append(doc, found.epoch, [{ bytes: found.missing, by: '' }])
    const read = await this.#find(doc, document.bytes)
    if (read.state !== 'live' || read.missing !== null)
      throw new StorageError('what is stored now is not what was written')
    if (found.state === 'none' && read.stateVector !== (stateVector ?? vectorOf(document.bytes)))
      throw new StorageError('it has another state vector now')
    if (found.state === 'none') return 'added'
    return found.missing === null ? 'there' : 'merged'
  }

  /** Leaves a document deleted for those who have it still; what is there stays. */
  async bury(address: DocumentAddress, epoch: number): Promise<'added' | 'there'> {
    const doc = addressKey(address)
    const loaded = await this.#log.load(doc, { bytesMax: 1 })
    if (loaded.state !== 'absent' && !(await this.#isBegun(doc, epoch))) return 'there'
    if (loaded.state === 'live') await this.#log.destroy(doc)
    await this.#goThrough(doc, epoch)
    return 'added'
  }

  /** What is there of a document. Nothing but the beginning of `#begin` is nothing. */
  async #find(doc: Key, bytes: Uint8Array): Promise<Found> {
    const { loaded, state } = await loadRoom(this.#log, doc)
    const stored = loaded.state === 'live' ? state.encode() : noUpdate
    const { missing, stateVector } = compareStates(stored, bytes)
    if (loaded.state !== 'live' || (isEmpty(stored) && !isEmpty(bytes))) return { state: 'none' }
    return { state: 'live', epoch: loaded.epoch, missing, stateVector }
  }

  /** Brings the log where it stood: what says of which state something is means the same afterwards. */
  async #begin(doc: Key, { bytes, log }: DocumentToPlace): Promise<void> {
    const now = this.#clock.now()
    const { epoch, head, changedAt, changedBy } = log ?? { epoch: 1, head: 1, changedAt: now, changedBy: '' }
    await this.#goThrough(doc, epoch - 1)
    let [standing = null] = await this.#log.heads([doc])
    for (let at = standing?.head ?? 0; at < head - 1; at = standing?.head ?? 0) {
      const count = Math.min(head - 1 - at, emptyAtOnce)
      await this.#append(
        doc,
        Array.from({ length: count }, () => ({ bytes: noUpdate, by: '' })),
      )
      standing = (await this.#log.heads([doc]))[0] ?? null
    }
    this.#clock.at = changedAt
    await this.#append(doc, [{ bytes, by: changedBy }])
    this.#clock.at = null
    const [done = null] = await this.#log.heads([doc])
    if (done !== null && done.head > 1)
      await this.#log.compact(doc, done.epoch, done.base, done.head, bytes, keepNone)
  }

  /** To the log there is, or a new one. */
  async #append(doc: Key, updates: readonly { bytes: Uint8Array; by: string }[]): Promise<void> {
    const loaded = await this.#log.load(doc, { bytesMax: 1 })
    const to = { absent: 'create', deleted: 'recreate' } as const
    await this.#log.append(doc, loaded.state === 'live' ? loaded.epoch : to[loaded.state], updates)
  }

  /** Makes logs, and deletes them, until the one of `epoch` is deleted, as a log of a later one is not there. */
  async #goThrough(doc: Key, epoch: number): Promise<void> {
    for (;;) {
      const loaded = await this.#log.load(doc, { bytesMax: 1 })
      const at = loaded.state === 'absent' ? 0 : loaded.epoch
      if (loaded.state === 'live' && at <= epoch) await this.#log.destroy(doc)
      if (at >= epoch) return
      if (loaded.state !== 'live') await this.#append(doc, [{ bytes: noUpdate, by: '' }])
    }
  }

  /** Is what is there what an interrupted `bury` has left? */
  async #isBegun(doc: Key, epoch: number): Promise<boolean> {
    const { loaded, state } = await loadRoom(this.#log, doc)
    if (loaded.state === 'absent' || loaded.epoch > epoch) return false
    if (loaded.state === 'deleted') return loaded.epoch < epoch
    return loaded.head === 1 && state.encode().length === noUpdate.length
  }
}

type Found =
  | { readonly state: 'none' }
  | {
      readonly state: 'live'
      readonly epoch: number
      /** What it lacks, as an update; null: nothing. */
      readonly missing: Uint8Array | null
      /** Base64. */
      readonly stateVector: string
    }

/** Empty updates that are appended at a time. */
const emptyAtOnce = 50_000

const isEmpty = ({ length }: Uint8Array): boolean => length === noUpdate.length

/** What a state lacks of an update, and its own state vector. @throws StorageError when the update is of no use there */
function compareStates(
  stored: Uint8Array,
  bytes: Uint8Array,
): { readonly missing: Uint8Array | null; readonly stateVector: string } {
  const doc = new Y.Doc()
  const updates: Uint8Array[] = []
  try {
    Y.applyUpdate(doc, stored)
    const stateVector = Buffer.from(Y.encodeStateVector(doc)).toString('base64')
    doc.on('update', (update: Uint8Array) => updates.push(update))
    applyVetted(doc, bytes)
    return { missing: updates[0] ?? null, stateVector }
  } finally {
    doc.destroy()
  }
}

/** @throws StorageError for what is no update, or builds on others that are not there */
function applyVetted(doc: Y.Doc, bytes: Uint8Array): void {
  try {
    readUpdate(bytes, { allowSubdocuments: true })
    Y.applyUpdate(doc, bytes)
  } catch (error) {
    throw new StorageError(`the update is malformed: ${messageOf(error)}`, { cause: error })
  }
  const { pendingStructs, pendingDs } = doc.store
  if (pendingStructs !== null || pendingDs !== null)
    throw new StorageError('the update builds on others that are missing')
}

function vectorOf(bytes: Uint8Array): string {
  const doc = new Y.Doc()
  try {
    applyVetted(doc, bytes)
    return Buffer.from(Y.encodeStateVector(doc)).toString('base64')
  } finally {
    doc.destroy()
  }
}
