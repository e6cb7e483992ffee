import { nullFor } from '../../core/base/errors.ts'
import { mapInSlices } from '../../core/directory/store/batch.ts'
import { addressKey, type DocumentAddress } from '../../core/model/address.ts'
import type { Version } from '../../core/model/version.ts'
import {
  CorruptRecordError,
  type DocumentLog,
  type LoadedLog,
  type LogEntry,
  type LogHead,
} from '../../core/store/engine.ts'
import { feedLimits } from './limits.ts'

/** The change of an editor from one version to another. */
interface EditorChange {
  /** Bytes of all updates; null if they are too large to read, or if the log no longer has them one by one. */
  readonly bytes: number | null
  /** Ids of the users who made the updates, in the order of their first update; null if `bytes` is null. */
  readonly authors: readonly string[] | null
  /** Time of the last update in epoch milliseconds. */
  readonly at: number
}

/** Maximum number of logs whose heads are read one by one at the same time. */
const headsAtOnce = 32

/**
 * Returns the heads of editors; null for an editor that does not exist, or whose log is damaged. Such an editor
 * must not stop the feed.
 */
export async function readEditorHeads(
  log: Pick<DocumentLog, 'heads'>,
  addresses: readonly DocumentAddress[],
): Promise<readonly (LogHead | null)[]> {
  if (addresses.length === 0) return []
  try {
    return await log.heads(addresses.map(addressKey))
  } catch (error) {
    if (!(error instanceof CorruptRecordError)) throw error
    const headOrNull = (address: DocumentAddress) => headOf(log, address).catch(nullFor(CorruptRecordError))
    return mapInSlices(addresses, headOrNull, headsAtOnce)
  }
}

async function headOf(log: Pick<DocumentLog, 'heads'>, address: DocumentAddress): Promise<LogHead | null> {
  return (await log.heads([addressKey(address)]))[0] ?? null
}

/** Maximum bytes of one read of a log. */
const readBytes = 262_144

/**
 * Reads the change of an editor between two sequence numbers of one epoch.
 * @param since number of the last update before the change
 * @param now epoch milliseconds; the time of a change whose log is damaged
 * @returns null if the log was deleted meanwhile
 */
export async function readEditorChange(
  log: Pick<DocumentLog, 'load'>,
  address: DocumentAddress,
  { epoch, head }: LogHead,
  since: number,
  now: number,
): Promise<EditorChange | null> {
  const authors = new Set<string>()
  let [bytes, read, at] = [0, since, 0]
  while (read < head) {
    const loaded = await loadAfter(log, address, epoch, read)
    if (loaded === 'damaged') return { bytes: null, authors: null, at: now }
    if (loaded.state !== 'live') return null
    const { entries, changed } = loaded
    const unknown: EditorChange = { bytes: null, authors: null, at: changed.at }
    if (loaded.epoch !== epoch || entries[0]?.seq !== read + 1) return unknown
    const wanted = entries.filter(({ seq }) => seq <= head)
    for (const { by } of wanted) if (by !== '' && authors.size < feedLimits.authors) authors.add(by)
    bytes += wanted.reduce((sum, entry) => sum + entry.bytes.length, 0)
    const last = wanted.at(-1) as LogEntry
    at = last.at
    read = last.seq
    if (bytes > feedLimits.readBytes && read < head) return unknown
  }
  return { bytes, authors: [...authors], at }
}

/**
 * Returns the updates between two versions of an editor, in their order. Returns null if the log no longer has
 * each of them, or if they have more than `bytesMax` bytes.
 * @param since the last update before the range; null: the start of the log
 */
export async function readUpdatesBetween(
  log: Pick<DocumentLog, 'load'>,
  address: DocumentAddress,
  { since, until }: { readonly since: Version | null; readonly until: Version },
  bytesMax: number,
): Promise<readonly Uint8Array[] | null> {
  if (since !== null && since.epoch !== until.epoch) return null
  const updates: Uint8Array[] = []
  let [bytes, read] = [0, since?.seq ?? 0]
  while (read < until.seq) {
    const loaded = await loadAfter(log, address, until.epoch, read)
    if (loaded === 'damaged' || loaded.state !== 'live' || loaded.epoch !== until.epoch) return null
    const wanted = loaded.entries.filter(({ seq }) => seq <= until.seq)
    if (wanted[0]?.seq !== read + 1) return null
    for (const entry of wanted) {
      updates.push(entry.bytes)
      bytes += entry.bytes.length
    }
    if (bytes > bytesMax) return null
    read = (wanted.at(-1) as LogEntry).seq
  }
  return updates
}

async function loadAfter(
  log: Pick<DocumentLog, 'load'>,
  address: DocumentAddress,
  epoch: number,
  since: number,
): Promise<LoadedLog | 'damaged'> {
  try {
    return await log.load(addressKey(address), { epoch, since, bytesMax: readBytes })
  } catch (error) {
    if (error instanceof CorruptRecordError) return 'damaged'
    throw error
  }
}
