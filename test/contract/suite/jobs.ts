import { expect, it } from 'vitest'
import { claimable, docKey, entriesOf, job, loadLive, outcomeOf, updates } from './sample-data.ts'
import type { Bench } from './suite.ts'

export function jobContract(bench: () => Bench): void {
  it('[ENG-33] stores the jobs of an append in the same commit as the append', async () => {
    const { log } = bench().engine
    const doc = docKey('jobs')
    await log.append(doc, 'create', updates('a'), { jobs: [job('1', 0), job('2', 0)] })
    expect(await claimable(bench().engine)).toEqual(['1', '2'])
    await log.append(doc, 1, updates('b'), { jobs: [job('3', 0)] })
    expect(await claimable(bench().engine)).toEqual(['3'])
  })

  it('[ENG-33] runs appends with and without jobs in the order of the calls', async () => {
    const { log } = bench().engine
    const doc = docKey('jobs')
    const calls = [log.append(doc, 'create', updates('1'), { jobs: [job('1', 0)] })]
    for (let seq = 2; seq <= 12; seq++) {
      calls.push(log.append(doc, 1, updates(`${seq}`), seq % 3 === 0 ? { jobs: [job(`${seq}`, 0)] } : {}))
    }
    const firsts = (await Promise.all(calls)).map(({ first }) => first)
    expect(firsts).toEqual(firsts.map((_, index) => index + 1))
    expect(entriesOf(await loadLive(log, doc)).every(([seq, text]) => text === String(seq))).toBe(true)
    expect((await claimable(bench().engine)).sort()).toEqual(['1', '12', '3', '6', '9'])
  })

  it('[ENG-33] rejects only the commit that has a job with an invalid time', async () => {
    const { log, kv } = bench().engine
    const doc = docKey('jobs')
    for (const at of [Number.NaN, Number.POSITIVE_INFINITY]) {
      const put = { key: ['k'], value: new Uint8Array(1) }
      expect(await outcomeOf(log.append(doc, 'create', updates('never'), { jobs: [job('x', at)] }))).toBe(
        'RangeError',
      )
      expect(await outcomeOf(kv.commit(['p'], { puts: [put], jobs: [job('x', at)] }))).toBe('RangeError')
      const isNew = { ...job('x', at), isNew: true }
      expect(await outcomeOf(log.append(doc, 'create', updates('never'), { jobs: [isNew] }))).toBe(
        'RangeError',
      )
    }
    expect(await kv.get(['p'], [['k']])).toEqual([null])
    expect(await log.append(doc, 'create', updates('a'))).toMatchObject({ epoch: 1, first: 1, last: 1 })
    expect(entriesOf(await loadLive(log, doc))).toEqual([[1, 'a']])
  })

  it('[ENG-33] accepts a time with a fraction of a millisecond', async () => {
    const { engine, clock } = bench()
    await engine.kv.commit(['p'], { jobs: [job('x', clock.now() - 0.5)] })
    clock.advance(1)
    expect(await claimable(engine)).toEqual(['x'])
  })

  it('[ENG-34] stores the jobs of a commit in the same step as its values', async () => {
    const { kv } = bench().engine
    const put = { key: ['k'], value: new Uint8Array(1) }
    await Promise.all([
      kv.commit(['p'], { puts: [put], jobs: [job('1', 0)] }),
      kv.commit(['p'], { checks: [{ key: ['k'], value: new Uint8Array(1) }], jobs: [job('2', 0)] }),
      kv.commit(['p'], { checks: [{ key: ['k'], value: null }], jobs: [job('never', 0)] }),
    ])
    expect((await claimable(bench().engine)).sort()).toEqual(['1', '2'])
  })
}
