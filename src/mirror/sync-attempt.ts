import { setTimeout as sleep } from 'node:timers/promises'
import type { DocumentPath } from '../model/address.ts'
import type { NextClocks } from './coverage.ts'
import type { MirrorClient } from './mirror-client.ts'
import type { MirrorConnectionError } from './mirror-connection.ts'
import { SourceDocument, type SourceServer, type SourceUpdate } from './source-document.ts'
import { TargetDocument } from './target-document.ts'

export interface SyncAttemptOptions {
  readonly name: string
  readonly path: DocumentPath
  readonly old: SourceServer
  readonly weft: MirrorClient
  /** Called for each update that the mirror sends to Weft. */
  readonly passed: () => void
  /** Called when Weft lacks updates that the old server may have. */
  readonly asked: () => void
}

/** Result of one comparison of both servers. */
export interface SyncRound {
  /** Number of clocks and deletions of the old server that Weft may lack. */
  readonly behind: number
  /** True if the old server has no content for the document. */
  readonly isEmpty: boolean
}

/** Number of unsent bytes to Weft. Above this number, the mirror stops reading from the old server. */
const unsentBytesMax = 4 * 1024 * 1024
/** Time in ms for which the mirror waits for the state vector of a server that has already answered. */
const vectorPatienceMs = 1000
const nothing: NextClocks = new Map()

/**
 * One connection to a document on both servers. It passes updates of the old server (source) on to Weft
 * (target). It stores no content, only the clocks and deletions of both servers.
 */
export class SyncAttempt {
  readonly #options: SyncAttemptOptions
  readonly #copy: TargetDocument
  #original: SourceDocument | null = null
  /**
   * `asking` until the first answer of the source arrives. New edits are ignored until then, because they may
   * depend on updates that the target lacks.
   */
  #state: 'asking' | 'following' = 'asking'

  private constructor(options: SyncAttemptOptions, copy: TargetDocument) {
    this.#options = options
    this.#copy = copy
  }

  /**
   * Connects to both servers. Weft comes first, so that the old server has no load while Weft is not
   * reachable. Rejects with the reason of the failure.
   */
  static async open(options: SyncAttemptOptions): Promise<SyncAttempt> {
    const { weft, asked } = options
    const url = await weft.syncUrl(options.path)
    const copy = await TargetDocument.open({ url, messageBytesMax: weft.messageBytesMax, asked })
    const visit = new SyncAttempt(options, copy)
    try {
      visit.#original = await SourceDocument.open(options.old, options.name, (news) => visit.#pass(news))
    } catch (error) {
      copy.close()
      throw error
    }
    return visit
  }

  /** Promise that resolves with the reason when one of the connections is closed. */
  get ended(): Promise<MirrorConnectionError> {
    return Promise.race([this.#copy.ended, this.#opened.ended])
  }

  /**
   * Compares both servers: requests their states, sends missing updates to Weft, and returns the number of
   * updates that Weft still lacks. Rejects with `MirrorConnectionError`.
   */
  async round(): Promise<SyncRound> {
    const original = this.#opened
    await this.#copy.prove(original.has ?? nothing)
    await original.ask(this.#copy.vector)
    const wanted: NextClocks = new Map(await this.#reportedClocks())
    const { deleted } = original
    if (this.#copy.lacks(wanted, deleted) > 0) await this.#copy.prove(wanted)
    return { behind: this.#copy.lacks(wanted, deleted), isEmpty: wanted.size === 0 }
  }

  /** Closes both connections after all updates in progress have been sent. */
  close(): void {
    this.#opened.close()
    this.#copy.close()
  }

  get #opened(): SourceDocument {
    if (this.#original === null) throw new Error('the connection to the document is not open yet')
    return this.#original
  }

  #pass({ kind, update }: SourceUpdate): void {
    // Ignores an answer that arrives before the request is sent, and new edits that arrive before the first
    // answer.
    if (this.#original === null || (kind === 'update' && this.#state === 'asking')) return
    this.#state = 'following'
    if (kind === 'offer' && this.#isCovered()) return
    this.#options.passed()
    this.#copy.add(update, () => this.#goOn())
    if (this.#copy.unsentBytes > unsentBytesMax) this.#original?.pause()
  }

  /**
   * Returns the clocks of the source. Waits for its state vector if necessary, because some versions of
   * Hocuspocus send the state vector after their first answer.
   */
  async #reportedClocks(): Promise<NextClocks> {
    const { has } = this.#opened
    if (has !== null) return has
    await sleep(vectorPatienceMs)
    const late = this.#opened.has
    if (late === null) throw new Error('the old server: it did not send its state vector')
    return late
  }

  /**
   * Returns whether the target has everything that the source has. An offer then contains only pending
   * updates of the source. They must not be sent to Weft, which would repeatedly request their dependencies.
   */
  #isCovered(): boolean {
    const { has, deleted } = this.#opened
    return has !== null && this.#copy.lacks(has, deleted) === 0
  }

  #goOn(): void {
    if (this.#copy.unsentBytes <= unsentBytesMax) this.#original?.resume()
  }
}
