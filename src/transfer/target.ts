import { systemClock } from '../clock.ts'
import type { Documents } from '../directory/documents.ts'
import { Tenants } from '../directory/tenants.ts'
import { AppendRefused, type AppendTo, CorruptRecord, type Engine } from '../engine/engine.ts'
import { ApiError } from '../errors.ts'
import { addressKey, type DocumentAddress, type Tenant } from '../model/address.ts'
import { StorageError } from '../storage/problem.ts'
import { openToChange, type StoppedStore, type StorePlace } from '../storage/stopped.ts'
import { type ContentSum, DocumentRefused, lackingOf, type Merged, mergeStored, vet } from './merge.ts'
import { recordsOf } from './records.ts'
import { readBack, type Stored, storedOf } from './stored.ts'

export interface TargetOptions {
  /** Largest document, as encoded by Yjs, in bytes. */
  readonly documentBytesMax: number
  readonly allowSubdocuments: boolean
  /** What becomes of a document that was deleted here: it stays so, or it is made anew. */
  readonly deleted: 'refuse' | 'recreate'
}

/** What `put` has found and done. */
export interface Put {
  /** `made`: there was none; `added`: it lacked something; `there`: it had all already, and nothing was written. */
  readonly is: 'made' | 'added' | 'there'
  /** What was given, as one update. */
  readonly bytes: number
}

/** The store of a stopped server, for documents that come from elsewhere. To be closed. */
export class Target {
  readonly #store: StoppedStore
  readonly #engine: Engine
  readonly #options: TargetOptions
  readonly #records: Documents

  private constructor(store: StoppedStore, options: TargetOptions) {
    this.#store = store
    this.#engine = store.engine
    this.#options = options
    this.#records = recordsOf(store.engine, systemClock).documents
  }

  /** @throws StorageError, EngineOpenError, also where a server has it open, or files are damaged */
  static async open(place: StorePlace, options: TargetOptions): Promise<Target> {
    return new Target(await openToChange(place), options)
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  /** @throws StorageError when the workspace has no such API key */
  async require(tenant: Tenant): Promise<void> {
    if (await new Tenants(this.#engine.kv).isTenant(tenant)) return
    throw new StorageError(
      `the store has no API key ${JSON.stringify(tenant.apiKey)} in a workspace ${JSON.stringify(tenant.workspaceId)}`,
    )
  }

  /**
   * Adds updates (V1) to a document, and reads them back. One that is not there is made as by a socket, with its
   * records; what is there already stays. Resolves when it is durable. Not to be called for a document again while a
   * call for it is under way.
   * @throws DocumentRefused and nothing is written of it; StoreUnavailable; StorageError when what is read back differs
   */
  async put(address: DocumentAddress, updates: readonly Uint8Array[]): Promise<Put> {
    const given = prepare(updates, this.#options)
    return { is: await refusing(this.#put(address, given)), bytes: given.bytes.length }
  }

  /**
   * Like `put`, of one update that may build on what is there.
   * @throws also DocumentRefused where the document is disabled
   */
  async add(address: DocumentAddress, update: Uint8Array): Promise<Put> {
    vet(update, this.#options, null)
    await refusing(this.#records.requireEnabled(address, address.documentId))
    const stored = await refusing(storedOf(this.#engine.log, addressKey(address)))
    return this.put(address, stored.state === 'live' ? [stored.bytes, update] : [update])
  }

  async #put(address: DocumentAddress, given: Merged): Promise<Put['is']> {
    const doc = addressKey(address)
    const stored = await storedOf(this.#engine.log, doc)
    if (stored.state === 'deleted' && this.#options.deleted === 'refuse')
      throw new DocumentRefused('it was deleted here')
    if (stored.state !== 'live') {
      await this.#write(address, stored, { bytes: given.bytes, whole: given.content })
      return 'made'
    }
    const bytes = lackingOf(stored.bytes, given.bytes)
    if (bytes === null) return this.#there(address)
    const { content } = prepare([stored.bytes, given.bytes], this.#options)
    await this.#write(address, stored, { bytes, whole: content })
    return 'added'
  }

  /** A command that was killed may have come as far as the log and no further. */
  async #there(address: DocumentAddress): Promise<'there'> {
    await this.#records.ensure(address, address.documentId)
    return 'there'
  }

  /** @param update `whole`: what the document holds afterwards */
  async #write(
    address: DocumentAddress,
    stored: Stored,
    { bytes, whole }: { readonly bytes: Uint8Array; readonly whole: ContentSum },
  ): Promise<void> {
    const doc = addressKey(address)
    const expectHead = stored.state === 'live' ? stored.head : 0
    await this.#records.ensure(address, address.documentId)
    await this.#engine.log.append(doc, logOf(stored), [{ bytes, by: '' }], { expectHead })
    await readBack(this.#engine.log, doc, whole)
  }
}

/**
 * One vetted update of what is to be stored. What `put` does before it looks at the store.
 * @throws DocumentRefused
 */
export function prepare(
  updates: readonly Uint8Array[],
  { documentBytesMax, allowSubdocuments }: Omit<TargetOptions, 'deleted'>,
): Merged {
  const merged = mergeStored(updates, { allowSubdocuments })
  if (merged.bytes.length <= documentBytesMax) return merged
  throw new DocumentRefused(
    `it has ${merged.bytes.length} bytes; the largest document has ${documentBytesMax} (WEFT_MAX_DOCUMENT_BYTES)`,
  )
}

function logOf(stored: Stored): AppendTo {
  if (stored.state === 'live') return stored.epoch
  return stored.state === 'absent' ? 'create' : 'recreate'
}

/** What concerns one document ends only that. */
async function refusing<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof ApiError || error instanceof AppendRefused || error instanceof CorruptRecord)
      throw new DocumentRefused(error.message)
    throw error
  }
}
