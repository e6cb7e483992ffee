import { expect, it } from 'vitest'
import type { AdoptedLog } from '../../../src/core/store/engine.ts'
import { bytesOf, docKey, entriesOf, loadLive, textOf, updates } from './sample-data.ts'
import type { Bench } from './suite.ts'

export function adoptionContract(bench: () => Bench): void {
  const doc = docKey('adopted')
  const log = () => bench().engine.log
  const former = (more: Partial<Extract<AdoptedLog, { state: 'live' }>> = {}): AdoptedLog => ({
    state: 'live',
    epoch: 3,
    head: 2 ** 40,
    changed: { at: 1_700_000_000_000, by: 'ann' },
    snapshot: bytesOf('all'),
    ...more,
  })

  it('[ENG-48] adopts a log of another store unchanged, and continues it', async () => {
    expect(await log().adopt(doc, former())).toBe(true)
    await bench().reopen()
    const [epoch, head] = [3, 2 ** 40]
    expect(await log().heads([doc])).toEqual([{ epoch, head, base: head, oldest: head }])
    expect(await log().append(doc, epoch, updates('more'))).toMatchObject({
      epoch,
      first: head + 1,
      last: head + 1,
    })
    const loaded = await loadLive(log(), doc)
    expect([textOf(loaded.snapshot), entriesOf(loaded)]).toEqual(['all', [[head + 1, 'more']]])
    expect(textOf((await log().loadAt(doc, epoch, head))?.snapshot ?? null)).toBe('all')
    expect(await log().loadAt(doc, epoch, head - 1)).toBeNull()
  })

  it('[ENG-48] keeps the given time and user of the last change, and copies the passed bytes', async () => {
    const snapshot = bytesOf('all')
    const adopting = log().adopt(doc, former({ snapshot }))
    await adopting
    snapshot.fill(0)
    const loaded = await loadLive(log(), doc)
    expect([loaded.changed, textOf(loaded.snapshot)]).toEqual([{ at: 1_700_000_000_000, by: 'ann' }, 'all'])
  })

  it('[ENG-48] adopts a deletion, and creates the next log with the next epoch', async () => {
    expect(await log().adopt(doc, { state: 'deleted', epoch: 7 })).toBe(true)
    await bench().reopen()
    expect(await log().load(doc)).toEqual({ state: 'deleted', epoch: 7 })
    expect(await log().append(doc, 'recreate', updates('a'))).toMatchObject({ epoch: 8 })
  })

  it('[ENG-48] does not adopt a log if the document has a live log, or was deleted at this epoch or a later one', async () => {
    await log().append(doc, 'create', updates('own'))
    for (const given of [former(), { state: 'deleted', epoch: 9 } as const])
      expect(await log().adopt(doc, given)).toBe(false)
    expect(entriesOf(await loadLive(log(), doc))).toEqual([[1, 'own']])
    await log().destroy(doc)
    expect(await log().adopt(doc, former({ epoch: 1 }))).toBe(false)
    expect(await log().load(doc)).toEqual({ state: 'deleted', epoch: 1 })
    expect(await log().adopt(doc, former({ epoch: 2, head: 1 }))).toBe(true)
    expect((await loadLive(log(), doc)).epoch).toBe(2)
  })

  it('[ENG-48] rejects an impossible epoch or head, and writes nothing', async () => {
    for (const number of [0, -1, 1.5, Number.NaN, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY]) {
      await expect(log().adopt(doc, former({ epoch: number }))).rejects.toThrow(RangeError)
      await expect(log().adopt(doc, former({ head: number }))).rejects.toThrow(RangeError)
    }
    expect(await log().load(doc)).toEqual({ state: 'absent' })
  })
}
