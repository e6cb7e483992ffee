import { expect, it } from 'vitest'
import { AppendBacklog, RecordedLog } from '../../../../src/core/rooms/log/recorded-log.ts'
import type { Appended } from '../../../../src/core/store/engine.ts'
import { gate } from '../../../support/time/gate.ts'

const update = { bytes: Uint8Array.of(0, 0), by: '' }

it('[DOC-18] for a document without a record, keeps append calls and their results in order', async () => {
  const [recorded, durable] = [gate(), gate()]
  const waiting = new AppendBacklog()
  const calls: unknown[] = []
  let last = 0
  const append = async (_: unknown, to: unknown): Promise<Appended> => {
    calls.push(to)
    last += 1
    const seq = last
    await durable.opened
    return { epoch: 1, first: seq, last: seq }
  }
  const log = new RecordedLog({ append }, () => recorded.opened, waiting)
  const results: number[] = []
  const add = (to: 'create' | number): void =>
    void log.append(['doc'], to, [update]).then(({ last }) => results.push(last))
  add('create')
  add(1)
  await new Promise(setImmediate)
  expect([calls, waiting.bytes]).toEqual([[], 4])
  recorded.open()
  add(1)
  await new Promise(setImmediate)
  add(1)
  await new Promise(setImmediate)
  expect([calls, waiting.bytes]).toEqual([['create', 1, 1, 1], 0])
  durable.open()
  await new Promise(setImmediate)
  expect(results).toEqual([1, 2, 3, 4])
})

it('[DOC-18] appends nothing if the record of the document cannot be stored', async () => {
  let calls = 0
  const append = (): Promise<Appended> => {
    calls += 1
    return Promise.resolve({ epoch: 1, first: 1, last: 1 })
  }
  const record = () => Promise.reject(new Error('no record'))
  const log = new RecordedLog({ append }, record, new AppendBacklog())
  const both = [log.append(['doc'], 'create', [update]), log.append(['doc'], 1, [update])]
  expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(calls).toBe(0)
})
