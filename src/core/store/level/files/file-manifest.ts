import { open, readdir, readFile, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { readJsonOrNull } from '../../../base/json.ts'
import * as s from '../../../base/schema.ts'
import { formatVersion } from '../../pairs/record-codec.ts'
import { findTableDamage } from './table-check.ts'

/**
 * State of the files of a store when it was closed. If a log file ends early, or its last record has a wrong
 * length, LevelDB assumes that a crash truncated the file, and silently ignores the rest. After a clean stop,
 * however, such a log file means that data is lost.
 */
interface Inventory {
  readonly files: readonly KnownFile[]
  /**
   * Names of tables that have blocks that were made unreadable (`unreadable-blocks.ts`). Absent if there are
   * no such tables.
   */
  readonly fenced?: readonly string[]
  /**
   * Sentences that describe damaged log files. LevelDB has replaced these files since then. No server starts
   * with this store until an operator removes the manifest file.
   */
  readonly lost?: readonly string[]
  /** Format of the store. Absent if no version that records it has opened the store. */
  readonly format?: number
}

interface KnownFile {
  readonly name: string
  readonly bytes: number
  /**
   * CRC-32 of all bytes of the file. Null if the table is damaged, or if reading all its bytes would have
   * taken too long.
   */
  readonly crc: number | null
}

/** Name of the file that contains the inventory. LevelDB does not use this name for its own files. */
export const manifestName = 'CLOSED'
const dataFile = /^(CURRENT|MANIFEST-\d+|\d+\.(log|ldb|sst))$/
/**
 * Maximum number of table bytes that one close reads to compute checksums. A store may have many tables.
 * However, a table never changes, so each table is read only once, when it is new.
 */
const tableBytesPerClose = 256 * 1024 * 1024
/**
 * Maximum number of table bytes that a start checks, beginning with the newest table. Checking this many
 * bytes takes 0.1 s, or 3 s if the manifest does not have the checksums of these tables.
 */
const tableBytesPerStart = 128 * 1024 * 1024

export const isTable = (name: string): boolean => /\.(ldb|sst)$/.test(name)

/** Writes the manifest. Call this function after the store has been closed. */
export async function writeManifest(path: string): Promise<void> {
  const before = await readInventory(path)
  const files: KnownFile[] = []
  const spare: Buffer[] = []
  let budget = tableBytesPerClose
  for (const name of await dataFiles(path)) {
    const { size } = await stat(join(path, name))
    const same = before?.files.find((file) => file.name === name && file.bytes === size)
    const isRead = !isTable(name) || ((same?.crc ?? null) === null && size <= budget)
    if (isTable(name) && isRead) budget -= size
    const crc = isRead ? await firstCrcOf(path, name, size, spare) : (same?.crc ?? null)
    files.push({ name, bytes: size, crc })
  }
  const fenced = before?.fenced?.filter((name) => files.some((file) => file.name === name)) ?? []
  await replaceInventory(path, { files, format: formatVersion, ...(fenced.length > 0 && { fenced }) })
}

/**
 * Records the names of tables with unreadable blocks. From then on, each start checks these tables
 * completely.
 */
export async function recordUnreadable(path: string, names: readonly string[]): Promise<void> {
  const before = await readInventory(path)
  const fenced = [...new Set([...(before?.fenced ?? []), ...names])]
  await replaceInventory(path, { ...(before ?? noFiles), fenced })
}

/**
 * Records damaged log files. Call this function before the store is opened: opening replaces the damaged
 * files, and nothing else would then show that data was lost.
 */
export async function noteLost(path: string, lost: readonly string[]): Promise<void> {
  if (lost.length > 0) await replaceInventory(path, { ...((await readInventory(path)) ?? noFiles), lost })
}

/** Records the format of a store. Call this function while the store is open. */
export async function recordFormat(path: string): Promise<void> {
  const before = await readInventory(path)
  if (before?.format !== formatVersion)
    await replaceInventory(path, { ...(before ?? noFiles), format: formatVersion })
}

/**
 * Returns the recorded format of a store; null if none is recorded. Does not open the store, so a server may
 * use it.
 */
export const readRecordedFormat = async (path: string): Promise<number | null> =>
  (await readInventory(path))?.format ?? null

const noFiles: Inventory = { files: [] }

const replaceInventory = (path: string, inventory: Inventory): Promise<void> =>
  replaceFile(join(path, manifestName), JSON.stringify(inventory))

/**
 * Returns the CRC of a file for which no CRC is recorded yet. Returns null for a damaged table, so that
 * damaged data is not recorded as correct.
 */
async function firstCrcOf(
  path: string,
  name: string,
  bytes: number,
  spare: Buffer[],
): Promise<number | null> {
  if (isTable(name) && (await findTableDamage(join(path, name), 'all')) !== null) return null
  return crcOf(path, name, bytes, spare)
}

interface ManifestComparison {
  /**
   * Sentences about the files that differ from their state at the last close. Each sentence starts with the
   * name of its file.
   */
  readonly problems: readonly string[]
  /** Names of the tables that were compared completely and are unchanged. */
  readonly sound: ReadonlySet<string>
}

/**
 * Compares the files with their state at the last close, and returns the differences. Returns no differences
 * if that state is outdated, because of a crash or because another program has opened the store since then.
 * Earlier damage of log files is always reported. A table never changes, so a table that still exists and has
 * the same bytes is always sound.
 * @param depth `start` compares the sizes of all tables and the bytes of some tables (see
 * `tableBytesPerStart`); `verify` compares all bytes
 */
export async function checkManifest(path: string, depth: 'start' | 'verify'): Promise<ManifestComparison> {
  const { files, lost = [] } = (await readInventory(path)) ?? noFiles
  const names = new Set(await dataFiles(path))
  const isAsClosed = !(await isOpenedSince(path, files, names))
  const atStart = await tablesAtStart(path)
  const isCompared = ({ name }: KnownFile) => depth === 'verify' || !isTable(name) || atStart.has(name)
  const isKnown = ({ name }: KnownFile) => isAsClosed || (isTable(name) && names.has(name))
  const sound = new Set<string>()
  const spare: Buffer[] = []
  const problems = await mapLimit(files.filter(isKnown), async (file) => {
    const { name, bytes } = file
    if (!names.has(name)) return `${name} is missing`
    const size = await sizeOf(join(path, name))
    const crc = isCompared(file) ? file.crc : null
    const problem = await fileProblem(path, { ...file, crc }, size, spare)
    // A table with additional bytes at its end is not sound, because LevelDB starts at the end of a table
    // when it searches.
    if (problem === null && crc !== null && size === bytes) sound.add(name)
    return problem
  })
  const found = isAsClosed ? problems.filter((problem) => problem !== null) : []
  return { problems: [...new Set([...lost, ...found])], sound }
}

/**
 * Returns whether the store has been opened since `files` were recorded. Each opening creates a MANIFEST file
 * with a higher number, writes its name into CURRENT, and then removes the previous MANIFEST file and the log
 * files that it has read. After a crash, some of these files may remain.
 */
async function isOpenedSince(
  path: string,
  files: readonly KnownFile[],
  names: ReadonlySet<string>,
): Promise<boolean> {
  const closed = files.find(({ name }) => name.startsWith('MANIFEST'))?.name
  if (closed === undefined || !names.has(closed)) return true
  const current = (await readFile(join(path, 'CURRENT'), 'utf8').catch(() => '')).trimEnd()
  return current.startsWith('MANIFEST') && names.has(current) && numberOf(current) > numberOf(closed)
}

/**
 * Returns the names of the tables that a start checks completely: the newest tables, and tables with known
 * damage.
 */
export async function tablesAtStart(path: string): Promise<ReadonlySet<string>> {
  const found = new Set((await readInventory(path))?.fenced)
  const tables = (await readdir(path)).filter(isTable)
  let left = tableBytesPerStart
  for (const name of tables.sort((a, b) => numberOf(b) - numberOf(a))) {
    left -= await sizeOf(join(path, name))
    if (left < 0) break
    found.add(name)
  }
  return found
}

/**
 * Returns the size of a file. Returns 0 if the file is missing, because a process that has the store open may
 * have removed it.
 */
const sizeOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  )

