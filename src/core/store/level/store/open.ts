import { realpathSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { errorMessage } from '../../../base/errors.ts'
import { makeDirectory } from '../../../config/files/make-directory.ts'
import { describeProcess, processWith } from '../../../config/process-with.ts'
import { EngineOpenError } from '../../engine.ts'
import { rangeOf } from '../../key-encoding.ts'
import { checkChecksum, encodeFormat, formatKey, formatVersion } from '../../pairs/record-codec.ts'
import { DamagedRecordError } from '../../stored-record.ts'
import {
  checkFiles,
  type FilesDepth,
  isAboutLog,
  isAboutTable,
  withoutRemoved,
} from '../files/check-files.ts'
import { checkManifest, manifestName, noteLost, recordFormat } from '../files/file-manifest.ts'
import { isDamage, levelErrorCode } from '../files/level-errors.ts'
import type { OpenStore, Store } from './store.ts'

/** Name of the folder in the data directory that contains the store. */
const storeFolder = 'store'

export interface OpenRequest {
  /** How thoroughly the files are checked before the store is opened. */
  readonly depth: FilesDepth
  /**
   * Whether a damaged store is opened. If the log of LevelDB has lost writes, only `inspect` opens the store.
   * The loss is then recorded in the manifest.
   */
  readonly damaged: 'open' | 'refuse' | 'inspect'
}

/** Returns the path of the store of a data directory. */
export const storePath = (directory: string): string => join(directory, storeFolder)

/** Returns the path of a store whose restore is not complete yet. */
export const unfinishedPath = (directory: string): string => `${storePath(directory)}.unfinished`

/**
 * Opens the store in a data directory, or creates it if it is missing.
 * @throws EngineOpenError if a check fails or the store cannot be opened
 */
export async function openChecked(
  directory: string,
  openStore: OpenStore,
  { depth, damaged }: OpenRequest,
): Promise<{ readonly store: Store; readonly path: string; readonly warnings: readonly string[] }> {
  const path = storePath(directory)
  let changed: readonly string[] = []
  try {
    await refuseUnfinished(directory)
    await makeDirectory(path)
    await refuseHeadless(path)
    changed = await checkFiles(path, depth)
    refuseChangedManifest(path, changed)
    if (damaged === 'inspect') await noteLost(path, changed.filter(isAboutLog))
    else refuseLost(directory, changed)
    // Opening replaces all files except tables. The damage of the replaced files must be reported before the
    // opening.
    if (damaged === 'refuse')
      refuseDamaged(
        directory,
        changed.filter((sentence) => !isAboutTable(sentence)),
      )
    const store = await openStore(path)
    try {
      const warnings = [...(await withoutRemoved(path, changed)), ...(await readWarnings(path))]
      if (damaged === 'refuse') refuseDamaged(directory, warnings)
      await ensureFormat(store, path)
      await recordFormat(path)
      return { store, path, warnings }
    } catch (error) {
      await store.close()
      throw error
    }
  } catch (error) {
    throw levelOpenError(error, path, changed)
  }
}

/** Refuses a directory with an interrupted restore, because an empty store would be created instead of the restored one. */
async function refuseUnfinished(directory: string): Promise<void> {
  const problem = restoreProblem(directory, await readdir(directory).catch(() => []))
  if (problem !== null) throw new EngineOpenError('corrupted', problem)
}

/**
 * Returns the reason why no server can start with this directory; null if its files show no problem. Does not
 * open the store.
 */
export async function startProblem(directory: string): Promise<string | null> {
  const names: readonly string[] = await readdir(directory).catch(() => [])
  const unfinished = restoreProblem(directory, names)
  if (unfinished !== null || !names.includes(storeFolder)) return unfinished
  return lostProblem(directory, (await checkManifest(storePath(directory), 'start')).problems)
}

function restoreProblem(directory: string, names: readonly string[]): string | null {
  const unfinished = unfinishedPath(directory)
  if (!names.includes(basename(unfinished)) || names.includes(storeFolder)) return null
  return `${unfinished} is left over from an interrupted restore: remove it, and restore again`
}

/**
 * Refuses a store whose file `CURRENT` is missing, because LevelDB would create an empty store instead of it.
 */
async function refuseHeadless(path: string): Promise<void> {
  const names = await readdir(path)
  if (names.includes('CURRENT')) return
  const data = names.filter((name) => /\.(ldb|sst|log)$/.test(name))
  const sizes = await Promise.all(data.map(async (name) => (await stat(join(path, name))).size))
  if (!sizes.some((size) => size > 0)) return
  throw new EngineOpenError(
    'corrupted',
    `${path} holds data, but its file CURRENT is missing: restore the directory from a backup`,
  )
}

/**
 * Refuses a store whose MANIFEST file or file `CURRENT` has changed. LevelDB would remove all files that the
 * changed MANIFEST file does not list.
 */
function refuseChangedManifest(path: string, changed: readonly string[]): void {
  const manifest = changed.find((sentence) => /^(MANIFEST|CURRENT)/.test(sentence))
  if (manifest === undefined) return
  throw new EngineOpenError(
    'corrupted',
    `${path} is damaged (${manifest}): restore the directory from a backup`,
  )
}

/**
 * Refuses a store that has lost writes. Opening this store would replace the log files, and the evidence of
 * the loss would disappear.
 */
function refuseLost(directory: string, changed: readonly string[]): void {
  const problem = lostProblem(directory, changed)
  if (problem !== null) throw new EngineOpenError('corrupted', problem)
}

function lostProblem(directory: string, changed: readonly string[]): string | null {
  const lost = changed.filter(isAboutLog)
  if (lost.length === 0) return null
  const path = storePath(directory)
  const help = `check the rest with \`weft verify ${directory}\`; restore a backup into an empty directory, or copy the directory and then remove ${join(path, manifestName)} to serve the rest`
  return `${path} is damaged (${lost.join('; ')}): acknowledged writes were lost after the server stopped; ${help}`
}

/**
 * Refuses a damaged store. Used before operations that rewrite the files: after such an operation, nothing
 * would show the damage.
 */
function refuseDamaged(directory: string, problems: readonly string[]): void {
  if (problems.length === 0) return
  throw new EngineOpenError(
    'corrupted',
    `${storePath(directory)} is damaged (${problems.join('; ')}): run \`weft verify ${directory}\` to see what is affected, and restore a backup into an empty directory`,
  )
}

/**
 * Returns the lines in which LevelDB reported damage that it skips without an error. LevelDB writes them only
 * to its text file `LOG`, when it opens the store.
 */
export async function readWarnings(path: string): Promise<readonly string[]> {
  const text = await readFile(join(path, 'LOG'), 'utf8').catch(() => '')
  return text.split('\n').filter((line) => /corrupt|dropp|ignoring error|missing/i.test(line))
}

/** Returns a description of the process that has the store open. Used in messages. */
function holderOf(path: string): string {
  const found = processWith([lockPath(path)])
  return found === null ? 'another process' : `the ${describeProcess(found)}`
}

/**
 * Returns the path of the lock file, with symbolic links resolved. /proc shows this path for the process that
 * has the store open.
 */
export function lockPath(path: string): string {
  const lock = join(path, 'LOCK')
  try {
    return realpathSync(lock)
  } catch {
    return lock
  }
}

/**
 * Converts an error of the library `level` to an EngineOpenError with a message for the operator.
 * @param changed sentences that describe damaged files
 */
export function levelOpenError(
  error: unknown,
  path: string,
  changed: readonly string[] = [],
): EngineOpenError {
  if (error instanceof EngineOpenError) return error
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = levelErrorCode(cause)
  const message = errorMessage(cause)
  const isDamaged = isDamage(code, message) || error instanceof DamagedRecordError
  const fail = (reason: EngineOpenError['reason'], sentence: string) =>
    new EngineOpenError(reason, sentence, { cause: error })
  if (code === 'LEVEL_LOCKED') return fail('locked', `${path} is in use by ${holderOf(path)}: stop it first`)
  if (isDamaged || /corruption|does not exist|no such file|CURRENT/i.test(message)) {
    const problems = [message, ...changed].join('; ')
    return fail('corrupted', `${path} is damaged (${problems}): restore the directory from a backup`)
  }
  if (/EACCES|EPERM|EROFS|permission denied|read-only/i.test(`${code} ${message}`)) {
    return fail('readOnly', `${path} cannot be written (${message}): make it writable for this user`)
  }
  if (/ENOSPC|EDQUOT|no space left|quota exceeded/i.test(`${code} ${message}`)) {
    return fail('full', `${path} cannot be opened (${message}): make room on its disk`)
  }
  return fail('failed', `${path} cannot be opened: ${message}`)
}

/**
 * Checks that this server supports the format of a store. If the store is empty, writes the current format.
 * @throws EngineOpenError
 */
async function ensureFormat(store: Store, path: string): Promise<void> {
  const version = await readFormat(store, path)
  if (version === null) return writeFormat(store)
  if (version > formatVersion) {
    throw new EngineOpenError(
      'newerFormat',
      `${path} was written by a newer version (format ${version}, this one knows ${formatVersion}): use that version`,
    )
  }
  if (version < formatVersion) {
    throw new EngineOpenError(
      'olderFormat',
      `${path} was written by an older version (format ${version}, this one knows ${formatVersion}): use that version`,
    )
  }
}

/** Returns the format of a store; null if the store is empty. */
async function readFormat(store: Store, path: string): Promise<number | null> {
  const stored = await store.get(formatKey)
  if (stored !== undefined) return checkChecksum(formatKey, stored)[0] ?? 0
  if (await isEmpty(store)) return null
  throw new EngineOpenError('corrupted', `${path} holds data whose format is not known: restore a backup`)
}

const writeFormat = (store: Store): Promise<void> =>
  store.write([{ key: formatKey, value: encodeFormat() }], true)

async function isEmpty(store: Store): Promise<boolean> {
  for await (const page of store.pages(rangeOf(Buffer.alloc(0)), { limit: 1, values: false })) {
    return page.length === 0
  }
  return true
}
