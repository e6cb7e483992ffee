import { expect, it } from 'vitest'
import { destroyedPerCallMax } from '../../../src/core/store/log-state.ts'
import {
  appendNumbered,
  bytesOf,
  docKey,
  entriesOf,
  keepNone,
  loadLive,
  outcomeOf,
  textOf,
  updates,
} from './sample-data.ts'
import type { Bench } from './suite.ts'

export function compactionContract(bench: () => Bench): void {
  const doc = docKey('compacted')
  const log = () => bench().engine.log
  const compact = (expectBase: number, upTo: number, epoch = 1) =>
    log().compact(doc, epoch, expectBase, upTo, bytesOf(`1 to ${upTo}`), keepNone)

  it('[ENG-12] replaces the entries that a compaction covers, and only those', async () => {
    await appendNumbered(log(), doc, 'create', 1, 3)
    await appendNumbered(log(), doc, 1, 4, 3)
    expect(await compact(0, 3)).toBe(true)
    const loaded = await loadLive(log(), doc)
    expect([loaded.base, loaded.head, textOf(loaded.snapshot)]).toEqual([3, 6, '1 to 3'])
    expect(entriesOf(loaded).map(([seq]) => seq)).toEqual([4, 5, 6])
    expect(await log().append(doc, 1, updates('7'))).toMatchObject({ epoch: 1, first: 7, last: 7 })
  })

  it('[ENG-12] a compaction can end between the entries of one append', async () => {
    await appendNumbered(log(), doc, 'create', 1, 5)
    expect(await compact(0, 2)).toBe(true)
    expect(entriesOf(await loadLive(log(), doc)).map(([seq]) => seq)).toEqual([3, 4, 5])
    expect(await compact(2, 4)).toBe(true)
    const loaded = await loadLive(log(), doc)
    expect([loaded.base, textOf(loaded.snapshot), entriesOf(loaded)]).toEqual([4, '1 to 4', [[5, '5']]])
    expect(entriesOf(await loadLive(log(), doc, { since: 4 }))).toEqual([[5, '5']])
  })

  it('[ENG-13] rejects a compaction if its epoch or base does not match, or if its entries do not exist', async () => {
    await appendNumbered(log(), doc, 'create', 1, 5)
    expect(await compact(0, 6)).toBe(false)
    expect(await compact(0, 3, 2)).toBe(false)
    expect(await compact(1, 3)).toBe(false)
    expect(await compact(0, 0)).toBe(false)
    expect(await compact(0, 3)).toBe(true)
    expect(await compact(0, 4)).toBe(false)
    expect(await compact(3, 2)).toBe(false)
    expect(await log().compact(docKey('none'), 1, 0, 1, bytesOf('x'), keepNone)).toBe(false)
    const loaded = await loadLive(log(), doc)
    expect([loaded.base, textOf(loaded.snapshot), loaded.head]).toEqual([3, '1 to 3', 5])
  })

  it('[ENG-13] accepts only one of several concurrent compactions, and keeps the snapshot of this one', async () => {
    await appendNumbered(log(), doc, 'create', 1, 5)
    const done = await Promise.all([compact(0, 2), compact(0, 3), compact(0, 4)])
    expect(done.filter(Boolean)).toHaveLength(1)
    const { base, snapshot } = await loadLive(log(), doc)
    expect(base).toBe([2, 3, 4][done.indexOf(true)])
    expect(textOf(snapshot)).toBe(`1 to ${base}`)
  })

  it('[ENG-14] keeps time and user of the last update after a compaction', async () => {
    const { clock } = bench()
    await log().append(doc, 'create', updates('1'))
    clock.advance(1_000)
    await log().append(doc, 1, updates('2', '3'))
    const changed = { at: clock.now(), by: 'user of 3' }
    clock.advance(1_000)
    expect(await compact(0, 3)).toBe(true)
    expect((await loadLive(log(), doc)).changed).toEqual(changed)
    expect((await loadLive(log(), doc, { since: 3 })).changed).toEqual(changed)
    expect(await compact(3, 3)).toBe(true)
    expect((await loadLive(log(), doc)).changed).toEqual(changed)
  })

  it('[ENG-15] keeps only the epoch of a deleted document, and rejects late appends', async () => {
    expect(await log().load(doc)).toEqual({ state: 'absent' })
    await appendNumbered(log(), doc, 'create', 1, 3)
    await compact(0, 2)
    await log().destroy(doc)
    expect(await log().load(doc)).toEqual({ state: 'deleted', epoch: 1 })
    expect(await outcomeOf(log().append(doc, 1, updates('late')))).toBe('deleted')
    expect(await outcomeOf(log().append(doc, 'create', updates('late')))).toBe('deleted')
    expect(await compact(2, 3)).toBe(false)
    expect(await log().append(doc, 'recreate', updates('anew'))).toMatchObject({
      epoch: 2,
      first: 1,
      last: 1,
    })
    expect(await outcomeOf(log().append(doc, 1, updates('late')))).toBe('epoch')
    const loaded = await loadLive(log(), doc)
    expect([loaded.epoch, loaded.base, loaded.snapshot, entriesOf(loaded)]).toEqual([
      2,
      0,
      null,
      [[1, 'anew']],
    ])
  })

  it('[ENG-15] when calls follow a deletion, runs them in order, even if their caller does not wait for the deletion', async () => {
    await appendNumbered(log(), doc, 'create', 1, 3)
    const before = log().append(doc, 1, updates('before'))
    const destroyed = log().destroy(doc)
    const late = outcomeOf(log().append(doc, 1, updates('late')))
    const anew = log().append(doc, 'recreate', updates('anew'))
    const follows = log().append(doc, 2, updates('follows'))
    expect(await before).toMatchObject({ epoch: 1, first: 4, last: 4 })
    await destroyed
    expect(await late).toBe('deleted')
    expect(await anew).toMatchObject({ epoch: 2, first: 1, last: 1 })
    expect(await follows).toMatchObject({ epoch: 2, first: 2, last: 2 })
    expect(entriesOf(await loadLive(log(), doc))).toEqual([
      [1, 'anew'],
      [2, 'follows'],
    ])
  })

  it('[ENG-15] changes nothing when a deleted or missing document is deleted', async () => {
    await log().destroy(doc)
    expect(await log().load(doc)).toEqual({ state: 'absent' })
    await log().append(doc, 'create', updates('a'))
    await Promise.all([log().destroy(doc), log().destroy(doc)])
    expect(await log().load(doc)).toEqual({ state: 'deleted', epoch: 1 })
  })

  it('[ENG-16] each call of destroyPrefix deletes a limited number of documents, and none outside the prefix', async () => {
    const count = destroyedPerCallMax + 20
    const appends = Array.from({ length: count }, (_, index) =>
      log().append(['p', String(index).padStart(4, '0')], 'create', updates('x')),
    )
    await Promise.all([...appends, log().append(['pq'], 'create', updates('x'))])
    const after = await log().destroyPrefix(['p'])
    expect(await log().list(['p'], { limit: 1_000 })).toHaveLength(count - destroyedPerCallMax)
    expect(after).not.toBeNull()
    expect(await log().destroyPrefix(['p'], { after: after ?? [] })).toBeNull()
    expect(await log().list([], { limit: 1_000 })).toEqual([['pq']])
    expect(await log().load(['p', '0000'])).toEqual({ state: 'deleted', epoch: 1 })
  })

  it('[ENG-77] destroyPrefix keeps documents that are created after it has asked for permission', async () => {
    const [anew, first, old] = [
      ['p', 'anew'],
      ['p', 'first'],
      ['p', 'old'],
    ] as const
    for (const each of [anew, old]) await log().append(each, 'create', updates('old'))
    const confirm = async (): Promise<void> => {
      await log().destroy(anew)
      await log().append(anew, 'recreate', updates('anew'))
      await log().append(first, 'create', updates('first'))
    }
    expect(await log().destroyPrefix(['p'], { confirm })).toBeNull()
    expect(await log().list(['p'], { limit: 10 })).toEqual([anew, first])
    expect(entriesOf(await loadLive(log(), anew))).toEqual([[1, 'anew']])
  })

  it('[ENG-77] destroyPrefix deletes nothing without permission', async () => {
    await log().append(['p', 'a'], 'create', updates('a'))
    const confirm = () => Promise.reject(new Error('another one does it'))
    await expect(log().destroyPrefix(['p'], { confirm })).rejects.toThrow('another one does it')
    expect(await log().list(['p'], { limit: 10 })).toEqual([['p', 'a']])
  })
}
