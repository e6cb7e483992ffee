import { nullFor } from '../../base/errors.ts'
import type { CheckLease } from '../../jobs/task-worker.ts'
import {
  type AppendTo,
  type Blobs,
  CorruptRecordError,
  type DocumentLog,
  type Key,
  type LogEntry,
} from '../../store/engine.ts'
import { blobKeyPages, documentKeyPages } from '../../store/pages.ts'
import { mapInSlices } from '../store/batch.ts'

/** Maximum bytes of the entries of a log in one read. */
const pageBytes = 1_048_576
/** Number of logs, or of contents of versions, in one listing. */
const keysAtOnce = 100
/** Number of logs that are copied at the same time. */
const logsAtOnce = 4

/** Blobs of documents: contents of saved versions, and the content that prunes have replaced. */
const blobSpaces = ['versions', 'generations'] as const

/**
 * Copies the logs under a prefix to the same places under another one. A damaged log is left out: no call can read it.
 */
export async function copyLogs(
  log: DocumentLog,
  [from, to]: readonly [Key, Key],
  goOn: CheckLease,
): Promise<void> {
  const copyOf = (key: Key): Key => [...to, ...key.slice(from.length)]
  for await (const docs of documentKeyPages(log, from, keysAtOnce))
    await mapInSlices(docs, (doc) => copyLog(log, [doc, copyOf(doc)], goOn).catch(unlessDamaged), logsAtOnce)
}

/** Like `copyLogs`, for blobs. The prefixes are those of the logs. */
export async function copyBlobs(
  blobs: Blobs,
  [from, to]: readonly [Key, Key],
  goOn: CheckLease,
): Promise<void> {
  for (const space of blobSpaces)
    for await (const keys of blobKeyPages(blobs, [space, ...from], keysAtOnce))
      for (const key of keys) {
        const bytes = await blobs.get(key).catch(unlessDamaged)
        if (bytes) await blobs.put([space, ...to, ...key.slice(from.length + 1)], bytes)
        await goOn()
      }
}

/** Deletes the blobs under a prefix. @param prefix prefix of the logs */
export async function deleteBlobs(blobs: Blobs, prefix: Key, goOn: CheckLease): Promise<void> {
  for (const space of blobSpaces)
    for await (const keys of blobKeyPages(blobs, [space, ...prefix], keysAtOnce)) {
      await Promise.all(keys.map((key) => blobs.delete(key)))
      await goOn()
    }
}

const unlessDamaged = nullFor(CorruptRecordError)

/**
 * Copies the newest snapshot of a log with its record of authors, and the entries after it, with their authors and
 * times. No user may change the log meanwhile. A copy of an earlier attempt is replaced. A copy that
 * another node has made after `goOn` stays, because users may have changed it.
 */
async function copyLog(log: DocumentLog, [from, to]: readonly [Key, Key], goOn: CheckLease): Promise<void> {
  await log.destroyPrefix(to, { confirm: goOn })
  const first = await log.load(from, { bytesMax: pageBytes, attribution: true })
  if (first.state !== 'live') return
  const { epoch, base, snapshot, attribution = null, changed } = first
  let target: AppendTo = 'recreate'
  if (snapshot !== null) {
    target = (await log.append(to, target, [{ bytes: snapshot, by: changed.by }], { at: changed.at })).epoch
    await log.compact(to, target, 0, 1, snapshot, Number.POSITIVE_INFINITY, attribution)
  }
  for (let page = first; ; await goOn()) {
    const appends = byTime(page.entries).map(
      ([at, entries]) =>
        (into: AppendTo) =>
          log.append(to, into, entries, { at }),
    )
    if (target === 'recreate') target = (await appends.shift()?.(target))?.epoch ?? target
    const into = target
    await Promise.all(appends.map((append) => append(into)))
    const last = page.entries.at(-1)
    if (!page.more || last === undefined) return
    const next = await log.load(from, { since: last.seq, epoch, bytesMax: pageBytes })
    // A compaction has replaced the entries.
    if (next.state !== 'live' || next.epoch !== epoch || next.base !== base)
      return copyLog(log, [from, to], goOn)
    page = next
  }
}

/** Splits entries into groups of consecutive ones that have the same time. */
function byTime(entries: readonly LogEntry[]): [at: number, entries: LogEntry[]][] {
  const groups: [number, LogEntry[]][] = []
  for (const entry of entries) {
    const group = groups.at(-1)
    if (group?.[0] === entry.at) group[1].push(entry)
    else groups.push([entry.at, [entry]])
  }
  return groups
}
