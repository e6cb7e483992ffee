import { documentAddress, type Tenant } from '../../../core/model/address.ts'
import type { Progress } from '../../backups/storage/storage-error.ts'
import { ImportTarget, type TargetOptions } from '../documents/import-target.ts'
import { type MergeLimits, MergeThread } from '../documents/merge-thread.ts'
import type { NameMapping } from '../name-mapping.ts'
import { type DocumentImportResult, type ImportSink, importDocuments } from './import-documents.ts'
import type { ImportSource } from './import-source.ts'

export interface ImportWork {
  readonly open: () => Promise<ImportSource>
  readonly naming: NameMapping
  readonly onProgress: Progress
}

/**
 * Merges the documents of a source into the store of a stopped server. If the import fails, the documents
 * that it has already written remain in the store.
 * @throws StorageError, EngineOpenError, StoreUnavailableError
 */
export async function importInto(
  { directory, tenant }: { readonly directory: string; readonly tenant: Tenant },
  work: ImportWork,
  options: TargetOptions,
): Promise<DocumentImportResult> {
  const target = await ImportTarget.open(directory, options)
  try {
    await target.require(tenant)
    return await takeAll(work, (path, updates) => target.put(documentAddress(tenant, path), updates))
  } finally {
    await target.close()
  }
}

/** Reads and merges all documents of a source, but does not use a store. @throws StorageError */
export async function dryRunImport(work: ImportWork, limits: MergeLimits): Promise<DocumentImportResult> {
  const merging = new MergeThread(limits)
  try {
    return await takeAll(work, async (_, updates) => {
      const { bytes } = await merging.merge(updates)
      return { is: 'made', bytes: bytes.length, writtenBytes: 0 }
    })
  } finally {
    await merging.end()
  }
}

async function takeAll(
  { open, naming, onProgress }: ImportWork,
  take: ImportSink,
): Promise<DocumentImportResult> {
  const source = await open()
  try {
    return await importDocuments(source, naming, take, onProgress)
  } finally {
    await source.close()
  }
}
