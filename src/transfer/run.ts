import { documentAddress, type Tenant } from '../model/address.ts'
import type { Progress } from '../storage/problem.ts'
import { type Imported, importAll, type Take } from './import.ts'
import type { Naming } from './names.ts'
import type { Source } from './source.ts'
import { prepare, Target, type TargetOptions } from './target.ts'

export interface ImportWork {
  readonly open: () => Promise<Source>
  readonly naming: Naming
  readonly onProgress: Progress
}

/**
 * Merges what a source has into the store of a stopped server.
 * @throws StorageError, EngineOpenError, StoreUnavailable; what is written by then stays
 */
export async function importInto(
  { directory, tenant }: { readonly directory: string; readonly tenant: Tenant },
  work: ImportWork,
  options: TargetOptions,
): Promise<Imported> {
  const target = await Target.open(directory, options)
  try {
    await target.require(tenant)
    return await takeAll(work, (path, updates) => target.put(documentAddress(tenant, path), updates))
  } finally {
    await target.close()
  }
}

/** Reads and merges all, and looks at no store. @throws StorageError */
export function look(work: ImportWork, options: Omit<TargetOptions, 'deleted'>): Promise<Imported> {
  return takeAll(work, async (_, updates) => ({ is: 'made', bytes: prepare(updates, options).bytes.length }))
}

async function takeAll({ open, naming, onProgress }: ImportWork, take: Take): Promise<Imported> {
  const source = await open()
  try {
    return await importAll(source, naming, take, onProgress)
  } finally {
    await source.close()
  }
}
