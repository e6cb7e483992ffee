import { expect, it } from 'vitest'
import type { Key } from '../../../src/core/store/engine.ts'
import { bytesOf } from './sample-data.ts'
import type { Bench } from './suite.ts'

const part: Key = ['organization']
const doc: Key = ['fenced']
const updates = [{ bytes: bytesOf('x'), by: '' }]
const names: readonly Key[] = [
  ['access', 'one'],
  ['access', 'two'],
]

export function fencesContract(bench: () => Bench): void {
  it('[ENG-79] rejects an append if one of its fences was raised after the fence was read', async () => {
    const { log, kv, fences } = bench().engine
    const fence = await fences.read(names)
    expect(fences.isCurrent(fence)).toBe(true)
    await log.append(doc, 'create', updates, { fence })
    const appended = log.append(doc, 1, updates, { fence })
    await appended
    await kv.commit(part, { puts: [{ key: ['a'], value: bytesOf('a') }], fences: [['access', 'two']] })
    expect(fences.isCurrent(fence)).toBe(false)
    for (const expectHead of [undefined, 2])
      await expect(log.append(doc, 1, updates, { fence, expectHead })).rejects.toMatchObject({
        reason: 'fence',
      })
    await log.append(doc, 1, updates, { fence: await fences.read(names) })
    await log.append(doc, 1, updates)
    expect(await log.heads([doc])).toMatchObject([{ head: 4 }])
  })

  it('[ENG-79] accepts an append when only other fences are raised, or when the commit that raises its fence fails', async () => {
    const { log, kv, fences } = bench().engine
    const fence = await fences.read(names)
    const puts = [{ key: ['a'], value: bytesOf('a') }]
    await kv.commit(part, { puts, fences: [['access', 'three']] })
    const checks = [{ key: ['b'], value: bytesOf('b') }]
    expect(await kv.commit(part, { checks, puts, fences: names })).toBe(false)
    await log.append(doc, 'create', updates, { fence })
  })

  it('[ENG-79] when a simultaneous commit raises the fence of an append, stores the append first or rejects it', async () => {
    const { log, kv, fences } = bench().engine
    await log.append(doc, 'create', updates)
    for (let round = 0; round < 20; round += 1) {
      const fence = await fences.read(names)
      const [head] = await log.heads([doc])
      // In every second round the appends expect a head, so some engines append differently.
      const expectHead = (more: number) => (round % 2 === 0 ? (head?.head ?? 0) + more : undefined)
      const raised = kv
        .commit(part, { puts: [{ key: ['a'], value: bytesOf('a') }], fences: names })
        .then(async () => (await log.heads([doc]))[0]?.head)
      await Promise.allSettled(
        Array.from({ length: 4 }, (_, more) =>
          log.append(doc, 1, updates, { fence, expectHead: expectHead(more) }),
        ),
      )
      expect((await log.heads([doc]))[0]?.head).toBe(await raised)
    }
  })
}
