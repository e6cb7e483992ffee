import { systemClock } from '../../../core/base/clock.ts'
import { ApiError } from '../../../core/base/errors.ts'
import { readDocument } from '../../../core/content/read-document.ts'
import { type ListPage, listingPages, type PageRange } from '../../../core/directory/store/list-page.ts'
import {
  addressKey,
  type DocumentPath,
  documentAddress,
  documentPrefix,
  type Tenant,
} from '../../../core/model/address.ts'
import { loadRoom } from '../../../core/rooms/log/load-room.ts'
import { DocumentRejectedError } from '../../../core/rooms/log/merge-stored.ts'
import type { Engine } from '../../../core/store/engine.ts'
import { documentKeyPages } from '../../../core/store/pages.ts'
import { openTenant, type StoreLocation } from '../../backups/storage/offline-store.ts'
import { StorageError } from '../../backups/storage/storage-error.ts'
import { addressOf } from '../export/export.ts'
import type { Catalog, CatalogEditor, PutReport } from './catalog.ts'
import { ImportTarget, type PutResult, type TargetOptions } from './import-target.ts'
import { listingHint } from './rest-client.ts'
import { recordsOf } from './stored-document.ts'

const pageSize = 200

/**
 * Returns the catalog of a stopped server's store, which it opens with the first call. The caller must close it. A
 * catalog that has read cannot write.
 * @param limits limits for documents that are written
 * @throws from all methods: StorageError, EngineOpenError, BootstrapError
 */
export function offlineCatalog(
  place: StoreLocation,
  tenant: Tenant,
  limits: Omit<TargetOptions, 'deleted'>,
): Catalog {
  let opened: Promise<Engine> | null = null
  const engineOf = (): Promise<Engine> => (opened ??= openTenant(place, tenant))
  const write = async <T>(work: (target: ImportTarget) => Promise<T>): Promise<T> => {
    const target = await ImportTarget.open(place, tenant, { ...limits, deleted: 'recreate' })
    try {
      return await work(target)
    } catch (error) {
      if (error instanceof DocumentRejectedError) throw new StorageError(error.message, { cause: error })
      throw error
    } finally {
      await target.close()
    }
  }
  return {
    async *organizations() {
      const { organizations } = recordsOf(await engineOf(), systemClock, 'public')
      yield* pages((range) => organizations.list(tenant, range))
    },
    async *documents(organizationId) {
      const { documents } = recordsOf(await engineOf(), systemClock, 'public')
      const list = (range: PageRange) => documents.list({ ...tenant, organizationId }, range)
      for await (const { record } of pages(list)) {
        const { documentId, documentName, disabled, lastUpdated } = record
        yield { organizationId, documentId, documentName, disabled, lastUpdated }
      }
    },
    async *editors(organizationId, documentId) {
      yield* editorsOf(await engineOf(), tenant, { organizationId, documentId })
    },
    async content(path, reading) {
      const { log } = await engineOf()
      const key = addressKey(documentAddress(tenant, path))
      const { loaded, state } = await loadRoom(log, key, { isBounded: false })
      if (loaded.state !== 'live') throw noDocument()
      return toStorageError(async () => readDocument(state.doc, reading))
    },
    apply: (path, update) =>
      write(async (target) => reportOf(await target.add(documentAddress(tenant, path), update))),
    replace: (path, content) =>
      write(async (target) => {
        const { change, ...put } = await target.replace(documentAddress(tenant, path), content)
        return { ...reportOf(put), insertions: change.insertions, deletions: change.deletions }
      }),
    close: async () => (await opened)?.close(),
  }
}

const noDocument = (): StorageError => new StorageError('there is no such document', { hint: listingHint })

const reportOf = ({ is, writtenBytes }: PutResult): PutReport => ({
  created: is === 'made',
  changed: is !== 'there',
  bytes: writtenBytes,
})

/** Yields all items of a listing, page by page. @throws StorageError */
async function* pages<Item>(list: (range: PageRange) => Promise<ListPage<Item>>): AsyncGenerator<Item> {
  for await (const page of listingPages((range) => toStorageError(() => list(range)), pageSize)) yield* page
}

async function* editorsOf(
  { log }: Pick<Engine, 'log'>,
  tenant: Tenant,
  { organizationId, documentId }: Omit<DocumentPath, 'editorId'>,
): AsyncGenerator<CatalogEditor> {
  const prefix = documentPrefix({ ...tenant, organizationId }, documentId)
  let isFound = false
  for await (const keys of documentKeyPages(log, prefix, pageSize)) {
    isFound = true
    for (const key of keys) {
      const { loaded, state } = await loadRoom(log, key, { isBounded: false })
      if (loaded.state !== 'live') continue
      const { at: lastUpdated, by: lastUpdatedBy } = loaded.changed
      const { editorId } = addressOf(key)
      const sizeBytes = state.encode().length
      yield { organizationId, documentId, editorId, lastUpdated, lastUpdatedBy, sizeBytes }
    }
  }
  if (!isFound) throw noDocument()
}

/** Runs `work`, and converts each ApiError to an error for the operator. @throws StorageError */
async function toStorageError<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const hint = error.status === 'NOT_FOUND' ? { hint: listingHint } : {}
    throw new StorageError(error.message, { cause: error, ...hint })
  }
}
