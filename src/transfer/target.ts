import { systemClock } from '../clock.ts'
import { createDirectory } from '../directory/directory.ts'
import type { Documents } from '../directory/documents.ts'
import { OrganizationStore } from '../directory/organization-store.ts'
import { createTenancy } from '../directory/tenancy.ts'
import { AppendRefused, type AppendTo, CorruptRecord, type Engine } from '../engine/engine.ts'
import { ApiError } from '../errors.ts'
import { Events } from '../events/events.ts'
import { createLog } from '../log.ts'
import { addressKey, type DocumentAddress, type Tenant } from '../model/address.ts'
import { type LoadedRoom, loadRoom } from '../rooms/loading.ts'
import { StorageError } from '../storage/problem.ts'
import { openStopped } from '../storage/stopped.ts'
import { contentSum, DocumentRefused, isSameContent, type Merged, mergeStored } from './merge.ts'

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
  readonly #engine: Engine
  readonly #options: TargetOptions
  readonly #records: Documents

  private constructor(engine: Engine, options: TargetOptions) {
    this.#engine = engine
    this.#options = options
    this.#records = recordsOf(engine)
  }

  /** @throws StorageError, EngineOpenError, also where a server has it open, or files are damaged */
  static async open(directory: string, options: TargetOptions): Promise<Target> {
    return new Target(await openStopped(directory, 'refuse'), options)
  }

  close(): Promise<void> {
    return this.#engine.close()
  }

  /** @throws StorageError when the workspace has no such API key */
  async require(tenant: Tenant): Promise<void> {
    if (await createTenancy(this.#engine, systemClock).tenants.isTenant(tenant)) return
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
    try {
      return { is: await this.#put(address, given), bytes: given.bytes.length }
    } catch (error) {
      if (error instanceof ApiError || error instanceof AppendRefused || error instanceof CorruptRecord)
        throw new DocumentRefused(error.message)
      throw error
    }
  }

  async #put(address: DocumentAddress, given: Merged): Promise<Put['is']> {
    const { loaded, state } = await loadRoom(this.#engine.log, addressKey(address))
    if (loaded.state === 'deleted' && this.#options.deleted === 'refuse')
      throw new DocumentRefused('it was deleted here')
    const before = loaded.state === 'live' ? state.encode() : null
    if (before !== null && Buffer.compare(before, given.bytes) === 0) return this.#there(address)
    const whole = before === null ? given : prepare([before, given.bytes], this.#options)
    if (before !== null && isSameContent(contentSum(before), whole.content)) return this.#there(address)
    await this.#records.ensure(address, address.documentId)
    await this.#append(address, loaded, before === null ? given.bytes : lacking(state, given.bytes))
    await this.#readBack(address, whole)
    return before === null ? 'made' : 'added'
  }

  /** A command that was killed may have come as far as the log and no further. */
  async #there(address: DocumentAddress): Promise<'there'> {
    await this.#records.ensure(address, address.documentId)
    return 'there'
  }

  async #append(address: DocumentAddress, loaded: LoadedRoom['loaded'], bytes: Uint8Array): Promise<void> {
    const expectHead = loaded.state === 'live' ? loaded.head : 0
    await this.#engine.log.append(addressKey(address), targetOf(loaded), [{ bytes, by: '' }], { expectHead })
  }

  async #readBack(address: DocumentAddress, { content }: Merged): Promise<void> {
    const { state } = await loadRoom(this.#engine.log, addressKey(address))
    if (isSameContent(contentSum(state.encode()), content)) return
    throw new StorageError(
      `document ${JSON.stringify(addressKey(address))} is not what was written: run verify`,
    )
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

function lacking(state: LoadedRoom['state'], bytes: Uint8Array): Uint8Array {
  const { added } = state.integrate(bytes)
  return added ?? bytes
}

function targetOf(loaded: LoadedRoom['loaded']): AppendTo {
  if (loaded.state === 'live') return loaded.epoch
  return loaded.state === 'absent' ? 'create' : 'recreate'
}

/** Makes the records of documents. Receivers of webhooks are not told: nothing has happened that they had not seen. */
function recordsOf(engine: Engine): Documents {
  const events = new Events(systemClock, () => false)
  const nothing = (): Promise<void> => Promise.resolve()
  return createDirectory(engine, {
    store: new OrganizationStore(engine, events),
    clock: systemClock,
    log: createLog('silent'),
    forget: nothing,
    forgetDocument: nothing,
    events,
    editWindowMs: 0,
    awayMs: 0,
  }).documents
}
