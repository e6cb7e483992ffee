import { randomBytes } from 'node:crypto'
import { link, lstat, open, readFile, rename, rm } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Clock } from '../../../core/base/clock.ts'
import { errorCode, errorMessage } from '../../../core/base/errors.ts'
import { readJson } from '../../../core/base/json.ts'
import * as s from '../../../core/base/schema.ts'
import { withoutTrailing } from '../../../core/base/text.ts'
import { writeNewFile } from '../../../core/config/files/write-new-file.ts'
import { credentialsPath } from '../../../core/directory/tenants/credentials-file.ts'
import { listWorkspaceIds } from '../../../core/directory/tenants/tenant-store.ts'
import { CorruptRecordError, type Kv, type StoreDump } from '../../../core/store/engine.ts'
import { type BackupPart, BackupWriter, readBackupParts } from './backup-file.ts'
import { type LastBackup, lastBackupIn, lastBackupInStore } from './last-backup.ts'
import { directoryOf, openForReading, type StoreLocation } from './offline-store.ts'
import { type Progress, StorageError } from './storage-error.ts'

interface BackupOrigin {
  /** Data directory, which has the credentials file. */
  readonly directory: string
  readonly kv: Pick<Kv, 'scan'>
  readonly lastBackup: LastBackup
  readonly clock: Clock
}

/**
 * Yields the parts of a backup. The backup contains the state of the store when the first part is read, and
 * the credentials file of `directory`. When the reader has processed the last part, stores the time of the
 * backup in `lastBackup`.
 * @throws the errors of the engine's dump
 */
export async function* backupParts(
  { format, pages }: StoreDump,
  { directory, kv, lastBackup, clock }: BackupOrigin,
): AsyncGenerator<BackupPart> {
  const workspaces = await listWorkspaceIds(kv).catch((error: unknown) => {
    // A backup keeps the damaged records of a database.
    if (error instanceof CorruptRecordError) return null
    throw error
  })
  const header = { format, madeAt: clock.now(), ...(workspaces !== null && { workspaces }) }
  yield { kind: 'header', header }
  const path = credentialsPath(directory)
  const credentials = await readFile(path).catch(() => null)
  if (credentials !== null) yield { kind: 'file', name: basename(path), bytes: credentials }
  let count = 0
  for await (const page of pages) {
    count += page.length
    if (page.length > 0) yield { kind: 'pairs', pairs: page }
  }
  yield { kind: 'end', pairs: count }
  // This line is reached only if the reader has received all parts.
  await lastBackup.note(clock.now())
}

/** Yields the bytes of a backup; see `backupParts`. */
export async function* backupOf(dump: StoreDump, origin: BackupOrigin): AsyncGenerator<Uint8Array> {
  const writer = new BackupWriter()
  for await (const part of backupParts(dump, origin)) yield writer.part(part)
}

export interface WrittenBackup {
  readonly bytes: number
  readonly pairs: number
}

/**
 * Writes a backup to a file. Only the owner of the file can read it, because it contains secrets. The file is
 * read and checked before it gets its final name. Does not replace an existing file, and does not follow
 * links.
 * @throws StorageError
 */
export async function writeBackup(
  source: AsyncIterable<Uint8Array>,
  out: string,
  onProgress: Progress,
): Promise<WrittenBackup> {
  if ((await lstat(out).catch(() => null)) !== null) throw isThere(out)
  const partial = `${out}.${randomBytes(4).toString('hex')}.part`
  try {
    const bytes = await writeAll(source, partial, onProgress)
    const pairs = await checkBackup(partial, onProgress)
    await giveName(partial, out)
    return { bytes, pairs }
  } catch (error) {
    await rm(partial, { force: true })
    if (error instanceof StorageError) throw error
    throw new StorageError(`the backup could not be made: ${errorMessage(error)}`, { cause: error })
  }
}

const isThere = (out: string): StorageError =>
  new StorageError(`${out} already exists: name another file, or remove it`)

/**
 * Gives the file its final name by a hard link, then removes the temporary name. A rename would replace an
 * existing file.
 */
