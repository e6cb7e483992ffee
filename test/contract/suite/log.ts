import { expect, it } from 'vitest'
import type { AppendTo, Key } from '../../../src/core/store/engine.ts'
import {
  appendNumbered,
  bytesOf,
  docKey,
  entriesOf,
  keepNone,
  loadLive,
  numbered,
  outcomeOf,
  textOf,
  updates,
} from './sample-data.ts'
import type { Bench } from './suite.ts'

export function logContract(bench: () => Bench): void {
  const doc = docKey('log')
  const log = () => bench().engine.log

  it('[ENG-1] numbers updates from 1 without gaps and in the order of calls, even if appends are concurrent', async () => {
    const calls = [log().append(doc, 'create', numbered(1, 1))]
    let next = 2
    for (let count = 1; count <= 40; count++) {
      calls.push(appendNumbered(log(), doc, 1, next, (count % 3) + 1))
      next += (count % 3) + 1
    }
    const appended = await Promise.all(calls)
    let last = 0
    for (const each of appended) {
      expect(each.epoch).toBe(1)
      expect(each.first).toBe(last + 1)
      last = each.last
    }
    const loaded = await loadLive(log(), doc)
    expect(entriesOf(loaded)).toEqual(
      Array.from({ length: next - 1 }, (_, index) => [index + 1, String(index + 1)]),
    )
    expect(loaded.head).toBe(next - 1)
  })

  it('[ENG-1] gives the entries of an append the time that the caller names', async () => {
    await log().append(doc, 'create', updates('a'), { at: 1_000 })
    await log().append(doc, 1, updates('b'), { at: 2_000 })
    const { entries, changed } = await loadLive(log(), doc)
    expect([...entries.map(({ at }) => at), changed.at]).toEqual([1_000, 2_000, 2_000])
  })

  it('[ENG-2] resolves the appends of one document in the order of calls', async () => {
    const order: number[] = []
    const note = (index: number) => () => order.push(index)
    const calls = [log().append(doc, 'create', updates('0')).then(note(0))]
    for (let index = 1; index < 20; index++) {
      const options =
        index % 5 === 0 ? { jobs: [{ queue: 'q', id: `${index}`, at: 0, payload: bytesOf('') }] } : {}
      calls.push(
        log()
          .append(doc, 1, updates(`${index}`), options)
          .then(note(index)),
      )
    }
    await Promise.all(calls)
    expect(order).toEqual(Array.from({ length: 20 }, (_, index) => index))
    expect(entriesOf(await loadLive(log(), doc)).map(([, text]) => text)).toEqual(order.map(String))
  })

  it('[ENG-3] creates a log only once, and accepts an append only if it names the current epoch', async () => {
    expect(await outcomeOf(log().append(doc, 1, updates('a')))).toBe('absent')
    expect(await log().append(doc, 'create', updates('a'))).toMatchObject({ epoch: 1, first: 1, last: 1 })
    expect(await outcomeOf(log().append(doc, 'create', updates('b')))).toBe('exists')
    expect(await outcomeOf(log().append(doc, 'recreate', updates('b')))).toBe('exists')
    expect(await outcomeOf(log().append(doc, 2, updates('b')))).toBe('epoch')
    expect(await log().append(doc, 1, updates('b', 'c'))).toMatchObject({ epoch: 1, first: 2, last: 3 })
    expect(await log().append(docKey('other'), 'recreate', updates('a'))).toMatchObject({
      epoch: 1,
      first: 1,
      last: 1,
    })
  })

  it('[ENG-3] creates a log once when several appends create it', async () => {
    const calls = Array.from({ length: 8 }, (_, index) => log().append(doc, 'create', updates(`${index}`)))
    const outcomes = await Promise.all(calls.map(outcomeOf))
    expect(outcomes).toEqual(['appended', ...Array.from({ length: 7 }, () => 'exists')])
    expect(entriesOf(await loadLive(log(), doc))).toEqual([[1, '0']])
  })

  it('[ENG-4] compares expectHead with the head that appends in progress will leave', async () => {
    await log().append(doc, 'create', updates('a'), { expectHead: 0 })
    const outcomes = await Promise.all([
      outcomeOf(log().append(doc, 1, updates('b'), { expectHead: 1 })),
      outcomeOf(log().append(doc, 1, updates('never'), { expectHead: 1 })),
      outcomeOf(log().append(doc, 1, updates('c'), { expectHead: 2 })),
      outcomeOf(log().append(doc, 1, updates('never'), { expectHead: 4 })),
    ])
    expect(outcomes).toEqual(['appended', 'moved', 'appended', 'moved'])
    expect(entriesOf(await loadLive(log(), doc))).toEqual([
      [1, 'a'],
      [2, 'b'],
      [3, 'c'],
    ])
  })

  it('[ENG-4] rejects an append that expects another head than the log has', async () => {
    await log().append(doc, 'create', updates('a', 'b', 'c'))
    const append = (to: AppendTo, expectHead: number) =>
      outcomeOf(log().append(doc, to, updates('never'), { expectHead }))
    for (const head of [0, 1, 2, 4]) expect(await append(1, head)).toBe('moved')
    for (const to of ['create', 'recreate'] as const) expect(await append(to, 0)).toBe('exists')
    expect(await append(2, 3)).toBe('epoch')
    expect(await log().append(doc, 1, updates('d'), { expectHead: 3 })).toMatchObject({ first: 4 })
    await log().destroy(doc)
    expect(await append(1, 4)).toBe('deleted')
    await log().append(doc, 'recreate', updates('e'), { expectHead: 0 })
    expect(await append(1, 1)).toBe('epoch')
    expect(await log().append(doc, 2, updates('f'), { expectHead: 1 })).toMatchObject({ epoch: 2, last: 2 })
    expect(entriesOf(await loadLive(log(), doc))).toEqual([
      [1, 'e'],
      [2, 'f'],
    ])
  })

  it('[ENG-5] a rejected append writes nothing and uses no sequence number', async () => {
    await log().append(doc, 'create', updates('a'))
    const options = { expectHead: 7, jobs: [{ queue: 'queue', id: 'never', at: 0, payload: bytesOf('') }] }
    expect(await outcomeOf(log().append(doc, 1, updates('never'), options))).toBe('moved')
    expect(await outcomeOf(log().append(doc, 1, []))).toBe('RangeError')
    expect(await log().append(doc, 1, updates('b'))).toMatchObject({ epoch: 1, first: 2, last: 2 })
    expect(await bench().engine.queue.claim('queue', 10, 1_000)).toEqual([])
  })

  it('[ENG-6] returns bytes, user and time of each update unchanged', async () => {
    const { clock } = bench()
    const big = Buffer.alloc(8 * 1024 * 1024, 'weft ')
    const at = clock.now()
    await log().append(doc, 'create', [
      { bytes: new Uint8Array(0), by: '' },
      { bytes: Uint8Array.of(0), by: 'Ænne \u{1f9f5}' },
    ])
    clock.advance(5)
    await log().append(doc, 1, [{ bytes: big, by: 'u' }])
    const { entries, changed } = await loadLive(log(), doc)
    expect(entries.map(({ seq, by, at }) => ({ seq, by, at }))).toEqual([
      { seq: 1, by: '', at },
      { seq: 2, by: 'Ænne \u{1f9f5}', at },
      { seq: 3, by: 'u', at: at + 5 },
    ])
    expect(entries.map(({ bytes }) => bytes.length)).toEqual([0, 1, big.length])
    expect(Buffer.compare(entries[2]?.bytes as Uint8Array, big)).toBe(0)
    expect(changed).toEqual({ at: at + 5, by: 'u' })
  })

  it('[ENG-7] copies the passed bytes before the call returns', async () => {
    const buffer = Buffer.from('first')
    const made = log().append(doc, 'create', [{ bytes: buffer, by: '' }])
    buffer.write('XXXXX')
    await made
    buffer.write('again')
    const appended = log().append(doc, 1, [{ bytes: buffer, by: '' }])
    buffer.write('XXXXX')
    await appended
    expect((await loadLive(log(), doc)).entries.map(({ bytes }) => textOf(bytes))).toEqual(['first', 'again'])
  })

  it('[ENG-8] loads a long log in pages without gap or repetition', async () => {
    await appendNumbered(log(), doc, 'create', 1, 50)
    for (let from = 51; from <= 200; from += 10) await appendNumbered(log(), doc, 1, from, 10)
    const seen: (string | null)[] = []
    let page = await loadLive(log(), doc, { bytesMax: 40 })
    for (;;) {
      expect(page.head).toBe(200)
      expect(page.changed.by).toBe('user of 200')
      const bytes = page.entries.reduce((sum, entry) => sum + entry.bytes.length, 0)
      expect(page.entries.length === 1 || bytes <= 40).toBe(true)
      seen.push(...entriesOf(page).map(([, text]) => text))
      const last = page.entries.at(-1)
      if (!page.more || last === undefined) break
      page = await loadLive(log(), doc, { since: last.seq, epoch: page.epoch, bytesMax: 40 })
    }
    expect(seen).toEqual(numbered(1, 200).map(({ bytes }) => textOf(bytes)))
  })

  it('[ENG-8] returns an entry that is larger than a page in a page of its own', async () => {
    await log().append(doc, 'create', updates('a long entry', 'b'))
    const page = await loadLive(log(), doc, { bytesMax: 1 })
    expect(entriesOf(page)).toEqual([[1, 'a long entry']])
    expect(page.more).toBe(true)
  })

  it('[ENG-9] returns the entries after `since`, or everything if the log cannot start at `since`', async () => {
    await appendNumbered(log(), doc, 'create', 1, 4)
    const after = async (options: { since: number; epoch?: number }) =>
      entriesOf(await loadLive(log(), doc, options)).map(([seq]) => seq)
    expect(await after({ since: 2 })).toEqual([3, 4])
    expect(await after({ since: 2, epoch: 1 })).toEqual([3, 4])
    expect(await after({ since: 4 })).toEqual([])
    expect(await after({ since: 2, epoch: 2 })).toEqual([1, 2, 3, 4])
    expect(await after({ since: 9 })).toEqual([1, 2, 3, 4])
    await log().compact(doc, 1, 0, 3, bytesOf('1 to 3'), keepNone)
    const honored = await loadLive(log(), doc, { since: 3 })
    expect([textOf(honored.snapshot), entriesOf(honored)]).toEqual([null, [[4, '4']]])
    const tooOld = await loadLive(log(), doc, { since: 2 })
    expect([textOf(tooOld.snapshot), entriesOf(tooOld)]).toEqual(['1 to 3', [[4, '4']]])
  })

  it('[ENG-10] returns the heads of live documents in the requested order', async () => {
    const [gone, live, none] = [docKey('gone'), docKey('live'), docKey('none')]
    await log().append(gone, 'create', updates('a'))
    await log().destroy(gone)
    await appendNumbered(log(), live, 'create', 1, 3)
    const head = { epoch: 1, head: 3, base: 0, oldest: 0 }
    expect(await log().heads([none, live, gone, live])).toEqual([null, head, null, head])
    await log().compact(live, 1, 0, 2, bytesOf('1 to 2'), 0)
    expect(await log().heads([live])).toEqual([{ ...head, base: 2 }])
    await log().compact(live, 1, 2, 2, bytesOf('1 to 2'), keepNone)
    expect(await log().heads([live])).toEqual([{ ...head, base: 2, oldest: 2 }])
  })

  it('[ENG-11] lists the live documents below a prefix of whole segments, in order and in pages', async () => {
    const names: Key[] = [
      ['a'],
      ['a', ''],
      ['a', 'b'],
      ['a', 'b', 'c'],
      ['a', 'c'],
      ['a\0'],
      ['aa', 'b'],
      ['b'],
    ]
    for (const name of [...names].reverse()) await log().append(name, 'create', updates('x'))
    await log().destroy(['a', 'c'])
    expect(await log().list([], { limit: 100 })).toEqual(names.filter((name) => name.join() !== 'a,c'))
    expect(await log().list(['a'], { limit: 100 })).toEqual([['a'], ['a', ''], ['a', 'b'], ['a', 'b', 'c']])
    expect(await log().list(['a'], { limit: 2 })).toEqual([['a'], ['a', '']])
    expect(await log().list(['a'], { after: ['a', ''], limit: 2 })).toEqual([
      ['a', 'b'],
      ['a', 'b', 'c'],
    ])
    expect(await log().list(['nothing'], { limit: 2 })).toEqual([])
    expect(await log().list([], { limit: 0 })).toEqual([])
  })
}
