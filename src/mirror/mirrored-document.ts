import type { Semaphore } from '../engine/semaphore.ts'
import { errorMessage } from '../errors.ts'
import type { DocumentPath } from '../model/address.ts'
import { closeCodes } from '../model/close.ts'
import { backOff, InterruptiblePause } from './interruptible-pause.ts'
import type { MirrorClient } from './mirror-client.ts'
import { MirrorConnectionError } from './mirror-connection.ts'
import type { SourceServer } from './source-document.ts'
import { SyncAttempt } from './sync-attempt.ts'

export interface DocumentName {
  /** Name of the document on the old server. */
  readonly name: string
  readonly path: DocumentPath
}

export interface MirroredDocumentOptions {
  readonly old: SourceServer
  readonly weft: MirrorClient
  /** Limits the number of documents that are being connected at the same time. */
  readonly slots: Semaphore
  readonly checkEveryMs: number
  /** Called for each update that the mirror sends to Weft. */
  readonly passed: () => void
  readonly changed: (document: MirroredDocument) => void
}

/** Status of a document at the last check. */
export type MirrorStatus =
  | { readonly kind: 'coming' }
  /**
   * Weft has stored everything that the old server has, and it is durable. `isEmpty` is true if the old
   * server has no content for this document.
   */
  | { readonly kind: 'inStep'; readonly isEmpty: boolean }
  /** Weft may lack updates. `by` is the number of missing clocks and deletions. */
  | { readonly kind: 'behind'; readonly by: number }
  | { readonly kind: 'failed'; readonly reason: string }

/** Maximum delay in ms between two checks while Weft lacks updates. */
const checkAgainMs = 1000
const settleMs = 1000
/**
 * Number of consecutive checks in sync that `once` needs before it ends. A document without content needs
 * more checks, because the server of y-websocket reports a document as empty while it loads it. That server
 * sends nothing when the document is loaded.
 */
const looksOfOnce = { empty: 4, other: 2 } as const
const attemptsOfOnce = 3
const roundsOfOnce = 30

/** Keeps one document up to date in Weft. Recovers from failures of both servers. */
export class MirroredDocument {
  readonly name: string
  readonly #path: DocumentPath
  readonly #options: MirroredDocumentOptions
  readonly #bell = new InterruptiblePause()
  #standing: MirrorStatus = { kind: 'coming' }
  #state: 'mirroring' | 'stopping' | 'over' = 'mirroring'
  #asked: NodeJS.Timeout | null = null
  /** Functions that end the waiting of callers of `check`. They are called after the next check. */
  #waiting: (() => void)[] = []

  constructor({ name, path }: DocumentName, options: MirroredDocumentOptions) {
    this.name = name
    this.#path = path
    this.#options = options
  }

  get standing(): MirrorStatus {
    return this.#standing
  }

  /** Checks the document immediately. Resolves when the check has succeeded or failed. */
  async check(): Promise<void> {
    if (this.#state === 'over') return
    const looked = new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#bell.ring()
    await looked
  }

  /** Makes `follow` or `once` end after a last check. */
  stop(): void {
    if (this.#isMirroring) this.#state = 'stopping'
    this.#bell.ring()
  }

  /**
   * Marks the document as failed if its last check has not ended in time. The earlier status may be outdated
   * by then.
   */
  giveUp(): void {
    if (this.#state !== 'over') this.#fail(new Error('there was no time for a last comparison'))
  }

  /** Follows the old server until `stop` is called. */
  async follow(): Promise<void> {
    await this.#follow().finally(() => this.#end())
  }

  /**
   * Brings the document in Weft up to date, and then disconnects. Makes at most `attemptsOfOnce` attempts.
   */
  async once(): Promise<void> {
    await this.#once().finally(() => this.#end())
  }

  async #follow(): Promise<void> {
    let failures = 0
    while (this.#isMirroring) {
      try {
        const visit = await this.#options.slots.run(() => this.#arrive())
        await this.#stay(visit, () => {
          failures = 0
        })
      } catch (error) {
        failures += 1
        this.#fail(error)
        if (this.#isMirroring) await this.#bell.wait(backOff(failures))
      }
    }
  }

  async #once(): Promise<void> {
    for (let attempt = 1; attempt <= attemptsOfOnce && this.#isMirroring; attempt++) {
      try {
        return await this.#settle(await this.#options.slots.run(() => this.#arrive()))
      } catch (error) {
        this.#fail(error)
        if (attempt < attemptsOfOnce) await this.#bell.wait(backOff(attempt))
      }
    }
  }

