import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { Cluster } from '../engine/engine.ts'

/** A version is made within this time, in ms, from the storing of its content on. */
const makingMs = 900_000

/**
 * Names of the stored contents of versions. Each name is unique: another process may be about to name a content that no
 * version names yet. It contains the digest of the content, the time, and the incarnation of the process.
 */
export class BlobNames {
  readonly #cluster: Pick<Cluster, 'incarnation' | 'isAlive'>
  readonly #clock: Clock

  constructor(cluster: Pick<Cluster, 'incarnation' | 'isAlive'>, clock: Clock) {
    this.#cluster = cluster
    this.#clock = clock
  }

  of(digest: string): string {
    const random = randomBytes(6).toString('base64url')
    return [digest, this.#clock.now(), this.#cluster.incarnation, random].join('.')
  }

  /** Returns whether a process may still make a version that names a content. */
  async mayBeNamedYet(name: string): Promise<boolean> {
    const [, storedAt, incarnation] = name.split('.')
    if (incarnation === undefined || this.#clock.now() - Number(storedAt) >= makingMs) return false
    return this.#cluster.isAlive(incarnation)
  }

  /** When no version can name a content that is stored now; epoch milliseconds. The clocks of nodes differ. */
  settledAt(): number {
    return this.#clock.now() + 2 * makingMs
  }
}

export const contentDigest = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('base64url')

/** Returns whether a name is that of a content with this digest. */
export const hasDigest = (name: string, digest: string): boolean => name.split('.')[0] === digest
