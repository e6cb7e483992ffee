import { errorMessage } from '../../../core/base/errors.ts'
import {
  organizationPart,
  tenantKeys,
  tenantPart,
} from '../../../core/directory/organizations/organization-keys.ts'
import type { AuthTokenRecord, WorkspaceRecord } from '../../../core/directory/store/records.ts'
import { clusterPart } from '../../../core/directory/tenants/cluster-credentials.ts'
import type { DocumentAddress } from '../../../core/model/address.ts'
import { loadRoom } from '../../../core/rooms/log/load-room.ts'
import { CorruptRecordError, type Key } from '../../../core/store/engine.ts'
import type { StoredEntry } from '../../../core/store/stored-entry.ts'
import { type OfflineStore, openForReading, type StoreLocation } from '../../backups/storage/offline-store.ts'
import { type Progress, StorageError } from '../../backups/storage/storage-error.ts'
import { isFeedPart } from '../../feed/feed-records.ts'
import type { CallbacksRecord } from '../../webhooks/callback-records.ts'
import type { BasicConfig, EndpointRecord } from '../../webhooks/webhook-records.ts'
import { ExportDirectory, type RichTextFormat, writeDocument } from './document-files.ts'

type StoredValue = Extract<StoredEntry, { is: 'value' }>

const [organizations] = organizationPart({ workspaceId: '', apiKey: '', organizationId: '' })
const [tenants] = tenantPart({ workspaceId: '', apiKey: '' })
const [organizationsOfTenant] = tenantKeys.organizations

/** Returns whether a value is exported: a record of the organization, or with null any record. */
function isExported({ part, key }: StoredValue, organizationId: string | null): boolean {
  // These are about the running servers, the events of change feeds.
  if (part[0] === clusterPart[0] || isFeedPart(part)) return false
  if (organizationId === null) return true
  if (part[0] === organizations) return part[3] === organizationId
  return part[0] === tenants && key[0] === organizationsOfTenant && key[1] === organizationId
}

/**
 * Returns the line of a value: its JSON, or base64 of bytes that are not JSON. Returns null if the whole record is
 * secret.
 */
function recordLine({ part, key, value }: StoredValue): object | null {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.length)
  let stored: unknown
  try {
    stored = JSON.parse(bytes.toString())
  } catch {
    return { part, key, base64: bytes.toString('base64') }
  }
  const json = withoutSecrets(part, key, stored)
  return json === null ? null : { part, key, json }
}

/**
 * Functions that remove secrets in plain text from records. The key of a function consists of the first
 * segment of the partition, the record kind in the stored key, and the number of segments of the stored key.
 */
const redactions: ReadonlyMap<string, (record: unknown) => unknown> = new Map<
  string,
  (record: unknown) => unknown
>([
  ['directory workspaces 2', withoutWorkspaceToken],
  ['directory authTokens 5', withoutAuthToken],
  ['directory retiredTokens 4', () => null],
  ['webhooks endpoints 2', withoutSigningSecret],
  ['webhooks callbacks 1', withoutSigningSecret],
  ['webhooks basic 1', withoutReceiverToken],
])

/** Returns a record without its secrets; null if all of it is secret. Digests and encrypted values are not secrets. */
function withoutSecrets(part: Key, key: Key, record: unknown): unknown {
  const kind = part[0] === 'directory' && key.length > 2 ? key[2] : key[0]
  const redact = redactions.get(`${part[0]} ${kind} ${key.length}`)
  return redact === undefined ? record : redact(record)
}

function withoutWorkspaceToken(record: unknown): unknown {
  const { retiredTokens: _, ...others } = record as WorkspaceRecord
  return { ...others, authToken: '' }
}

function withoutAuthToken(record: unknown): unknown {
  return { ...(record as AuthTokenRecord), token: '' }
}

function withoutSigningSecret(record: unknown): unknown {
  return { ...(record as EndpointRecord | CallbacksRecord), secret: '', previousSecret: null }
}

function withoutReceiverToken(record: unknown): unknown {
  const config = record as BasicConfig
  return { ...config, webhookServiceConfig: { ...config.webhookServiceConfig, authToken: '' } }
}

interface ExportOptions {
  /** Null: all organizations. */
  readonly organizationId: string | null
  /** Format of the files with rich text. */
  readonly format: RichTextFormat
}

