import { systemClock } from '../../../core/base/clock.ts'
import { type DocumentReading, readDocumentState } from '../../../core/content/read-document.ts'
import type { ListPage, PageRange } from '../../../core/directory/store/list-page.ts'
import {
  type DocumentPath,
  documentAddress,
  documentPrefix,
  type Tenant,
} from '../../../core/model/address.ts'
import { loadRoom } from '../../../core/rooms/log/load-room.ts'
import type { Engine } from '../../../core/store/engine.ts'
import type { StoreLocation } from '../../backups/storage/offline-store.ts'
import { openTenant } from '../../backups/storage/open-tenant.ts'
import { toVersionResponse } from '../../history/api/version-schema.ts'
import { VersionStore } from '../../history/version-store.ts'
import { addressOf } from '../export/export.ts'
import { recordsOf } from '../offline-records.ts'
import type { Catalog, CatalogEditor } from './catalog.ts'
import { noDocument, readStoredDocument, toStorageError } from './document-offline.ts'

const pageSize = 200

/**
 * Opens the catalog of a stopped server's store. The caller must close it.
 * @throws StorageError, EngineOpenError, BootstrapError
 */
export async function offlineCatalog(place: StoreLocation, tenant: Tenant): Promise<Catalog> {
  const { engine, close } = await openTenant(place, tenant)
  const { organizations, documents, store } = recordsOf(engine, systemClock, 'public')
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
      for await (const record of pages((range) => versions.list(address, range)))
        yield toVersionResponse(record)
    },
    async content(path, versionId, reading) {
      const address = documentAddress(tenant, path)
      if (versionId === null) return readStoredDocument(engine.log, address, reading)
      const record = await toStorageError(() => versions.require(address, versionId))
      return readVersion(await versions.contentOf(address, record), reading)
    },
    close,
  }
}

const readVersion = (bytes: Uint8Array, reading: DocumentReading) =>
  toStorageError(async () => readDocumentState(bytes, reading))

/** Yields all items of a listing, page by page. @throws StorageError */
async function* pages<Item>(list: (range: PageRange) => Promise<ListPage<Item>>): AsyncGenerator<Item> {
  let after: string | undefined
  do {
    const range = { after, limit: pageSize }
    const { items, next } = await toStorageError(() => list(range))
    yield* items
    after = next ?? undefined
  } while (after !== undefined)
}

async function* editorsOf(
  { log }: Pick<Engine, 'log'>,
  tenant: Tenant,
  { organizationId, documentId }: Omit<DocumentPath, 'editorId'>,
): AsyncGenerator<CatalogEditor> {
  const prefix = documentPrefix({ ...tenant, organizationId }, documentId)
  let found = await log.list(prefix, { limit: pageSize })
  if (found.length === 0) throw noDocument()
  for (let after = found.at(-1); after !== undefined; after = found.at(-1)) {
    for (const key of found) {
      const { loaded, state } = await loadRoom(log, key, { isBounded: false })
      if (loaded.state !== 'live') continue
      const { at: lastUpdated, by: lastUpdatedBy } = loaded.changed
      const { editorId } = addressOf(key)
      const sizeBytes = state.encode().length
      yield { organizationId, documentId, editorId, lastUpdated, lastUpdatedBy, sizeBytes }
    }
    found = await log.list(prefix, { after, limit: pageSize })
  }
}
