import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Job } from '../../../src/core/store/engine.ts'
import { type LevelEngine, openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { seed } from '../../support/data/seed.ts'
import { HeldClock } from '../../support/time/clock.ts'
import { bytesOf } from '../suite/sample-data.ts'
import { temporaryDirectory } from './store-tools.ts'

const leaseMs = 1_000_000
/** More jobs than the engine keeps in memory for one queue. */
const jobCount = 6_000
const spanMs = 5_000

it('[ENG-83] claims each due job once, and none too early, however many jobs wait', async () => {
  const directory = await temporaryDirectory()
  const clock = new HeldClock(1_000_000)
  const start = clock.now()
  const open = (): Promise<LevelEngine> =>
    openLevelEngine({ directory: directory.path, clock, durability: 'process' })
  let engine = await open()
  const due = new Map<string, number>()
  const claimed = new Map<string, number>()
  let number = 0
  const [times] = fc.sample(fc.array(fc.nat(spanMs), { minLength: jobCount, maxLength: jobCount }), {
    seed,
    numRuns: 1,
  }) as [number[]]
  const enqueue = async (count: number): Promise<void> => {
    const jobs = Array.from({ length: count }, (): Job => {
      const job = { queue: 'q', id: `job-${number}`, at: start + (times[number] ?? 0), payload: bytesOf('p') }
      due.set(job.id, job.at)
      number += 1
      return { ...job, isNew: number % 2 === 0 }
    })
    await engine.kv.commit(['p'], { jobs })
  }
  const claim = async (count: number): Promise<number> => {
    const jobs = await engine.queue.claim('q', count, leaseMs)
    for (const { id, token } of jobs) {
      expect(claimed.has(id), `seed ${seed}: ${id} is claimed twice`).toBe(false)
      expect(due.get(id)).toBeLessThanOrEqual(clock.now())
      claimed.set(id, clock.now())
      if (claimed.size % 3 === 0) await engine.queue.done(token)
    }
    return jobs.length
  }
  await enqueue(jobCount / 2)
  for (let step = 0; step < 20; step++) {
    await Promise.all([enqueue(jobCount / 40), claim(100), claim(100)])
    clock.advance(spanMs / 20)
    if (step === 9) {
      await engine.close()
      engine = await open()
    }
  }
  while ((await claim(700)) > 0);
  expect(claimed.size, `seed ${seed}`).toBe(jobCount)
  await engine.close()
  await directory.remove()
})

it('[ENG-83] claims the jobs that have been due the longest first', async () => {
  const directory = await temporaryDirectory()
  const clock = new HeldClock(1_000_000)
  const engine = await openLevelEngine({ directory: directory.path, clock })
  const at = [40, 10, 30, 20]
  const jobs = at.map((ms) => ({ queue: 'q', id: `${ms}`, at: clock.now() + ms, payload: bytesOf('p') }))
  await engine.kv.commit(['p'], { jobs })
  clock.advance(35)
  expect((await engine.queue.claim('q', 2, leaseMs)).map(({ id }) => id)).toEqual(['10', '20'])
  expect((await engine.queue.claim('q', 9, leaseMs)).map(({ id }) => id)).toEqual(['30'])
  await engine.close()
  await directory.remove()
})