  get #isMirroring(): boolean {
    return this.#state === 'mirroring'
  }

  async #arrive(): Promise<SyncAttempt> {
    const { old, weft, passed } = this.#options
    const { name } = this
    const visit = await SyncAttempt.open({
      name,
      path: this.#path,
      old,
      weft,
      passed,
      asked: () => this.#askSoon(),
    })
    try {
      await this.#round(visit)
      return visit
    } catch (error) {
      visit.close()
      throw error
    }
  }

  /**
   * Checks the document repeatedly until the mirror stops.
   * @param settled called after each successful check. A connection alone does not count as success, because
   * a server may accept a client and then close the connection
   */
  async #stay(visit: SyncAttempt, settled: () => void): Promise<void> {
    const stay: { over: MirrorConnectionError | 'left' | null } = { over: null }
    // The code does not race `visit.ended` against each pause. A promise that stays pending would keep
    // references to the callbacks of all these races.
    void visit.ended.then((error) => {
      if (stay.over !== null) return
      stay.over = error
      this.#bell.ring()
    })
    try {
      for (let look: 'last' | 'another' = 'another'; look === 'another'; ) {
        await this.#bell.wait(this.#pauseMs())
        if (stay.over instanceof MirrorConnectionError) throw stay.over
        look = this.#isMirroring ? 'another' : 'last'
        await this.#round(visit)
        settled()
      }
    } finally {
      stay.over = 'left'
      visit.close()
    }
  }

  async #settle(visit: SyncAttempt): Promise<void> {
    try {
      for (let rounds = 1, looks = 1; rounds < roundsOfOnce && this.#isMirroring; rounds++) {
        await this.#bell.wait(settleMs)
        await this.#round(visit)
        const { standing } = this
        looks = standing.kind === 'inStep' ? looks + 1 : 0
        if (standing.kind === 'inStep' && looks >= looksOfOnce[standing.isEmpty ? 'empty' : 'other']) return
      }
    } finally {
      visit.close()
    }
  }

  async #round(visit: SyncAttempt): Promise<void> {
    const { behind, isEmpty } = await visit.round()
    this.#stand(behind === 0 ? { kind: 'inStep', isEmpty } : { kind: 'behind', by: behind })
  }

  #pauseMs(): number {
    const { checkEveryMs } = this.#options
    if (this.#standing.kind !== 'inStep') return Math.min(checkAgainMs, checkEveryMs)
    return checkEveryMs * (0.75 + Math.random() / 4)
  }

  /**
   * Waits for a delay, and then starts a check that requests the missing updates. Without the delay, Weft
   * would ask again immediately if no server has these updates.
   */
  #askSoon(): void {
    if (this.#asked !== null) return
    this.#asked = setTimeout(() => {
      this.#asked = null
      this.#bell.ring()
    }, checkAgainMs)
  }

  #fail(error: unknown): void {
    if (error instanceof MirrorConnectionError && error.code === closeCodes.unauthenticated)
      this.#options.weft.forgetToken()
    this.#stand({ kind: 'failed', reason: errorMessage(error) })
  }

  #stand(standing: MirrorStatus): void {
    const before = this.#standing
    this.#standing = standing
    if (JSON.stringify(before) !== JSON.stringify(standing)) this.#options.changed(this)
    this.#looked()
  }

  #end(): void {
    this.#state = 'over'
    this.#looked()
  }

  #looked(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const looked of waiting) looked()
  }
}