const numberOf = (name: string): number => Number(/\d+/.exec(name)?.[0] ?? 0)

async function fileProblem(
  path: string,
  { name, bytes, crc }: KnownFile,
  size: number,
  spare: Buffer[],
): Promise<string | null> {
  if (size < bytes)
    return `${name} has ${bytes - size} of its ${bytes} bytes fewer than when the store was closed: data is lost`
  if (crc === null || (await crcOf(path, name, bytes, spare)) === crc) return null
  return `${name} is not what it was when the store was closed: data may be lost`
}

const dataFiles = async (path: string): Promise<string[]> =>
  (await readdir(path)).filter((name) => dataFile.test(name))

/**
 * Reads the inventory. Returns null if the inventory is missing or unreadable. A store can be used without an
 * inventory.
 */
async function readInventory(path: string): Promise<Inventory | null> {
  const text = await readFile(join(path, manifestName), 'utf8').catch(() => '')
  return readJsonOrNull(inventorySchema, text)
}

const inventorySchema: s.SchemaOf<Inventory> = s.object(
  { files: s.array(s.object({ name: s.string, bytes: s.number, crc: s.orNull(s.number) })) },
  { fenced: s.array(s.string), lost: s.array(s.string), format: s.number },
)

/** Number of bytes that are read at a time. */
const readBytes = 256 * 1024

/**
 * Returns the CRC of the first `bytes` bytes of a file.
 * @param spare buffers that are reused, because a released buffer would stay allocated for a long time
 */
async function crcOf(path: string, name: string, bytes: number, spare: Buffer[]): Promise<number> {
  const file = await open(join(path, name))
  const buffer = spare.pop() ?? Buffer.allocUnsafe(readBytes)
  try {
    let crc = 0
    let left = bytes
    while (left > 0) {
      const { bytesRead } = await file.read(buffer, 0, Math.min(left, buffer.length))
      if (bytesRead === 0) break
      crc = crc32(buffer.subarray(0, bytesRead), crc)
      left -= bytesRead
    }
    return crc
  } finally {
    spare.push(buffer)
    await file.close()
  }
}

async function replaceFile(path: string, text: string): Promise<void> {
  const file = await open(`${path}.new`, 'w', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(`${path}.new`, path)
}

/** Maximum number of parallel calls. It is the number of files that Node reads in parallel. */
const atOnce = 4

/**
 * Calls `work` for each item, with at most `atOnce` calls in parallel. Without this limit, a store with many
 * files would cause as many parallel calls. Returns the results in the order of the items.
 * @throws the errors of `work`
 */
export async function mapLimit<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  const left = items.entries()
  const workOn = async () => {
    for (const [index, item] of left) results[index] = await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, workOn))
  return results
}
