import { expect, it } from 'vitest'
import type { LogUpdate } from '../../../src/core/store/engine.ts'
import { appendNumbered, bytesOf, docKey, keepNone, type LiveLog, loadLive, textOf } from './sample-data.ts'
import type { Bench } from './suite.ts'

export function authorshipContract(bench: () => Bench): void {
  const doc = docKey('authored')
  const log = () => bench().engine.log
  const compact = (expectBase: number, upTo: number, attribution?: string | null) =>
    log().compact(
      doc,
      1,
      expectBase,
      upTo,
      bytesOf(`1 to ${upTo}`),
      keepNone,
      attribution === undefined || attribution === null ? attribution : bytesOf(attribution),
    )
  const attribution = async (): Promise<string | null | undefined> => {
    const { attribution } = await loadLive(log(), doc, { attribution: true })
    return attribution && textOf(attribution)
  }
  const authors = ({ entries }: LiveLog) =>
    entries.map(({ by, source = 'socket', meta = null }) => [by, source, meta])

  it('[ENG-84] stores the source and the data of an update with its author', async () => {
    const meta = { run: 'r-1', step: 2, draft: true, note: null, text: '"\u0001\n😀' }
    const appended: LogUpdate[] = [
      { bytes: bytesOf('1'), by: 'ann' },
      { bytes: bytesOf('2'), by: 'ann', source: 'rest', meta },
      { bytes: bytesOf('3'), by: '', source: 'import', meta: null },
      { bytes: bytesOf('4'), by: '\u0001 not packed', source: 'socket' },
      { bytes: bytesOf('5'), by: 'Zoë', source: 'undo' },
    ]
    const expected = [
      ['ann', 'socket', null],
      ['ann', 'rest', meta],
      ['', 'import', null],
      ['\u0001 not packed', 'socket', null],
      ['Zoë', 'undo', null],
    ]
    await log().append(doc, 'create', appended.slice(0, 2))
    await Promise.all([
      log().append(doc, 1, appended.slice(2, 4), { expectHead: 2 }),
      log().append(doc, 1, appended.slice(4)),
    ])
    expect(authors(await loadLive(log(), doc))).toEqual(expected)
    expect(authors(await loadLive(log(), doc, { since: 1, bytesMax: 100 }))).toEqual(expected.slice(1))
    expect((await loadLive(log(), doc)).changed.by).toBe('Zoë')
    const { entries } = (await log().loadAt(doc, 1, 5)) ?? { entries: [] }
    expect(entries[1]).toMatchObject({ by: 'ann', source: 'rest', meta })
    await bench().reopen()
    expect(authors(await loadLive(log(), doc))).toEqual(expected)
  })

  it('[ENG-84] keeps only the user id at the time of the last change', async () => {
    await log().append(doc, 'create', [{ bytes: bytesOf('1'), by: 'ann', source: 'rest', meta: { a: 1 } }])
    await compact(0, 1)
    expect((await loadLive(log(), doc)).changed.by).toBe('ann')
  })

  it('[ENG-85] stores an attribution with the snapshot, and returns it only if the caller requests it', async () => {
    await appendNumbered(log(), doc, 'create', 1, 5)
    expect(await attribution()).toBeNull()
    const bytes = bytesOf('of 3')
    expect(await log().compact(doc, 1, 0, 3, bytesOf('1 to 3'), keepNone, bytes)).toBe(true)
    bytes.fill(0)
    expect(await attribution()).toBe('of 3')
    expect(await loadLive(log(), doc)).not.toHaveProperty('attribution')
    await appendNumbered(log(), doc, 1, 6, 1)
    const loaded = await loadLive(log(), doc, { attribution: true })
    expect([loaded.base, textOf(loaded.snapshot), loaded.entries.length]).toEqual([3, '1 to 3', 3])
    expect(textOf(loaded.attribution ?? null)).toBe('of 3')
    await bench().reopen()
    expect(await attribution()).toBe('of 3')
  })

  it('[ENG-85] replaces the attribution in the commit of a compaction, and changes nothing if the compaction is rejected', async () => {
    await appendNumbered(log(), doc, 'create', 1, 5)
    await compact(0, 2, 'of 2')
    expect(await compact(0, 4, 'late')).toBe(false)
    expect(await attribution()).toBe('of 2')
    expect(await compact(2, 4, 'of 4')).toBe(true)
    expect(await attribution()).toBe('of 4')
    expect(await compact(4, 4, 'of 4 again')).toBe(true)
    expect(await attribution()).toBe('of 4 again')
    expect(await compact(4, 5)).toBe(true)
    expect(await attribution()).toBeNull()
  })

  it('[ENG-85] keeps the attribution if older versions are kept', async () => {
    await appendNumbered(log(), doc, 'create', 1, 4)
    for (const upTo of [2, 3, 4]) {
      const { base } = await loadLive(log(), doc)
      await log().compact(doc, 1, base, upTo, bytesOf(`1 to ${upTo}`), 0, bytesOf(`of ${upTo}`))
    }
    expect(await attribution()).toBe('of 4')
    expect(textOf((await log().loadAt(doc, 1, 2))?.snapshot ?? null)).toBe('1 to 2')
  })

  it('[ENG-86] deletes the attribution with the document', async () => {
    await appendNumbered(log(), doc, 'create', 1, 2)
    await compact(0, 2, 'secret')
    await log().destroy(doc)
    await log().append(doc, 'recreate', [{ bytes: bytesOf('a'), by: 'ann' }])
    expect(await attribution()).toBeNull()
    await log().compact(doc, 2, 0, 1, bytesOf('1 to 1'), keepNone)
    expect(await attribution()).toBeNull()
  })

  it('[ENG-89] a compaction that forgets a user removes the user of the last change, and no other user', async () => {
    await log().append(doc, 'create', [{ bytes: bytesOf('1'), by: 'ann' }])
    await log().append(doc, 1, [{ bytes: bytesOf('2'), by: 'bob' }])
    const forget = async (userId: string) => {
      const { base } = await loadLive(log(), doc)
      await log().compact(doc, 1, base, 2, bytesOf('1 to 2'), keepNone, null, userId)
      return (await loadLive(log(), doc)).changed
    }
    const before = await forget('ann')
    expect(before.by).toBe('bob')
    expect(await forget('bob')).toEqual({ at: before.at, by: '' })
    await bench().reopen()
    await log().append(doc, 1, [{ bytes: bytesOf('3'), by: 'cem' }])
    await log().compact(doc, 1, 2, 2, bytesOf('1 to 2'), keepNone, null, 'cem')
    expect((await loadLive(log(), doc)).changed.by).toBe('cem')
  })
}
