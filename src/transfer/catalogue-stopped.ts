import { systemClock } from '../clock.ts'
import { type Reading, readState } from '../content/reading.ts'
import type { Page, PageRange } from '../directory/page.ts'
import type { Engine } from '../engine/engine.ts'
import { type DocumentPath, documentAddress, documentPrefix, type Tenant } from '../model/address.ts'
import { loadRoom } from '../rooms/loading.ts'
import { StorageError } from '../storage/problem.ts'
import { openToRead, type StorePlace } from '../storage/stopped.ts'
import { VersionStore } from '../versions/store.ts'
import type { VersionRecord } from '../versions/version-keys.ts'
import type { Catalogue, ShownEditor, ShownVersion } from './catalogue.ts'
import { noDocument, readStored, refusedAsProblem } from './document.ts'
import { addressOf } from './export.ts'
import { versionsHint } from './listing-hints.ts'
import { recordsOf } from './records.ts'

const pageSize = 200

/** Of the store of a stopped server; to be closed. @throws StorageError, EngineOpenError */
export async function catalogueOfStopped(place: StorePlace, tenant: Tenant): Promise<Catalogue> {
  const { engine, close } = await openToRead(place)
  const { organizations, documents, store } = recordsOf(engine, systemClock)
  const versions = new VersionStore(engine, store, systemClock)
  return {
    async *organizations() {
      yield* pages((range) => organizations.list(tenant, range))
    },
    async *documents(organizationId) {
      const list = (range: PageRange) => documents.list({ ...tenant, organizationId }, range)
      for await (const { record } of pages(list)) {
        const { documentId, documentName, disabled, lastUpdated } = record
        yield { organizationId, documentId, documentName, disabled, lastUpdated }
      }
    },
    editors: (organizationId, documentId) => editorsOf(engine, tenant, { organizationId, documentId }),
    async *versions(path) {
      const address = documentAddress(tenant, path)
      for await (const record of pages((range) => versions.list(address, range))) yield shown(record)
    },
    async content(path, versionId, reading) {
      const address = documentAddress(tenant, path)
      if (versionId === null) return readStored(engine.log, address, reading)
      const record = await versions.find(address, versionId)
      if (record === null) throw noVersion()
      return readVersion(await versions.contentOf(address, record), reading)
    },
    close,
  }
}

const noVersion = (): StorageError => new StorageError('there is no such version', { hint: versionsHint })

const readVersion = (bytes: Uint8Array, reading: Reading) =>
  refusedAsProblem(async () => readState(bytes, reading))

/** Everything that a listing has. @throws StorageError */
async function* pages<Item>(list: (range: PageRange) => Promise<Page<Item>>): AsyncGenerator<Item> {
  let after: string | undefined
  do {
    const range = { after, limit: pageSize }
    const { items, next } = await refusedAsProblem(() => list(range))
    yield* items
    after = next ?? undefined
  } while (after !== undefined)
}

async function* editorsOf(
  { log }: Pick<Engine, 'log'>,
  tenant: Tenant,
  { organizationId, documentId }: Omit<DocumentPath, 'editorId'>,
): AsyncGenerator<ShownEditor> {
  const prefix = documentPrefix({ ...tenant, organizationId }, documentId)
  let found = await log.list(prefix, { limit: pageSize })
  if (found.length === 0) throw noDocument()
  for (let after = found.at(-1); after !== undefined; after = found.at(-1)) {
    for (const key of found) {
      const { loaded, state } = await loadRoom(log, key)
      if (loaded.state !== 'live') continue
      const { at: lastUpdated, by: lastUpdatedBy } = loaded.changed
      const { editorId } = addressOf(key)
      const sizeBytes = state.encode().length
      yield { organizationId, documentId, editorId, lastUpdated, lastUpdatedBy, sizeBytes }
    }
    found = await log.list(prefix, { after, limit: pageSize })
  }
}

const shown = (record: VersionRecord): ShownVersion => ({
  versionId: record.versionId,
  kind: record.kind,
  label: record.label,
  metadata: record.metadata,
  createdAt: new Date(record.createdAt).toISOString(),
  createdBy: record.createdBy,
  sizeBytes: record.sizeBytes,
  version: record.version,
  authors: record.authors.map(({ userId, name }) => ({ userId, ...(name !== undefined && { name }) })),
})
