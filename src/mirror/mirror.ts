import { Semaphore } from '../engine/semaphore.ts'
import { type DocumentName, MirroredDocument, type MirroredDocumentOptions } from './mirrored-document.ts'

export interface MirrorOptions extends Omit<MirroredDocumentOptions, 'slots' | 'passed'> {
  readonly names: readonly DocumentName[]
  /** Maximum number of documents that are being connected at the same time. */
  readonly parallel: number
}

/** Numbers of documents by status. */
export interface MirrorCounts {
  readonly documents: number
  readonly inStep: number
  /** Number of documents in sync that have no content on the old server. */
  readonly empty: number
  readonly behind: number
  readonly failed: number
  readonly coming: number
}

/**
 * Maximum time in ms for the last check after `stop`. It is the sum of a fixed part (`all`) and a part for
 * each document (`each`).
 */
const lastLookMs = { all: 10_000, each: 10 }

/**
 * Keeps documents of a running Weft server up to date with an old server. The mirror never writes to the old
 * server.
 */
export class Mirror {
  readonly documents: readonly MirroredDocument[]
  #updates = 0
  #stopped: () => void = () => undefined

  constructor(options: MirrorOptions) {
    const slots = new Semaphore(options.parallel)
    const passed = (): void => {
      this.#updates += 1
    }
    this.documents = options.names.map((name) => new MirroredDocument(name, { ...options, slots, passed }))
  }

  /** Number of updates that the mirror has sent to Weft. */
  get updates(): number {
    return this.#updates
  }

  /**
   * Mirrors all documents. `follow` runs until `stop` is called. `once` ends when all documents are up to
   * date.
   */
  async run(how: 'follow' | 'once'): Promise<void> {
    const patienceMs = lastLookMs.all + lastLookMs.each * this.documents.length
    const tooLate = new Promise<void>((resolve) => {
      this.#stopped = () => void setTimeout(resolve, patienceMs).unref()
    })
    const all = Promise.all(this.documents.map((document) => document[how]()))
    await Promise.race([all, tooLate])
    for (const document of this.documents) document.giveUp()
  }

  /** Checks all documents immediately. Resolves when each check has succeeded or failed. */
  async check(): Promise<void> {
    await Promise.all(this.documents.map((document) => document.check()))
  }

  /** Makes `run` end after a last check of all documents. */
  stop(): void {
    this.#stopped()
    for (const document of this.documents) document.stop()
  }

  count(): MirrorCounts {
    const count = { documents: this.documents.length, inStep: 0, empty: 0, behind: 0, failed: 0, coming: 0 }
    for (const { standing } of this.documents) {
      count[standing.kind] += 1
      if (standing.kind === 'inStep' && standing.isEmpty) count.empty += 1
    }
    return count
  }
}
