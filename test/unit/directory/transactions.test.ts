import { expect, it } from 'vitest'
import { ApiError } from '../../../src/core/base/errors.ts'
import { counterRecordType } from '../../../src/core/directory/store/records.ts'
import { TransactionRunner } from '../../../src/core/directory/store/transaction.ts'
import type { Key, Kv } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'

const [part, key]: [Key, Key] = [['p'], ['k']]
const late = () => new Promise((resolve) => setTimeout(resolve, Math.random() * 4))

it('[CS-53] confirms as many concurrent changes of several nodes as it applies', async () => {
  const engine = await openMemoryEngine()
  const kv: Kv = {
    get: async (...call) => {
      const values = await engine.kv.get(...call)
      await late()
      return values
    },
    scan: (...call) => engine.kv.scan(...call),
    commit: async (...call) => {
      await late()
      return engine.kv.commit(...call)
    },
  }
  const nodes = Array.from({ length: 8 }, () => new TransactionRunner(kv))
  const told = await Promise.all(
    Array.from({ length: 160 }, (_, index) =>
      (nodes[index % 8] as TransactionRunner)
        .run(part, async (transaction) => {
          const { count } = (await transaction.get(key, counterRecordType)) ?? { count: 0 }
          transaction.put(key, { count: count + 1 })
        })
        .then(
          () => 'changed',
          (error: unknown) => (error instanceof ApiError ? error.status : error),
        ),
    ),
  )
  const changed = told.filter((each) => each === 'changed').length
  expect(told.filter((each) => each !== 'changed' && each !== 'ABORTED')).toEqual([])
  expect(changed).toBeGreaterThan(100)
  const [bytes] = await engine.kv.get(part, [key])
  expect(JSON.parse(Buffer.from(bytes ?? '').toString())).toEqual({ count: changed })
})
