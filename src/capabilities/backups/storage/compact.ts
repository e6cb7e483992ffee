import { systemClock } from '../../../core/base/clock.ts'
import { AttributionSetting } from '../../../core/directory/tenants/attribution-setting.ts'
import { TenantStore } from '../../../core/directory/tenants/tenant-store.ts'
import { compactWhole, type KeepsAttribution } from '../../../core/rooms/log/compaction-policy.ts'
import { CorruptRecordError, type Engine, type Key } from '../../../core/store/engine.ts'
import { documentKeyPages } from '../../../core/store/pages.ts'
import { loadMaintenance, openOfflineStore } from './offline-store.ts'
import type { Progress } from './storage-error.ts'

export interface Compacted {
  readonly documents: number
  /** Messages about documents that could not be read. These documents were not changed. */
  readonly damaged: readonly string[]
  readonly bytesBefore: number
  readonly bytesAfter: number
}

const keysPerPage = 1_000

/**
 * Compacts the store of a stopped server: replaces the log of each document with one snapshot, then rewrites
 * the files without the deleted data. Older versions of documents are lost.
 * @throws StorageError; EngineOpenError, also if files are damaged; StoreUnavailableError
 */
export async function compactAll(directory: string, onProgress: Progress): Promise<Compacted> {
  const { compactFiles, storedBytes } = await loadMaintenance()
  const engine = await openOfflineStore(directory, 'refuse')
  const bytesBefore = await storedBytes(directory)
  const damaged: string[] = []
  let documents = 0
  const attribution = new AttributionSetting(new TenantStore(engine.kv), systemClock)
  const keepsAttribution: KeepsAttribution = ([workspaceId = '']) => attribution.isEnabled(workspaceId)
  try {
    const keys = await liveDocuments(engine)
    for (const doc of keys) {
      onProgress('documents', documents / keys.length)
      const problem = await compactDocument(engine, doc, keepsAttribution)
      if (problem === null) documents += 1
      else damaged.push(problem)
    }
  } finally {
    await engine.close()
  }
  onProgress('files', 0)
  await compactFiles(directory)
  return { documents, damaged, bytesBefore, bytesAfter: await storedBytes(directory) }
}

async function liveDocuments({ log }: Engine): Promise<readonly Key[]> {
  const found: Key[] = []
  for await (const page of documentKeyPages(log, [], keysPerPage)) found.push(...page)
  return found
}

/** Compacts a document. If the document is damaged, returns the problem; otherwise returns null. */
async function compactDocument(
  { log }: Engine,
  doc: Key,
  keepsAttribution: KeepsAttribution,
): Promise<string | null> {
  try {
    await compactWhole(log, doc, keepsAttribution)
    return null
  } catch (error) {
    if (error instanceof CorruptRecordError) return error.message
    throw error
  }
}
