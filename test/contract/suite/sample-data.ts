import type {
  AppendTo,
  DocumentLog,
  Engine,
  Job,
  Key,
  LoadedLog,
  LogUpdate,
} from '../../../src/core/store/engine.ts'

export const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text))
export const textOf = (bytes: Uint8Array | null): string | null =>
  bytes === null ? null : Buffer.from(bytes).toString()

/** A `keepSince` with which compaction keeps no older version. */
export const keepNone = Number.POSITIVE_INFINITY

export const docKey = (name: string): Key => ['workspace', 'api-key', 'organization', name, 'editor']

/** Updates whose bytes are their names. */
export const updates = (...names: readonly string[]): LogUpdate[] =>
  names.map((name) => ({ bytes: bytesOf(name), by: `user of ${name}` }))

/** `count` updates named by their numbers. */
export const numbered = (from: number, count: number): LogUpdate[] =>
  updates(...Array.from({ length: count }, (_, index) => String(from + index)))

export type LiveLog = Extract<LoadedLog, { state: 'live' }>

/** Loads a log that must exist. */
export async function loadLive(
  log: DocumentLog,
  doc: Key,
  options?: Parameters<DocumentLog['load']>[1],
): Promise<LiveLog> {
  const loaded = await log.load(doc, options)
  if (loaded.state !== 'live') throw new Error(`the document is ${loaded.state}`)
  return loaded
}

/** Number and text of each entry. */
export const entriesOf = ({ entries }: LiveLog): [seq: number, text: string | null][] =>
  entries.map(({ seq, bytes }) => [seq, textOf(bytes)])

/** The numbers 1 to `last`, as `versionAt` gives them. */
export const oneTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1)

/**
 * The numbers of all updates from which a version is rebuilt, if updates have their numbers as names and
 * snapshots are `1 to n`; null for a version that cannot be rebuilt.
 */
export async function versionAt(
  log: DocumentLog,
  doc: Key,
  epoch: number,
  seq: number,
  bytesMax: number,
): Promise<number[] | null> {
  let page = await log.loadAt(doc, epoch, seq, { bytesMax })
  if (page === null) return null
  const numbers = page.base === 0 ? [] : oneTo(Number(textOf(page.snapshot)?.slice('1 to '.length)))
  for (;;) {
    numbers.push(...page.entries.map(({ bytes }) => Number(textOf(bytes))))
    const last = page.entries.at(-1)
    if (!page.more || last === undefined) return numbers
    page = await log.loadAt(doc, epoch, seq, { after: last.seq, bytesMax })
    if (page === null) return null
  }
}

/** The reason for which an append was rejected, or another outcome. */
export const outcomeOf = (append: Promise<unknown>): Promise<string> =>
  append.then(
    (result) => (result as { readonly state?: string } | undefined)?.state ?? 'appended',
    (error: Error & { reason?: string }) => error.reason ?? error.name,
  )

export const appendNumbered = (log: DocumentLog, doc: Key, to: AppendTo, from: number, count: number) =>
  log.append(doc, to, numbered(from, count))

export const job = (id: string, at: number, payload = id, queue = 'queue'): Job => ({
  queue,
  id,
  at,
  payload: bytesOf(payload),
})

export async function enqueue({ kv }: Engine, ...jobs: readonly Job[]): Promise<void> {
  await kv.commit(['jobs'], { jobs })
}

/** Ids of the jobs that can be claimed now. */
export async function claimable({ queue }: Engine, name = 'queue', leaseMs = 1_000): Promise<string[]> {
  return (await queue.claim(name, 100, leaseMs)).map(({ id }) => id)
}

/** Repeats `work` at each tick of the event loop until `writing` has ended, and throws its error. */
export async function during(writing: Promise<unknown>, work: () => Promise<void>): Promise<void> {
  const state = { hasEnded: false }
  const ended = writing.finally(() => {
    state.hasEnded = true
  })
  ended.catch(() => undefined)
  while (!state.hasEnded) {
    await work()
    await new Promise((resolve) => setImmediate(resolve))
  }
  await ended
}
