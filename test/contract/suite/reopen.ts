import { expect, it } from 'vitest'
import {
  appendNumbered,
  bytesOf,
  claimable,
  docKey,
  enqueue,
  entriesOf,
  job,
  keepNone,
  loadLive,
  outcomeOf,
  textOf,
  updates,
} from './sample-data.ts'
import type { Bench } from './suite.ts'

export function reopenContract(bench: () => Bench): void {
  it('[ENG-43] keeps logs, snapshots, epochs and heads over a restart', async () => {
    const { log } = bench().engine
    const [plain, compacted, gone, again] = ['plain', 'compacted', 'gone', 'again'].map(docKey) as [
      string[],
      string[],
      string[],
      string[],
    ]
    for (const doc of [plain, compacted, gone, again]) await appendNumbered(log, doc, 'create', 1, 3)
    await log.compact(compacted, 1, 0, 3, bytesOf('1 to 3'), keepNone)
    await log.destroy(gone)
    await log.destroy(again)
    await log.append(again, 'recreate', updates('anew'))
    const all = async () => {
      const { log } = bench().engine
      return Promise.all([plain, compacted, gone, again].map((doc) => log.load(doc)))
    }
    const before = await all()
    await bench().reopen()
    expect(await all()).toEqual(before)
    const reopened = bench().engine.log
    expect(await outcomeOf(reopened.append(gone, 1, updates('late')))).toBe('deleted')
    expect(await outcomeOf(reopened.append(again, 1, updates('late')))).toBe('epoch')
    expect(await reopened.append(compacted, 1, updates('4'), { expectHead: 3 })).toMatchObject({
      epoch: 1,
      first: 4,
      last: 4,
    })
    const calls = [4, 5, 6].map((seq) => reopened.append(plain, 1, updates(`${seq}`)))
    expect(await Promise.all(calls)).toMatchObject([{ first: 4 }, { first: 5 }, { first: 6 }])
    expect(entriesOf(await loadLive(reopened, plain))).toHaveLength(6)
  })

  it('[ENG-43] keeps values, blobs, jobs and leases over a restart', async () => {
    const { engine, clock } = bench()
    await engine.kv.commit(['p'], { puts: [{ key: ['k'], value: bytesOf('v') }] })
    await engine.blobs.put(['b'], bytesOf('blob'))
    await enqueue(engine, job('leased', 0), job('buried', 0), job('waiting', clock.now() + 1))
    const [buried, leased] = await engine.queue.claim('queue', 2, 1_000)
    await engine.queue.moveToDeadLetters(buried?.token ?? '', 'hopeless')
    await enqueue(engine, job('leased', 0, 'next'))
    await bench().reopen()
    const reopened = bench().engine
    expect((await reopened.kv.get(['p'], [['k']])).map(textOf)).toEqual(['v'])
    expect(textOf(await reopened.blobs.get(['b']))).toBe('blob')
    expect(await claimable(reopened)).toEqual([])
    expect(await reopened.queue.done(leased?.token ?? '')).toBe(true)
    clock.advance(1)
    const due = await reopened.queue.claim('queue', 10, 1_000)
    expect(due.map(({ id, attempt, payload }) => [id, attempt, textOf(payload)])).toEqual([
      ['leased', 1, 'next'],
      ['waiting', 1, 'waiting'],
    ])
    clock.advance(1_000)
    await bench().reopen()
    const again = await bench().engine.queue.claim('queue', 10, 1_000)
    expect(again.map(({ id, attempt }) => [id, attempt])).toEqual([
      ['leased', 2],
      ['waiting', 2],
    ])
  })
}
