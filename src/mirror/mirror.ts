import { Semaphore } from '../engine/semaphore.ts'
import { type DocumentName, MirroredDocument, type MirroredDocumentOptions } from './mirrored-document.ts'

export interface MirrorOptions extends Omit<MirroredDocumentOptions, 'slots' | 'passed'> {
  readonly names: readonly DocumentName[]
  /** Documents that come at once. */
  readonly parallel: number
}

/** How many documents stand how. */
export interface MirrorCounts {
  readonly documents: number
  readonly inStep: number
  /** Of those in step: the old server has nothing of that name. */
  readonly empty: number
  readonly behind: number
  readonly failed: number
  readonly coming: number
}

/** When a mirror is told to stop, each document is looked at once more; not for longer than this. */
const lastLookMs = { all: 10_000, each: 10 }

/** Keeps documents of a running Weft server up to date with another server. One direction: the other is only asked. */
export class Mirror {
  readonly documents: readonly MirroredDocument[]
  #updates = 0
  #stopped: () => void = () => undefined

  constructor(parts: MirrorOptions) {
    const slots = new Semaphore(parts.parallel)
    const passed = (): void => {
      this.#updates += 1
    }
    this.documents = parts.names.map((name) => new MirroredDocument(name, { ...parts, slots, passed }))
  }

  /** Updates passed on so far. */
  get updates(): number {
    return this.#updates
  }

  /** Follows until `stop`, or brings everything up to date once. */
  async run(how: 'follow' | 'once'): Promise<void> {
    const patienceMs = lastLookMs.all + lastLookMs.each * this.documents.length
    const tooLate = new Promise<void>((resolve) => {
      this.#stopped = () => void setTimeout(resolve, patienceMs).unref()
    })
    const all = Promise.all(this.documents.map((document) => document[how]()))
    await Promise.race([all, tooLate])
    for (const document of this.documents) document.giveUp()
  }

  /** Looks at all documents now; resolves when all have been looked at, or could not be. */
  async check(): Promise<void> {
    await Promise.all(this.documents.map((document) => document.check()))
  }

  /** Ends `run` soon. */
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
