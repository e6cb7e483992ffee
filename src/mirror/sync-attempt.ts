import { setTimeout as sleep } from 'node:timers/promises'
import type { DocumentPath } from '../model/address.ts'
import type { NextClocks } from './coverage.ts'
import type { MirrorConnectionError } from './mirror-connection.ts'
import { SourceDocument, type SourceServer, type SourceUpdate } from './source-document.ts'
import { TargetDocument } from './target-document.ts'
import type { WeftClient } from './weft-client.ts'

export interface SyncAttemptOptions {
  readonly name: string
  readonly path: DocumentPath
  readonly old: SourceServer
  readonly weft: WeftClient
  /** Told of each update that is passed on. */
  readonly passed: () => void
  /** Told when Weft lacks something that the old server should be asked for. */
  readonly asked: () => void
}

/** What a round has found. */
export interface SyncRound {
  /** Clocks and deletions of the old server that Weft is not known to have. */
  readonly behind: number
  /** Whether the old server has nothing of that name. */
  readonly isEmpty: boolean
}

/** Bytes that Weft has not taken yet, beyond which the old server is not read. */
const unsentBytesMax = 4 * 1024 * 1024
/** After an answer, for the state vector that comes with it. */
const vectorPatienceMs = 1000
const nothing: NextClocks = new Map()

/**
 * A stay at one document: what its original says is passed on to its copy. Of neither the content is kept, only which
 * parts of it there are.
 */
export class SyncAttempt {
  readonly #parts: SyncAttemptOptions
  readonly #copy: TargetDocument
  #original: SourceDocument | null = null
  /** Until it has been asked, what the original says builds on what the copy may lack. */
  #state: 'asking' | 'following' = 'asking'

  private constructor(parts: SyncAttemptOptions, copy: TargetDocument) {
    this.#parts = parts
    this.#copy = copy
  }

  /** Weft first: while it is away the old server is left alone. Rejects with the reason. */
  static async open(parts: SyncAttemptOptions): Promise<SyncAttempt> {
    const { weft, asked } = parts
    const url = await weft.syncUrl(parts.path)
    const copy = await TargetDocument.open({ url, messageBytesMax: weft.messageBytesMax, asked })
    const visit = new SyncAttempt(parts, copy)
    try {
      visit.#original = await SourceDocument.open(parts.old, parts.name, (news) => visit.#pass(news))
    } catch (error) {
      copy.close()
      throw error
    }
    return visit
  }

  /** Resolves when either side is gone, with the reason. */
  get ended(): Promise<MirrorConnectionError> {
    return Promise.race([this.#copy.ended, this.#opened.ended])
  }

  /** Asks both sides, passes on what the copy lacks, and says whether it has come. Rejects with `MirrorConnectionError`. */
  async round(): Promise<SyncRound> {
    const original = this.#opened
    await this.#copy.prove(original.has ?? nothing)
    await original.ask(this.#copy.vector)
    const wanted: NextClocks = new Map(await this.#reportedClocks())
    const { deleted } = original
    if (this.#copy.lacks(wanted, deleted) > 0) await this.#copy.prove(wanted)
    return { behind: this.#copy.lacks(wanted, deleted), isEmpty: wanted.size === 0 }
  }

  /** What has been passed on is still sent. */
  close(): void {
    this.#opened.close()
    this.#copy.close()
  }

  get #opened(): SourceDocument {
    if (this.#original === null) throw new Error('the visit is not open yet')
    return this.#original
  }

  #pass({ kind, update }: SourceUpdate): void {
    // An answer before the question is no reason not to ask it.
    if (this.#original === null || (kind === 'update' && this.#state === 'asking')) return
    this.#state = 'following'
    if (kind === 'offer' && this.#isCovered()) return
    this.#parts.passed()
    this.#copy.add(update, () => this.#goOn())
    if (this.#copy.unsentBytes > unsentBytesMax) this.#original?.pause()
  }

  /** Some versions of Hocuspocus say what they have after their first answer. */
  async #reportedClocks(): Promise<NextClocks> {
    const { has } = this.#opened
    if (has !== null) return has
    await sleep(vectorPatienceMs)
    const late = this.#opened.has
    if (late === null) throw new Error('the old server: did not send its state vector')
    return late
  }

  /** Then an offer has only what the original itself waits with, which Weft would ask for again and again. */
  #isCovered(): boolean {
    const { has, deleted } = this.#opened
    return has !== null && this.#copy.lacks(has, deleted) === 0
  }

  #goOn(): void {
    if (this.#copy.unsentBytes <= unsentBytesMax) this.#original?.resume()
  }
}
