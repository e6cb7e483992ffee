import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type CredentialSources,
  checkCredentials,
  requireTenant,
} from '../../../core/directory/tenants/bootstrap.ts'
import { TenantStore } from '../../../core/directory/tenants/tenant-store.ts'
import type { Tenant } from '../../../core/model/address.ts'
import type { CheckOptions, StoreCheck } from '../../../core/store/damage.ts'
import type { Engine } from '../../../core/store/engine.ts'
import { StorageError } from './storage-error.ts'

/**
 * These functions load the code of the engines on demand. This file is the only place that opens the stores of stopped
 * servers.
 */
const loadEngine = () => import('../../../core/store/level/engine.ts')
export const loadMaintenance = () => import('../../../core/store/level/maintenance.ts')
export const loadDatabase = () => import('../../../cluster/postgres/offline/offline-schema.ts')
export const loadDatabaseRestore = () => import('../../../cluster/postgres/offline/restore-schema.ts')
export const loadDatabaseProbe = () => import('../../../cluster/postgres/connection/probe.ts')

/** Location of a database in which servers store their documents. */
export interface DatabaseLocation {
  readonly url: string
  readonly schema: string
  /** Data directory of one of these servers. It contains the credentials. */
  readonly directory: string
}

/** Location of a store: the path of a data directory, or a database. */
export type StoreLocation = string | DatabaseLocation

export const directoryOf = (place: StoreLocation): string =>
  typeof place === 'string' ? place : place.directory

/** Returns a text that describes a location in messages. The text never contains a password. */
export const locationName = (place: StoreLocation): string =>
  typeof place === 'string' ? place : `the schema ${place.schema} of the database`

/**
 * Checks that the directory contains a store.
 * @throws StorageError if no server has ever stored anything in the directory
 */
async function expectStore(directory: string): Promise<void> {
  const { storePath } = await loadMaintenance()
  const found = await stat(storePath(directory)).catch(() => null)
  if (found === null)
    throw new StorageError(`${directory} holds no store`, {
      hint: 'give the path of the data directory of a server; weft config print shows the configured one',
    })
}

/**
 * Returns whether this folder is the store of a data directory. Other programs that use LevelDB might also be
 * able to open such a folder.
 */
export async function isStore(directory: string): Promise<boolean> {
  const { manifestName } = await import('../../../core/store/level/files/file-manifest.ts')
  return (await stat(join(directory, manifestName)).catch(() => null)) !== null
}

/**
 * Opens the store of a stopped server. The caller must close the store.
 * @param damaged `open`: open a store even if it is damaged; `refuse`: reject a damaged store
 * @throws StorageError, EngineOpenError
 */
export async function openOfflineStore(directory: string, damaged: 'open' | 'refuse'): Promise<Engine> {
  await expectStore(directory)
  const { openLevelEngine } = await loadEngine()
  return openLevelEngine({ directory, depth: 'verify', damaged })
}

/** Opens the store of a stopped server, or creates it if it is missing. @throws EngineOpenError, also if it is damaged */
export async function openOrCreateStore(directory: string): Promise<Engine> {
  const { openLevelEngine } = await loadEngine()
  return openLevelEngine({ directory, depth: 'verify', damaged: 'refuse' })
}

/**
 * Opens a store in order to read all its data. No server can open the store at the same time. The caller must close it.
 * @throws StorageError if there is no store; EngineOpenError, also if a server uses the store, or if a
 * restore into the store is not complete
 */
export async function openForReading(place: StoreLocation): Promise<Engine> {
  if (typeof place === 'string') return openOfflineStore(place, 'open')
  if (!(await hasStore(place))) throw new StorageError(`${locationName(place)} holds no store`)
  return (await loadDatabase()).openOfflineSchema(place)
}

/**
 * Opens a store like `openForReading`, but in order to add data.
 * @throws EngineOpenError also if files are damaged
 */
export const openForWriting = (place: StoreLocation): Promise<Engine> =>
  typeof place === 'string' ? openOfflineStore(place, 'refuse') : openForReading(place)

/**
 * Returns whether a server has ever stored anything at this location.
 * @throws EngineOpenError if the location is a database that cannot be read
 */
export async function hasStore(place: StoreLocation): Promise<boolean> {
  if (typeof place !== 'string') return (await loadDatabase()).schemaExists(place)
  return expectStore(place).then(
    () => true,
    () => false,
  )
}

/**
 * Checks all data in the store of a stopped server.
 * @throws StorageError; EngineOpenError if the store cannot be opened for a reason other than damage
 */
export async function checkOfflineStore(directory: string, options: CheckOptions): Promise<StoreCheck> {
  await expectStore(directory)
  return (await loadMaintenance()).checkStore(directory, options)
}

/**
 * Compares the format of the store in a data directory with the format of this version. Does not open the store:
 * changes nothing, also while a server uses the store.
 * @throws StorageError if the format of the store is not recorded
 */
export async function compareStoreFormats(directory: string) {
  const { formatVersion, readRecordedFormat, storePath } = await loadMaintenance()
  const path = storePath(directory)
  const isStored = await hasStore(directory)
  const stored = isStored ? await readRecordedFormat(path) : null
  if (isStored && stored === null)
    throw new StorageError(
      `the format of ${path} is not recorded: stop its server, and run weft verify ${directory}`,
    )
  return {
    stored: stored === null ? null : String(stored),
    current: String(formatVersion),
    missing: [],
    isSupported: stored === null || stored === formatVersion,
  }
}

/** Syncs a directory, so that the names of new files in the directory survive a power failure. */
export const fsyncDirectory = async (path: string): Promise<void> =>
  (await loadMaintenance()).syncDirectory(path)

/**
 * Returns messages about damage that does not prevent the opening of the store. The messages come from the
 * log of LevelDB, and from the comparison of the files with Weft's own list of files.
 */
export async function fileDamage(directory: string): Promise<readonly string[]> {
  const { checkManifest, readWarnings, storePath } = await loadMaintenance()
  const path = storePath(directory)
  if ((await stat(join(path, 'CURRENT')).catch(() => null)) === null) return []
  return [...(await checkManifest(path, 'start')).problems, ...(await readWarnings(path))]
}

/**
 * Opens the store of a stopped server in order to use the documents of one API key.
 * @throws BootstrapError if the store does not have the API key; the errors of `open`
 */
export async function openTenant(
  place: StoreLocation,
  tenant: Tenant,
  open: (place: StoreLocation) => Promise<Engine> = openForReading,
): Promise<Engine> {
  const engine = await open(place)
  try {
    await requireTenant(new TenantStore(engine.kv), tenant)
    return engine
  } catch (error) {
    await engine.close()
    throw error
  }
}

/**
 * Checks that the configured credentials agree with those in the store of a stopped server. Does nothing if
 * there is no store.
 * @throws the errors of `openTenant`
 */
export async function checkStoredCredentials(
  place: StoreLocation,
  configured: CredentialSources['configured'],
): Promise<void> {
  if (!(await hasStore(place))) return
  const engine = await openForReading(place)
  try {
    const tenants = new TenantStore(engine.kv)
    const sources = { configured, directory: directoryOf(place), tenants, agreed: {}, first: 'kept' } as const
    await checkCredentials(sources)
  } finally {
    await engine.close()
  }
}
