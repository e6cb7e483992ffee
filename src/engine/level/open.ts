import { mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { messageOf } from '../../errors.ts'
import { EngineOpenError } from '../engine.ts'
import { DamagedRecord } from '../named-damage.ts'
import { checkFiles, type FilesDepth, isAboutTable, withoutRemoved } from './check-files.ts'
import { codeOf, isDamage } from './failures.ts'
import { type OlderFormat, settleFormat } from './format.ts'
import type { OpenStore, Store } from './store.ts'

/** Of the data directory. */
const storeFolder = 'store'

export interface OpenedStore {
  readonly store: Store
  readonly path: string
  readonly warnings: readonly string[]
  readonly format: number
}

export interface Opening {
  readonly older: OlderFormat
  /** How much of the files is looked at before. */
  readonly depth: FilesDepth
  /** What becomes of a store that is damaged. */
  readonly damaged: 'open' | 'refuse'
  /** What becomes of a store into which an import has not been ended; refused unless given. */
  readonly importing?: 'open' | 'refuse'
}

/** Where the store of a data directory is. */
export const storePath = (directory: string): string => join(directory, storeFolder)

/** Where it is until all of it is there. */
export const unfinishedPath = (directory: string): string => `${storePath(directory)}.unfinished`

/** Is there while a store that was empty takes in an export: what is there meanwhile is not all of it. */
export const importMarkPath = (directory: string): string => join(directory, 'import.unfinished')

/** Opens the store in a data directory, or makes it, unless something there speaks against it. @throws EngineOpenError */
export async function openChecked(
  directory: string,
  openStore: OpenStore,
  { older, depth, damaged, importing = 'refuse' }: Opening,
): Promise<OpenedStore> {
  const path = storePath(directory)
  let changed: readonly string[] = []
  try {
    await refuseUnfinished(directory, importing)
    await mkdir(path, { recursive: true, mode: 0o700 })
    await refuseHeadless(path)
    changed = await checkFiles(path, depth)
    refuseChangedManifest(path, changed)
    // Opening replaces what is no table.
    if (damaged === 'refuse')
      refuseDamaged(
        directory,
        changed.filter((sentence) => !isAboutTable(sentence)),
      )
    const store = await openStore(path)
    try {
      const warnings = [...(await withoutRemoved(path, changed)), ...(await readWarnings(path))]
      if (damaged === 'refuse') refuseDamaged(directory, warnings)
      return { store, path, format: await settleFormat(store, path, older), warnings }
    } catch (error) {
      await store.close()
      throw error
    }
  } catch (error) {
    throw openError(error, path, changed)
  }
}

/** An empty store must not take the place of one that was being restored, and half of one must not pass for all of it. */
async function refuseUnfinished(directory: string, importing: 'open' | 'refuse'): Promise<void> {
  const names: readonly string[] = await readdir(directory).catch(() => [])
  const problem =
    restoreProblem(directory, names) ?? (importing === 'refuse' ? importProblem(directory, names) : null)
  if (problem !== null) throw new EngineOpenError('corrupted', problem)
}

/** A sentence about what a restore or an import has left that was interrupted; null when there is none. */
export async function unfinishedProblem(directory: string): Promise<string | null> {
  const names: readonly string[] = await readdir(directory).catch(() => [])
  return restoreProblem(directory, names) ?? importProblem(directory, names)
}

function restoreProblem(directory: string, names: readonly string[]): string | null {
  const unfinished = unfinishedPath(directory)
  if (!names.includes(basename(unfinished)) || names.includes(storeFolder)) return null
  return `${unfinished} is what a restore has left that was interrupted: remove it, and restore again`
}

function importProblem(directory: string, names: readonly string[]): string | null {
  if (!names.includes(basename(importMarkPath(directory)))) return null
  return `the import of an export into ${directory} was interrupted: start it again, and let it come to its end`
}

/** LevelDB would make an empty store where its tables have lost the file that names them. */
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

/** What LevelDB finds no longer named by a manifest it would remove. */
function refuseChangedManifest(path: string, changed: readonly string[]): void {
  const manifest = changed.find((sentence) => /^(MANIFEST|CURRENT)/.test(sentence))
  if (manifest === undefined) return
  throw new EngineOpenError(
    'corrupted',
    `${path} is damaged (${manifest}): restore the directory from a backup`,
  )
}

/** For what rewrites the files: nothing would tell of the damage any more. */
function refuseDamaged(directory: string, problems: readonly string[]): void {
  if (problems.length === 0) return
  throw new EngineOpenError(
    'corrupted',
    `${storePath(directory)} is damaged (${problems.join('; ')}): see with \`weft verify ${directory}\` what that affects, and restore a backup into an empty directory`,
  )
}

/** Damage that LevelDB passes over in silence is in the text it writes while opening. */
export async function readWarnings(path: string): Promise<readonly string[]> {
  const text = await readFile(join(path, 'LOG'), 'utf8').catch(() => '')
  return text.split('\n').filter((line) => /corrupt|dropp|ignoring error|missing/i.test(line))
}

/** The sentence for what `level` says by codes. @param changed sentences about files that are damaged */
export function openError(error: unknown, path: string, changed: readonly string[] = []): EngineOpenError {
  if (error instanceof EngineOpenError) return error
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = codeOf(cause)
  const message = messageOf(cause)
  const isDamaged = isDamage(code, message) || error instanceof DamagedRecord
  const fail = (reason: EngineOpenError['reason'], sentence: string) =>
    new EngineOpenError(reason, sentence, { cause: error })
  if (code === 'LEVEL_LOCKED') return fail('locked', `${path} is in use by another process: stop it first`)
  if (isDamaged || /corruption|does not exist|no such file|CURRENT/i.test(message)) {
    const problems = [message, ...changed].join('; ')
    return fail('corrupted', `${path} is damaged (${problems}): restore the directory from a backup`)
  }
  if (/EACCES|EPERM|EROFS|permission denied|read-only/i.test(`${code} ${message}`)) {
    return fail('readOnly', `${path} cannot be written (${message}): make it writable for this user`)
  }
  return fail('failed', `${path} cannot be opened: ${message}`)
}
