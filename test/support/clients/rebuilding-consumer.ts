import { setTimeout as sleep } from 'node:timers/promises'
import * as Y from 'yjs'
import type { Random } from '../data/random-doc.ts'
import { inParallel } from '../in-parallel.ts'
import type { ServerProcess } from '../servers/process.ts'
import { type Answer, dataOf, type TestServer } from '../servers/server.ts'
import { FeedConsumer, type ReceivedEvent } from './feed-consumer.ts'

/** A server that answers calls. */
export type Poster = Pick<TestServer, 'post'>

/** Returns a server process in the form of a server of this process. */
export const posterOf = (server: ServerProcess): Poster => ({
  post: async (path, data) => {
    const { status, data: found, details } = await server.post(path, data)
    const body =
      status === 200
        ? { result: { status: 'success', message: '', data: found } }
        : { error: { status: '', message: JSON.stringify(details), details: details as object } }
    return { status, headers: new Headers(), body }
  },
})

export const organizationId = 'acme'
export const idsOf = (documentId: string) => ({ organizationId, documentId, editorId: 'main' })

/** Pause before a call is repeated, in ms. */
const againMs = 200

/** Returns the content and the version of a document; null if it does not exist. */
export async function readText(
  { post }: Poster,
  documentId: string,
): Promise<{ data: string; version: string } | null> {
  const read = (): Promise<Answer> => post('/v2/crdt/get', { ...idsOf(documentId), format: 'text' })
  let answer = await read()
  // A node has died, or the document moves: such an error requires that the client tries again.
  while (answer.body.error?.details?.code?.startsWith('cluster/') === true) {
    await sleep(againMs)
    answer = await read()
  }
  if (answer.status === 404 || answer.body.error?.details?.code === 'document/being-deleted') return null
  const [entry] = dataOf(answer) as { data: string; version: string }[]
  return entry ?? null
}

/** A document as a consumer has rebuilt it from updates. */
interface Copy {
  readonly version: string
  readonly state: Uint8Array
}

/** The state that a consumer stores. It stores the copies and the cursor together. */
interface Stored {
  readonly cursor: string | undefined
  readonly copies: ReadonlyMap<string, Copy>
}

/** Number of documents that a consumer reads at the same time when it begins again. */
const readsAtOnce = 8
/** Maximum number of events between two kills. */
const killedWithin = 60

/**
 * Rebuilds all documents from the changes of the feed. It is killed at random positions: it then continues with
 * the state that it stored last. If its cursor is rejected, it reads all documents, and continues from there.
 */
export class RebuildingConsumer {
  stored: Stored = { cursor: undefined, copies: new Map() }
  kills = 0
  /** Events that it has applied, also before it was killed. */
  events = 0
  /** Codes of the errors for which it has begun again. */
  readonly rejections: string[] = []
  readonly #random: Random
  readonly #documentIds: readonly string[]
  /** Number of events until it is killed. A chance for each event would leave some runs without a kill. */
  #untilKill: number

  /** @param documentIds all documents that may exist */
  constructor(random: Random, documentIds: readonly string[]) {
    this.#random = random
    this.#documentIds = documentIds
    this.#untilKill = 1 + random.below(killedWithin)
  }

  /** Reads one page. Returns whether the feed has no more events now. */
  async step(server: Poster, pageSize = 1 + this.#random.below(40)): Promise<boolean> {
    const { cursor } = this.stored
    const given = cursor === undefined ? {} : { cursor }
    const answer = await server.post('/v2/feed/get', { ...given, content: 'changes', pageSize })
    const code = answer.body.error?.details?.code
    if (code === 'feed/cursor-expired' || code === 'feed/cursor-unknown') {
      this.rejections.push(code)
      await this.#beginAgain(server)
      return false
    }
    const page = dataOf(answer) as { events: ReceivedEvent[]; cursor: string; isEnd: boolean }
    const copies = new Map(this.stored.copies)
    for (const event of page.events) {
      this.#untilKill -= 1
      if (this.#untilKill === 0) {
        this.kills += 1
        this.#untilKill = 1 + this.#random.below(killedWithin)
        return false
      }
      await this.#apply(server, copies, event)
      this.events += 1
      if (this.#random.once(20)) this.stored = { cursor: event.cursor, copies: new Map(copies) }
    }
    this.stored = { cursor: page.cursor, copies }
    return page.isEnd
  }

  textOf(documentId: string): string | null {
    const copy = this.stored.copies.get(documentId)
    if (copy === undefined) return null
    const doc = new Y.Doc()
    Y.applyUpdate(doc, copy.state)
    return doc.getText('content').toString()
  }

  async #beginAgain(server: Poster): Promise<void> {
    const { cursor } = await new FeedConsumer(server).read({ from: 'now' })
    const copies = new Map<string, Copy>()
    await inParallel(this.#documentIds, readsAtOnce, (id) => readWhole(server, copies, id))
    this.stored = { cursor, copies }
  }

  async #apply(server: Poster, copies: Map<string, Copy>, event: ReceivedEvent): Promise<void> {
    const { type, documentId, data, content } = event
    if (documentId === null) return
    const before = copies.get(documentId)
    if (type === 'document.delete') copies.delete(documentId)
    if (type !== 'crdt.update_data') return
    const version = String(data.version)
    // A copy that was read from the present content may be newer than the event.
    if (before !== undefined && orderOf(before.version) >= orderOf(version)) return
    if (
      before !== undefined &&
      data.versionBefore !== null &&
      orderOf(before.version) < orderOf(String(data.versionBefore))
    )
      throw new Error(`the chain of ${documentId} has a gap: ${before.version}, ${JSON.stringify(data)}`)
    const isFirst = data.versionBefore === null
    // A late event of a deletion may have removed the copy to which these updates belong.
    if (!content || (before === undefined && !isFirst)) return readWhole(server, copies, documentId)
    const updates = (content.updates ?? []).map((each) => new Uint8Array(Buffer.from(each, 'base64')))
    const state = Y.mergeUpdates(isFirst || before === undefined ? updates : [before.state, ...updates])
    copies.set(documentId, { version, state })
  }
}

/** Reads the whole state of a document into the copies. */
async function readWhole(server: Poster, copies: Map<string, Copy>, documentId: string): Promise<void> {
  const whole = await server.post('/v2/crdt/get', { ...idsOf(documentId), format: 'update' })
  // The event of a deletion that is in progress follows.
  const isGoing = whole.body.error?.details?.code === 'document/being-deleted'
  if (whole.status === 404 || isGoing) return void copies.delete(documentId)
  const [entry] = dataOf(whole) as { data: string; version: string }[]
  if (entry === undefined) return
  const state = new Uint8Array(Buffer.from(entry.data, 'base64'))
  copies.set(documentId, { version: entry.version, state })
}

/** Returns a number that grows with each version of an editor. */
function orderOf(version: string): number {
  const [epoch = '0', seq = '0'] = version.split('.')
  return Number(epoch) * 1_000_000_000 + Number(seq)
}
