import { readFile } from 'node:fs/promises'
import type { Clock } from '../../../core/base/clock.ts'
import { errorMessage } from '../../../core/base/errors.ts'
import { readJson } from '../../../core/base/json.ts'
import * as s from '../../../core/base/schema.ts'
import { withoutTrailing } from '../../../core/base/text.ts'
import type { Kv, StoreDump } from '../../../core/store/engine.ts'
import { backupOf } from './backup.ts'
import { lastBackupIn, lastBackupInStore } from './last-backup.ts'
import { directoryOf, openForReading, type StoreLocation } from './offline-store.ts'
import { StorageError } from './storage-error.ts'

/** Returns a dump that does not need the object storage of saved versions. */
export type DumpResolver = (dump: StoreDump, kv: Kv) => Promise<StoreDump>

/**
 * Backs up a stopped server, and yields the bytes of the backup.
 * @param resolved default: a store without references to objects
 * @throws StorageError, EngineOpenError, CorruptRecordError; the errors of `resolved`
 */
export async function* backupOffline(
  place: StoreLocation,
  clock: Clock,
  resolved: DumpResolver = async (dump) => dump,
): AsyncGenerator<Uint8Array> {
  const { engine, close } = await openForReading(place)
  try {
    const dump = engine.dump()
    if (dump === null) throw new Error('a stored engine without a dump')
    const { kv } = engine
    const lastBackup = typeof place === 'string' ? lastBackupIn(place) : lastBackupInStore(kv)
    yield* backupOf(await resolved(dump, kv), { directory: directoryOf(place), kv, lastBackup, clock })
  } finally {
    await close()
  }
}

/** Requests a backup from a running server, and yields the bytes of the backup. @throws StorageError */
export async function* backupOnline(url: string, tokenFile: string): AsyncGenerator<Uint8Array> {
  const token = await readTokenFile(tokenFile)
  const response = await fetch(`${withoutTrailing('/', url)}/backup`, {
    headers: { 'x-service-admin-token': token },
    redirect: 'error',
  }).catch((error: unknown) => {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
    throw new StorageError(`${url} cannot be reached: ${errorMessage(cause)}`, {
      hint: 'start the server, or name its data directory instead',
    })
  })
  if (!response.ok || response.body === null)
    throw new StorageError(`${url} rejected the request: ${await responseError(response)}`, {
      hint: 'the token must be the value of WEFT_ADMIN_TOKEN on the server',
    })
  yield* response.body
}

/**
 * Reads a token from a file that has one line. The error does not contain the text of the file, because the
 * text may be a token.
 * @throws StorageError if the file cannot be read or does not contain a token
 */
export async function readTokenFile(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new StorageError(`${path} cannot be read: ${errorMessage(error)}`)
  })
  const token = text.trim()
  if (!/^[!-~]+$/.test(token))
    throw new StorageError(`${path} holds no token: it is one line of visible ASCII characters`)
  return token
}

const refusalSchema = s.object({
  error: s.object({ status: s.string, message: s.string }),
})

export async function responseError(response: Response): Promise<string> {
  const text = await response.text()
  try {
    const { error } = readJson(refusalSchema, text)
    return `${error.status}: ${error.message}`
  } catch {
    return `HTTP ${response.status}`
  }
}
