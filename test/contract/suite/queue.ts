import { expect, it } from 'vitest'
import type { ClaimedJob } from '../../../src/core/store/engine.ts'
import { claimable, enqueue, job, textOf } from './sample-data.ts'
import type { Bench } from './suite.ts'

const leaseMs = 1_000

export function queueContract(bench: () => Bench): void {
  const queue = () => bench().engine.queue
  const now = () => bench().clock.now()
  const claimOne = async (): Promise<ClaimedJob> => {
    const [claimed] = await queue().claim('queue', 1, leaseMs)
    if (claimed === undefined) throw new Error('nothing is due')
    return claimed
  }

  it('[ENG-26] claims due jobs in the order of time, then id, and at most the requested number', async () => {
    const { engine, clock } = bench()
    await enqueue(engine, job('c', now() - 5), job('later', now() + 1), job('b', now()), job('a', now()))
    await enqueue(engine, job('other', 0, 'x', 'another queue'), job('oldest', 0))
    const first = await queue().claim('queue', 2, leaseMs)
    expect(first.map(({ id }) => id)).toEqual(['oldest', 'c'])
    expect(await claimable(engine)).toEqual(['a', 'b'])
    clock.advance(1)
    expect(await claimable(engine)).toEqual(['later'])
    expect(await claimable(engine, 'another queue')).toEqual(['other'])
    expect(await claimable(engine, 'no queue')).toEqual([])
  })

  it('[ENG-26] never gives one job to two concurrent claims', async () => {
    const { engine } = bench()
    const ids = Array.from({ length: 40 }, (_, index) => String(index).padStart(2, '0'))
    await enqueue(engine, ...ids.map((id) => job(id, 0)))
    const claims = await Promise.all(Array.from({ length: 8 }, () => queue().claim('queue', 10, leaseMs)))
    const claimed = claims.flat().map(({ id }) => id)
    expect(new Set(claimed).size).toBe(claimed.length)
    expect([...claimed, ...(await claimable(engine))].sort()).toEqual(ids)
  })

  it('[ENG-27] when the lease of a job ends, makes the job due again, and rejects the old token', async () => {
    const { engine, clock } = bench()
    await enqueue(engine, job('a', 0, 'payload'))
    const first = await claimOne()
    expect([first.attempt, textOf(first.payload)]).toEqual([1, 'payload'])
    clock.advance(leaseMs - 1)
    expect(await claimable(engine)).toEqual([])
    clock.advance(1)
    expect(await queue().extend(first.token, leaseMs)).toBe(false)
    const second = await claimOne()
    expect([second.id, second.attempt, textOf(second.payload)]).toEqual(['a', 2, 'payload'])
    expect(await queue().done(first.token)).toBe(false)
    expect(await queue().retry(first.token, 0, '')).toBe(false)
    expect(await queue().moveToDeadLetters(first.token, '')).toBe(false)
    expect(await queue().done(second.token)).toBe(true)
    expect(await queue().done(second.token)).toBe(false)
    clock.advance(10 * leaseMs)
    expect(await claimable(engine)).toEqual([])
  })

  it('[ENG-27] rejects an unknown token', async () => {
    for (const token of ['', 'x', '////', Buffer.from('\u0002queue\0').toString('base64url')]) {
      expect(await queue().done(token)).toBe(false)
    }
  })

  it('[ENG-28] extends a lease from the time of the extension', async () => {
    const { engine, clock } = bench()
    await enqueue(engine, job('a', 0))
    const { token } = await claimOne()
    clock.advance(leaseMs - 1)
    expect(await queue().extend(token, leaseMs)).toBe(true)
    clock.advance(leaseMs - 1)
    expect(await claimable(engine)).toEqual([])
    expect(await queue().done(token)).toBe(true)
  })

  it('[ENG-29] when a job is retried, makes it due after the delay, and counts its attempts', async () => {
    const { engine, clock } = bench()
    await enqueue(engine, job('a', 0))
    const { token } = await claimOne()
    expect(await queue().retry(token, 500.25, 'it failed')).toBe(true)
    expect(await queue().done(token)).toBe(false)
    clock.advance(499)
    expect(await claimable(engine)).toEqual([])
    clock.advance(2)
    expect((await claimOne()).attempt).toBe(2)
  })

  it('[ENG-30] never makes a dead job due again, and accepts its id for a new job', async () => {
    const { engine, clock } = bench()
    await enqueue(engine, job('a', 0))
    expect(await queue().moveToDeadLetters((await claimOne()).token, 'hopeless')).toBe(true)
    clock.advance(1_000 * leaseMs)
    expect(await claimable(engine)).toEqual([])
    await enqueue(engine, job('a', 0, 'anew'))
    const again = await claimOne()
    expect([again.attempt, textOf(again.payload)]).toEqual([1, 'anew'])
  })

  it('[ENG-31] leaves a waiting job unchanged when its id is enqueued again', async () => {
    const { engine, clock } = bench()
    await enqueue(engine, job('a', now() + 10, 'first'))
    await enqueue(engine, job('a', now(), 'second'), job('a', 0, 'third'))
    await Promise.all([enqueue(engine, job('b', now(), 'first')), enqueue(engine, job('b', now(), 'second'))])
    const [b] = await queue().claim('queue', 10, leaseMs)
    expect([b?.id, textOf(b?.payload ?? null)]).toEqual(['b', 'first'])
    clock.advance(10)
    expect(textOf((await claimOne()).payload)).toBe('first')
    expect(await claimable(engine)).toEqual([])
  })

  it('[ENG-31] when a job is enqueued while a job with the same id is leased, runs it afterwards, and loses none', async () => {
    const { engine, clock } = bench()
    await enqueue(engine, job('a', 0, 'first'))
    const first = await claimOne()
    await enqueue(engine, job('a', now() + 50, 'second'))
    await enqueue(engine, job('a', now(), 'third'))
    clock.advance(60)
    expect(await claimable(engine)).toEqual([])
    expect(await queue().done(first.token)).toBe(true)
    const second = await claimOne()
    expect([second.attempt, textOf(second.payload)]).toEqual([1, 'second'])
    await enqueue(engine, job('a', now(), 'fourth'))
    expect(await queue().moveToDeadLetters(second.token, 'hopeless')).toBe(true)
    expect(textOf((await claimOne()).payload)).toBe('fourth')
  })

  it('[ENG-31] when a job is retried, keeps a later job with the same id', async () => {
    const { engine, clock } = bench()
    await enqueue(engine, job('a', 0, 'first'))
    const { token } = await claimOne()
    await enqueue(engine, job('a', 0, 'second'))
    await queue().retry(token, 0, 'it failed')
    const again = await claimOne()
    expect([again.attempt, textOf(again.payload)]).toEqual([2, 'first'])
    clock.advance(leaseMs)
    const once = await claimOne()
    await queue().done(once.token)
    expect(textOf((await claimOne()).payload)).toBe('second')
  })

  it('[ENG-27] when several calls end one lease at the same time, accepts only one of them', async () => {
    const { engine } = bench()
    await enqueue(engine, job('a', 0))
    const { token } = await claimOne()
    const rivals = [
      queue().done(token),
      queue().retry(token, 0, ''),
      queue().moveToDeadLetters(token, ''),
      queue().done(token),
    ]
    expect((await Promise.all(rivals)).filter(Boolean)).toHaveLength(1)
  })

  it('[ENG-32] keeps queues and job ids with any characters in their names separate', async () => {
    const { engine } = bench()
    const names = ['', '\0', 'a', 'a\0', 'a\0b', 'b', '\u{1f9f5}', '\uffff']
    await enqueue(engine, ...names.flatMap((name) => names.map((id) => job(id, 0, `${name}|${id}`, name))))
    for (const name of names) {
      const claimed = await queue().claim(name, 100, leaseMs)
      expect(claimed.map(({ id }) => id).sort()).toEqual([...names].sort())
      for (const { id, payload, token } of claimed) {
        expect(textOf(payload)).toBe(`${name}|${id}`)
        expect(await queue().done(token)).toBe(true)
      }
    }
  })
}