export interface Exported {
  readonly documents: number
  readonly records: number
  /** Total size of the files of documents in bytes. */
  readonly bytes: number
  /** Messages about documents that cannot be read. The export does not contain these documents. */
  readonly damaged: readonly string[]
}

/**
 * Writes the documents and the records of a stopped server as files that people and other programs can read. The files
 * are written to a temporary directory, which is renamed to `target` when the export is complete.
 * @throws StorageError if the target directory is not empty; EngineOpenError; CorruptRecordError if a damaged
 * record is not part of a document
 */
export async function exportStore(
  place: StoreLocation,
  target: string,
  options: ExportOptions,
  onProgress: Progress,
): Promise<Exported> {
  const store = await openForReading(place)
  try {
    const tree = await ExportDirectory.begin(target)
    try {
      const exported = await new ExportRun(store, tree, options, onProgress).run()
      await tree.name()
      return exported
    } catch (error) {
      await tree.drop()
      if (error instanceof StorageError || error instanceof CorruptRecordError) throw error
      throw new StorageError(`the export could not be made: ${errorMessage(error)}`, { cause: error })
    }
  } finally {
    await store.close()
  }
}

/** Maximum number of documents that are read and written at the same time. */
const documentsAtOnce = 8

class ExportRun {
  readonly #store: OfflineStore
  readonly #tree: ExportDirectory
  readonly #options: ExportOptions
  readonly #onProgress: Progress
  readonly #documents: Key[] = []
  readonly #damaged: string[] = []
  #records = 0
  #bytes = 0

  constructor(store: OfflineStore, tree: ExportDirectory, options: ExportOptions, onProgress: Progress) {
    this.#store = store
    this.#tree = tree
    this.#options = options
    this.#onProgress = onProgress
  }

  async run(): Promise<Exported> {
    await this.#tree.writeLines('admin.jsonl', this.#recordLines())
    await this.#tree.writeLines('documents.jsonl', this.#documentLines())
    return {
      documents: this.#documents.length - this.#damaged.length,
      records: this.#records,
      bytes: this.#bytes,
      damaged: this.#damaged,
    }
  }

  /** Yields the lines of the records. Collects the keys of the documents in `#documents`. */
  async *#recordLines(): AsyncGenerator<object> {
    const { organizationId } = this.#options
    this.#onProgress('records', 0)
    for await (const entry of this.#store.entries()) {
      if (entry.is === 'value' && isExported(entry, organizationId)) {
        const line = recordLine(entry)
        if (line === null) continue
        this.#records += 1
        yield line
      }
      if (entry.is !== 'document' || entry.state === 'deleted') continue
      if (organizationId === null || entry.key[2] === organizationId) this.#documents.push(entry.key)
    }
  }

  async *#documentLines(): AsyncGenerator<object> {
    const all = this.#documents
    for (let start = 0; start < all.length; start += documentsAtOnce) {
      this.#onProgress('documents', start / all.length)
      const slice = all.slice(start, start + documentsAtOnce)
      const lines = await Promise.all(slice.map((key) => this.#writeDocument(key)))
      for (const line of lines) if (line !== null) yield line
    }
    this.#onProgress('documents', 1)
  }

  /**
   * Writes the files of a document. Returns the line of the document for the list; null if the document is
   * damaged.
   */
  async #writeDocument(key: Key): Promise<object | null> {
    try {
      const { loaded, state } = await loadRoom(this.#store.engine.log, key, { isBounded: false })
      if (loaded.state !== 'live') throw new Error('its log is gone')
      const address = addressOf(key)
      const written = await writeDocument(this.#tree, address, state.encode(), this.#options.format)
      this.#bytes += written.bytes
      const { at: lastUpdated, by: lastUpdatedBy } = loaded.changed
      return { address, lastUpdated, lastUpdatedBy, files: written.files }
    } catch (error) {
      if (error instanceof Error && 'syscall' in error) throw error
      this.#damaged.push(
        error instanceof CorruptRecordError
          ? error.message
          : `document ${JSON.stringify(key)} cannot be read: ${errorMessage(error)}`,
      )
      return null
    }
  }
}

/** Converts the key of a log to the address of its document. This function is the inverse of `addressKey`. */
export function addressOf(key: Key): DocumentAddress {
  const [workspaceId = '', apiKey = '', organizationId = '', documentId = '', editorId = ''] = key
  return { workspaceId, apiKey, organizationId, documentId, editorId }
}
