import { afterEach, beforeEach, describe } from 'vitest'
import type { Clock } from '../../../src/core/base/clock.ts'
import type { Engine } from '../../../src/core/store/engine.ts'
import { HeldClock } from '../../support/time/clock.ts'
import { authorshipContract } from './authorship.ts'
import { blobContract } from './blobs.ts'
import { busContract } from './bus.ts'
import { compactionContract } from './compaction.ts'
import { fencesContract } from './fences.ts'
import { jobContract } from './jobs.ts'
import { keyContract } from './keys.ts'
import { kvContract } from './kv.ts'
import { leaseContract } from './leases.ts'
import { lifeContract } from './lifecycle.ts'
import { logContract } from './log.ts'
import { logModelContract } from './log-model.ts'
import { queueContract } from './queue.ts'
import { reopenContract } from './reopen.ts'
import { storedBytesContract } from './stored-bytes.ts'
import { versionContract } from './versions.ts'

export interface OpenedEngine {
  readonly engine: Engine
  /** Closes the engine and opens it over the same store; null if the store ends with the engine. */
  readonly reopen: (() => Promise<OpenedEngine>) | null
  /** Closes the engine and removes its store. */
  dispose(): Promise<void>
}

/** Opens an engine with an empty store of its own. */
export type OpenEngine = (clock: Clock) => Promise<OpenedEngine>

/** The engine and clock of the parts of the suite, created for each test. */
export interface Bench {
  readonly engine: Engine
  readonly clock: HeldClock
  /** Afterwards `engine` is the one opened over the same store, if the store outlives an engine. */
  reopen(): Promise<void>
}

/** All promises of `src/core/store/engine.ts` for any engine. With `keeps`, they must hold over a restart. */
export function engineContract(name: string, { keeps, open }: { keeps: boolean; open: OpenEngine }): void {
  describe(`${name} engine`, () => {
    let clock = new HeldClock()
    let opened: OpenedEngine
    beforeEach(async () => {
      clock = new HeldClock()
      opened = await open(clock)
    })
    afterEach(() => opened.dispose())
    const reopen = async () => {
      opened = (await opened.reopen?.()) ?? opened
    }
    const bench = (): Bench => ({ engine: opened.engine, clock, reopen })
    describe('log', () => logContract(bench))
    describe('compaction and deletion', () => compactionContract(bench))
    describe('authorship', () => authorshipContract(bench))
    describe('log compared with a model', () => logModelContract(bench))
    describe('versions', () => versionContract(bench))
    describe('keys', () => keyContract(bench))
    describe('kv', () => kvContract(bench))
    describe('fences', () => fencesContract(bench))
    describe('queue', () => queueContract(bench))
    describe('jobs of a commit', () => jobContract(bench))
    describe('leases', () => leaseContract(bench))
    describe('stored bytes', () => storedBytesContract(bench))
    describe('blobs', () => blobContract(bench))
    describe('bus and cluster', () => busContract(bench))
    describe('lifecycle', () => lifeContract(bench))
    if (keeps) describe('restart', () => reopenContract(bench))
  })
}
