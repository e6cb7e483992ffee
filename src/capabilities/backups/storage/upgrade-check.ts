import { statfs } from 'node:fs/promises'
import type { Clock } from '../../../core/base/clock.ts'
import { errorMessage } from '../../../core/base/errors.ts'
import { readJson } from '../../../core/base/json.ts'
import { readPackageVersion } from '../../../core/base/package-version.ts'
import * as s from '../../../core/base/schema.ts'
import { withoutTrailing } from '../../../core/base/text.ts'
import type { Config } from '../../../core/config/config.ts'
import {
  existingDirectory,
  type Finding,
  fail,
  type Judged,
  judge,
  MB,
  nodeVersion,
  ok,
  warning,
} from './finding.ts'
import { lastBackupIn, readLastBackupOf } from './last-backup.ts'
import { compareStoreFormats, hasStore, loadDatabase, loadMaintenance } from './offline-store.ts'

/** Age of the last backup in ms; older backups cause a warning. */
const backupAgeMsMax = 24 * 60 * 60_000
const hourMs = 60 * 60_000
/** Timeout in ms of the request to a running server. */
const answerMs = 5_000

/** Formats of a store, and the effect of a start of this version. Texts are format numbers, such as `1.1`. */
interface FormatComparison {
  /** Format of the stored data; null if nothing is stored. */
  readonly stored: string | null
  /** Format that this version writes. */
  readonly current: string
  /** Formats to which a start would bring the data, in order. */
  readonly missing: readonly string[]
  readonly isSupported: boolean
}

interface UpgradeCheck {
  readonly config: Config
  readonly clock: Clock
  /** URL of a running server; null if there is none to ask. */
  readonly url: string | null
}

/**
 * Checks whether this version can replace the version that has written the configured store. Changes nothing,
 * also while a server uses the store.
 */
export async function checkUpgrade({ config, clock, url }: UpgradeCheck): Promise<readonly Finding[]> {
  const found: Finding[] = [{ name: 'node version', ...nodeVersion() }]
  if (config.engine !== 'memory') found.push(...(await storeFindings(config)))
  const checks: Readonly<Record<string, () => Promise<Judged>>> = {
    ...(config.engine !== 'memory' && { 'last backup': () => lastBackup(config, clock) }),
    ...(config.engine === 'level' && { 'space for a backup': () => backupSpace(config.dataDir) }),
    ...(url !== null && { 'running server': () => runningServer(url) }),
  }
  for (const [name, check] of Object.entries(checks)) found.push({ name, ...(await judge(check)) })
  return found
}

async function storeFindings(config: Config): Promise<readonly Finding[]> {
  const formats = await readFormats(config).catch((error: unknown) => errorMessage(error))
  if (typeof formats === 'string')
    return [{ name: 'store format', ...fail(formats, 'correct this first; weft doctor finds the cause') }]
  const found = { name: 'store format', ...storeFormat(formats) }
  return formats.isSupported ? [found, { name: 'downgrade', ...downgrade(formats) }] : [found]
}

async function readFormats({
  engine,
  dataDir,
  postgresUrl,
  postgresSchema,
}: Config): Promise<FormatComparison> {
  if (engine === 'postgres')
    return (await loadDatabase()).readSchemaFormats({ url: postgresUrl ?? '', schema: postgresSchema })
  return compareStoreFormats(dataDir)
}

function storeFormat({ stored, current, missing, isSupported }: FormatComparison): Judged {
  if (stored === null) return ok(`nothing is stored; a start creates format ${current}`)
  const formats = `the store has format ${stored}, and this version writes format ${current}`
  if (!isSupported) return fail(formats, 'use the version that has written the store')
  if (missing.length > 0) return ok(`${formats}; a start adds the parts of ${missing.join(' and ')}`)
  return ok(`${formats}; a start changes nothing`)
}

/** Versions accept each store of a format with the same major number, so they also accept added parts. */
function downgrade({ stored, current, missing }: FormatComparison): Judged {
  if (stored === null) return ok('no earlier version has stored anything')
  if (majorOf(stored) !== majorOf(current))
    return warning(
      'after a start of this version, the version that has written the store rejects it',
      'stop all servers of that version, then take a backup',
    )
  if (missing.length > 0)
    return ok('versions with the same major number of the format also accept the added parts')
  return ok('the version that has written the store can open it again after a start of this version')
}

const majorOf = (format: string): string | undefined => format.split('.')[0]

async function lastBackup(config: Config, clock: Clock): Promise<Judged> {
  const { dataDir, engine, postgresUrl, postgresSchema: schema } = config
  const isDatabase = engine === 'postgres'
  const at = await (isDatabase
    ? readLastBackupOf({ url: postgresUrl ?? '', schema, directory: dataDir })
    : lastBackupIn(dataDir).read())
  const help = isDatabase
    ? 'take a backup before the upgrade (weft backup), unless another tool has done it'
    : 'take a backup before the upgrade: weft backup'
  if (at === 0)
    return warning(`no backup is recorded in the ${isDatabase ? 'database' : 'data directory'}`, help)
  const ageMs = clock.now() - at
  if (ageMs < -hourMs) return warning(`${new Date(at).toISOString()}, which is in the future`, help)
  const found = `${new Date(at).toISOString()}, ${Math.floor(ageMs / hourMs)} hours old`
  return ageMs > backupAgeMsMax ? warning(found, help) : ok(found)
}

/** Compares the free space with the files of the store, because a backup has about their size. */
async function backupSpace(directory: string): Promise<Judged> {
  const needed = (await hasStore(directory)) ? await (await loadMaintenance()).storedBytes(directory) : 0
  const { bavail, bsize } = await statfs(await existingDirectory(directory))
  const [neededMb, freeMb] = [Math.ceil(needed / MB), Math.floor((bavail * bsize) / MB)]
  const found = `${freeMb} MB are free, and a backup needs about ${neededMb} MB`
  return freeMb >= neededMb ? ok(found) : warning(found, 'write the backup to another disk')
}

const versionSchema = s.object({ name: s.literal('weft'), version: s.string })

async function runningServer(url: string): Promise<Judged> {
  const [own, help] = [readPackageVersion(), 'correct --url, or start the server']
  const response = await fetch(`${withoutTrailing('/', url)}/version`, {
    signal: AbortSignal.timeout(answerMs),
  }).catch((error: unknown) => errorMessage(error))
  if (typeof response === 'string') return fail(`${url} cannot be reached: ${response}`, help)
  const { version } = await response
    .arrayBuffer()
    .then((bytes) => readJson(versionSchema, Buffer.from(bytes)))
    .catch(() => ({ version: null }))
  if (version === null) return fail(`${url} is not a Weft server`, help)
  const found = `the server has version ${version}, and this is version ${own}`
  const order = compareVersions(version, own)
  if (order > 0) return warning(found, 'this is a downgrade: see the chapter "Compatibility"')
  return ok(order === 0 ? `${found}: no upgrade` : found)
}

/** Compares version numbers of three parts. Returns a number above 0 if `a` is newer. */
function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => (version.split('-')[0] ?? '').split('.').map(Number))
  const index = [0, 1, 2].find((each) => left?.[each] !== right?.[each]) ?? 0
  return (left?.[index] ?? 0) - (right?.[index] ?? 0)
}
