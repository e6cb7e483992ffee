import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { Engine } from '../engine/engine.ts'

/** Maximum time in ms between storing a content and adding its version. */
const makingMs = 900_000

/**
 * Names of the stored contents of versions. Each name is unique, because another process may be about to add a version
 * for a content that no version names yet. It contains the digest of the content, the time, and the incarnation of the
 * process.
 *
 * If several processes write, only the time counts: a node that other nodes take for dead may return and add its
 * version.
 */
export class BlobNames {
  readonly #incarnation: string
  readonly #hasOneWriter: boolean
  readonly #clock: Clock

  constructor({ cluster, log }: Pick<Engine, 'cluster' | 'log'>, clock: Clock) {
    this.#incarnation = cluster.incarnation
    this.#hasOneWriter = log.hasOneWriter
    this.#clock = clock
  }

  of(digest: string): string {
    const random = randomBytes(6).toString('base64url')
    return [digest, this.#clock.now(), this.#incarnation, random].join('.')
  }

  /** Returns whether a process may still add a version that names this content. */
  mayBeNamedYet(name: string): boolean {
    const [, storedAt, incarnation] = name.split('.')
    if (storedAt === undefined || this.#clock.now() - Number(storedAt) >= makingMs) return false
    return !this.#hasOneWriter || incarnation === this.#incarnation
  }

  /**
   * Returns when the sweep is due that is enqueued before a content is stored, in epoch milliseconds. 0 means at once:
   * the sweep waits for the running call.
   */
  sweepAt(): number {
    return this.#hasOneWriter ? 0 : this.settledAt()
  }

  /**
   * Returns when no version can be added for a content that is stored now, in epoch milliseconds. It allows for
   * different clocks of nodes.
   */
  settledAt(): number {
    return this.#clock.now() + 2 * makingMs
  }
}

export const contentDigest = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('base64url')

/** Returns whether a name belongs to a content with this digest. */
export const hasDigest = (name: string, digest: string): boolean => name.split('.')[0] === digest
