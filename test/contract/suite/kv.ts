import { expect, it } from 'vitest'
import type { Key, KvRange } from '../../../src/core/store/engine.ts'
import { bytesOf, during, textOf } from './sample-data.ts'
import type { Bench } from './suite.ts'

const part: Key = ['organization']

export function kvContract(bench: () => Bench): void {
  const kv = () => bench().engine.kv
  const put = (...keys: readonly Key[]) =>
    kv().commit(part, { puts: keys.map((key) => ({ key, value: bytesOf(key.join('/')) })) })
  const scan = async (range: KvRange) => (await kv().scan(part, range)).map(({ key }) => key.join('/'))
  const get = async (...keys: readonly Key[]) => (await kv().get(part, keys)).map(textOf)

  /** Checks `a` and another key, and writes in all ways if the check succeeds. */
  const attempt = (key: Key, value: string | null) =>
    kv().commit(part, {
      checks: [
        { key: ['a'], value: bytesOf('a') },
        { key, value: value === null ? null : bytesOf(value) },
      ],
      puts: [{ key: ['new'], value: bytesOf('x') }],
      dels: [['a']],
      jobs: [{ queue: 'queue', id: 'never', at: 0, payload: bytesOf('') }],
    })

  it('[ENG-22] returns the last written values in the requested order', async () => {
    expect(await put(['a'], ['b'])).toBe(true)
    expect(await kv().commit(part, { puts: [{ key: ['a'], value: bytesOf('') }], dels: [['none']] })).toBe(
      true,
    )
    expect(await get(['b'], ['none'], ['a'], ['b'])).toEqual(['b', null, '', 'b'])
    await kv().commit(part, { dels: [['b']] })
    expect(await get(['b'])).toEqual([null])
    expect(await kv().get(['other'], [['a']])).toEqual([null])
    expect(await get()).toEqual([])
  })

  it('[ENG-22] copies the passed bytes before the call returns', async () => {
    const value = Buffer.from('value')
    const committed = kv().commit(part, {
      puts: [{ key: ['a'], value }],
      checks: [{ key: ['b'], value: null }],
    })
    value.fill(0)
    await committed
    expect(await get(['a'])).toEqual(['value'])
  })

  it('[ENG-23] scans a prefix in both directions, starting at a key, and returns at most a given number of entries', async () => {
    await put(['a'], ['b'], ['b', ''], ['b', '1'], ['b', '2'], ['b', '2', 'x'], ['b\0'], ['ba', '1'], ['c'])
    const all = ['a', 'b', 'b/', 'b/1', 'b/2', 'b/2/x', 'b\0', 'ba/1', 'c']
    const inside = all.slice(1, 6)
    expect(await scan({ limit: 100 })).toEqual(all)
    expect(await scan({ limit: 100, reverse: true })).toEqual([...all].reverse())
    expect(await scan({ prefix: ['b'], limit: 100 })).toEqual(inside)
    expect(await scan({ prefix: ['b'], limit: 100, reverse: true })).toEqual([...inside].reverse())
    expect(await scan({ prefix: ['b'], limit: 2 })).toEqual(['b', 'b/'])
    expect(await scan({ prefix: ['b'], limit: 2, reverse: true })).toEqual(['b/2/x', 'b/2'])
    expect(await scan({ prefix: ['b'], after: ['b', '1'], limit: 100 })).toEqual(['b/2', 'b/2/x'])
    expect(await scan({ prefix: ['b'], after: ['b', '1'], limit: 100, reverse: true })).toEqual(['b/', 'b'])
    expect(await scan({ prefix: ['b'], after: ['b', '15'], limit: 1 })).toEqual(['b/2'])
    expect(await scan({ after: ['b', '2', 'x'], limit: 2 })).toEqual(['b\0', 'ba/1'])
    expect(await scan({ prefix: ['b'], after: ['a'], limit: 1 })).toEqual(['b'])
    expect(await scan({ prefix: ['b'], after: ['c'], limit: 100 })).toEqual([])
    expect(await scan({ prefix: ['b'], after: ['a'], limit: 100, reverse: true })).toEqual([])
    expect(await scan({ limit: 0 })).toEqual([])
  })

  it('[ENG-24] writes nothing when a check of a commit fails', async () => {
    await put(['a'])
    expect(await attempt(['a'], 'other')).toBe(false)
    expect(await attempt(['a'], null)).toBe(false)
    expect(await attempt(['none'], '')).toBe(false)
    expect(await get(['a'], ['new'])).toEqual(['a', null])
    expect(await bench().engine.queue.claim('queue', 10, 1_000)).toEqual([])
    expect(await attempt(['none'], null)).toBe(true)
    expect(await get(['a'], ['new'])).toEqual([null, 'x'])
  })

  it('[ENG-24] in a check, distinguishes an empty value from an absent value', async () => {
    await kv().commit(part, { puts: [{ key: ['empty'], value: new Uint8Array(0) }] })
    const check = (value: Uint8Array | null) => kv().commit(part, { checks: [{ key: ['empty'], value }] })
    expect([await check(null), await check(new Uint8Array(0))]).toEqual([false, true])
  })

  it('[ENG-24] checks also see commits in progress, so that exactly one of several concurrent commits succeeds', async () => {
    await kv().commit(part, { puts: [{ key: ['count'], value: bytesOf('0') }] })
    for (let round = 0; round < 10; round++) {
      const attempts = Array.from({ length: 5 }, () =>
        kv().commit(part, {
          checks: [{ key: ['count'], value: bytesOf(`${round}`) }],
          puts: [{ key: ['count'], value: bytesOf(`${round + 1}`) }],
        }),
      )
      expect(await Promise.all(attempts)).toEqual([true, false, false, false, false])
    }
    expect(await get(['count'])).toEqual(['10'])
  })

  it('[ENG-24] after a check has failed, a read returns the value that made it fail', async () => {
    for (let round = 0; round < 10; round++) {
      const [, lost] = await Promise.all([
        kv().commit(part, { puts: [{ key: ['met'], value: bytesOf(`${round}`) }] }),
        kv()
          .commit(part, { checks: [{ key: ['met'], value: bytesOf('before') }] })
          .then(async (held) => ({ held, found: await get(['met']) })),
      ])
      expect(lost).toEqual({ held: false, found: [`${round}`] })
    }
  })

  it('[ENG-24] accepts a chain of commits in which each one checks the value of the previous one without waiting for it', async () => {
    const commits = Array.from({ length: 30 }, (_, index) =>
      kv().commit(part, {
        checks: [{ key: ['chain'], value: index === 0 ? null : bytesOf(`${index - 1}`) }],
        puts: [{ key: ['chain'], value: bytesOf(`${index}`) }],
      }),
    )
    expect((await Promise.all(commits)).every(Boolean)).toBe(true)
    expect(await get(['chain'])).toEqual(['29'])
  })

  it('[ENG-25] applies the commits of a partition in the order of calls, even if one of them must read first', async () => {
    for (let round = 0; round < 10; round++) {
      const value = (text: string) => [{ key: ['order'], value: bytesOf(`${text} ${round}`) }]
      await Promise.all([
        kv().commit(part, { checks: [{ key: [`unread ${round}`], value: null }], puts: value('first') }),
        kv().commit(part, { puts: value('second') }),
      ])
      expect(await get(['order'])).toEqual([`second ${round}`])
    }
  })

  it('[ENG-25] shows a commit completely or not at all', async () => {
    const keys: Key[] = Array.from({ length: 20 }, (_, index) => ['k', String(index).padStart(2, '0')])
    const write = async () => {
      for (let round = 0; round < 40; round++) {
        const value = bytesOf(String(round))
        await kv().commit(part, { puts: keys.map((key) => ({ key, value })) })
      }
    }
    await during(write(), async () => {
      const seen = (await kv().scan(part, { limit: 100 })).map(({ value }) => textOf(value))
      expect(new Set(seen).size).toBeLessThanOrEqual(1)
      expect([0, keys.length]).toContain(seen.length)
    })
  })

  it('[ENG-75] includes in a repeated scan all writes that were acknowledged before the scan', async () => {
    let acknowledged = -1
    const write = async () => {
      for (let round = 0; round < 100; round++) {
        await kv().commit(part, { puts: [{ key: ['n'], value: bytesOf(String(round)) }] })
        acknowledged = round
      }
    }
    await during(write(), async () => {
      const before = acknowledged
      const [found] = await kv().scan(part, { limit: 3 })
      expect(found === undefined ? -1 : Number(textOf(found.value))).toBeGreaterThanOrEqual(before)
    })
  })
}