async function giveName(partial: string, out: string): Promise<void> {
  try {
    await link(partial, out)
    await rm(partial)
  } catch (error) {
    if (errorCode(error) === 'EEXIST') throw isThere(out)
    // Some file systems do not support hard links, so the file is renamed there.
    await rename(partial, out)
  }
}

/**
 * Reads a backup to its end, and checks it. Returns the number of its pairs.
 * @throws StorageError if the backup is damaged or incomplete
 */
async function checkBackup(path: string, onProgress: Progress): Promise<number> {
  let hasHeader = false
  let pairs = 0
  for await (const part of readBackupParts(chunksOf(path, 'check', onProgress))) {
    if (part.kind === 'header') hasHeader = true
    if (part.kind === 'end') pairs = part.pairs
  }
  if (!hasHeader) throw new StorageError('the backup is damaged: it has no header')
  return pairs
}

/** Yields the chunks of a file. @throws StorageError if the file cannot be read */
export async function* chunksOf(
  path: string,
  step: string,
  onProgress: Progress,
): AsyncGenerator<Uint8Array> {
  const file = await open(path).catch((error: unknown) => {
    throw new StorageError(`${path} cannot be read: ${errorMessage(error)}`, { cause: error })
  })
  const { size } = await file.stat()
  let read = 0
  for await (const chunk of file.createReadStream({ highWaterMark: 1024 * 1024 })) {
    const bytes: Buffer = chunk
    read += bytes.length
    onProgress(step, read / size)
    yield bytes
  }
}

async function writeAll(
  source: AsyncIterable<Uint8Array>,
  path: string,
  onProgress: Progress,
): Promise<number> {
  let written = 0
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      written += chunk.length
      onProgress(`write ${Math.floor(written / 2 ** 20)} MB`, 0)
      yield chunk
    }
  }
  await writeNewFile(path, counted())
  return written
}

/**
 * Backs up a stopped server, and yields the bytes of the backup.
 * @throws StorageError, EngineOpenError, CorruptRecordError
 */
export async function* backupOffline(place: StoreLocation, clock: Clock): AsyncGenerator<Uint8Array> {
  const engine = await openForReading(place)
  try {
    const dump = engine.dump()
    if (dump === null) throw new Error('a stored engine without a dump')
    const { kv } = engine
    const lastBackup = typeof place === 'string' ? lastBackupIn(place) : lastBackupInStore(kv)
    yield* backupOf(dump, { directory: directoryOf(place), kv, lastBackup, clock })
  } finally {
    await engine.close()
  }
}

/** Requests a backup from a running server, and yields the bytes of the backup. @throws StorageError */
export async function* backupOnline(
  url: string,
  readToken: () => Promise<string>,
): AsyncGenerator<Uint8Array> {
  const token = await readToken()
  const hint = 'start the server, or name its data directory instead'
  yield* (await fetchAsOperator(url, '/backup', token, hint)).body ?? []
}

/**
 * Requests a path for operators from a running server. Returns its successful response.
 * @param hint remedy if the server cannot be reached
 * @throws StorageError with a sentence for the operator
 */
export async function fetchAsOperator(
  url: string,
  path: string,
  token: string,
  hint: string,
  signal: AbortSignal | null = null,
): Promise<Response> {
  const response = await fetch(withoutTrailing('/', url) + path, {
    headers: { 'x-service-admin-token': token },
    redirect: 'error',
    signal,
  }).catch((error: unknown) => {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
    throw new StorageError(`${url} cannot be reached: ${errorMessage(cause)}`, { hint })
  })
  if (response.ok) return response
  throw new StorageError(`${url} rejected the request: ${await responseError(response)}`, {
    hint: 'the token must be the value of WEFT_ADMIN_TOKEN on the server, or adminToken of its credentials.json',
  })
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

async function responseError(response: Response): Promise<string> {
  const text = await response.text()
  try {
    const { error } = readJson(refusalSchema, text)
    return `${error.status}: ${error.message}`
  } catch {
    return `HTTP ${response.status}`
  }
}
