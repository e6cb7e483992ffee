import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Key } from '../../../src/core/store/engine.ts'
import { bytesOf, docKey, textOf, updates } from './sample-data.ts'
import type { Bench } from './suite.ts'

/** Characters at the edges of encodings: escapes, separators, the first and last of each length, astral ones. */
const edges =
  '\0 \u0001 \u0002 a / \u007f \u0080 \u00fe \u00ff \u07ff \ud7ff \ue000 \ufffd \uffff \u{10000} \u{1f9f5} \u{10ffff}'
const edge = fc.constantFrom(...edges.split(' '))
const segment = fc.oneof(fc.string({ unit: edge, maxLength: 3 }), fc.string({ unit: 'binary', maxLength: 4 }))
const key = fc.array(segment, { minLength: 1, maxLength: 4 })
const distinctKeys = fc.uniqueArray(key, {
  minLength: 1,
  maxLength: 12,
  comparator: (a, b) => compare(a, b) === 0,
})

/** The promised order: by segment, each by its UTF-8 bytes, a shorter key first. */
export function compare(a: Key, b: Key): number {
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const order = Buffer.compare(Buffer.from(a[index] as string), Buffer.from(b[index] as string))
    if (order !== 0) return order
  }
  return a.length - b.length
}

const startsWith = (key: Key, prefix: Key): boolean =>
  key.length >= prefix.length && prefix.every((segment, index) => segment === key[index])

/** A prefix that some of the keys have. */
const cut = (keys: readonly Key[], pick: number, length: number): Key =>
  (keys[pick % keys.length] as Key).slice(0, length)

export function keyContract(bench: () => Bench): void {
  let rounds = 0

  it('[ENG-20] for any well-formed segments, keeps Kv keys separate, in order and inside their prefix', async () => {
    const { kv } = bench().engine
    await fc.assert(
      fc.asyncProperty(
        distinctKeys,
        fc.nat(),
        fc.nat(3),
        fc.boolean(),
        async (keys, pick, length, reverse) => {
          const part = ['round', String(rounds++)]
          await kv.commit(part, { puts: keys.map((key) => ({ key, value: bytesOf(JSON.stringify(key)) })) })
          const prefix = cut(keys, pick, length)
          const expected = keys.filter((key) => startsWith(key, prefix)).sort(compare)
          if (reverse) expected.reverse()
          const found = await kv.scan(part, { prefix, reverse, limit: 100 })
          expect(found.map(({ key }) => key)).toEqual(expected)
          for (const { key, value } of found) expect(textOf(value)).toBe(JSON.stringify(key))
        },
      ),
      { numRuns: 60 },
    )
  })

  it('[ENG-20] for any well-formed segments, keeps Kv partitions separate', async () => {
    const { kv } = bench().engine
    await fc.assert(
      fc.asyncProperty(distinctKeys, key, async (parts, key) => {
        const root = ['parts', String(rounds++)]
        for (const part of parts) {
          await kv.commit([...root, ...part], { puts: [{ key, value: bytesOf(JSON.stringify(part)) }] })
        }
        for (const part of parts) {
          const found = await kv.scan([...root, ...part], { limit: 100 })
          expect(found.map(({ key, value }) => [key, textOf(value)])).toEqual([[key, JSON.stringify(part)]])
        }
      }),
      { numRuns: 25 },
    )
  })

  it('[ENG-20] for any well-formed segments, keeps documents separate, in order and inside their prefix', async () => {
    const { log } = bench().engine
    await fc.assert(
      fc.asyncProperty(distinctKeys, fc.nat(), fc.nat(3), async (keys, pick, length) => {
        const root = ['documents', String(rounds++)]
        const docs = keys.map((key) => [...root, ...key])
        await Promise.all(docs.map((doc) => log.append(doc, 'create', updates(JSON.stringify(doc)))))
        for (const doc of docs) {
          const loaded = await log.load(doc)
          expect(loaded.state === 'live' && loaded.entries.map(({ bytes }) => textOf(bytes))).toEqual([
            JSON.stringify(doc),
          ])
        }
        const prefix = [...root, ...cut(keys, pick, length)]
        const inside = docs.filter((doc) => startsWith(doc, prefix))
        expect(await log.list(prefix, { limit: 100 })).toEqual(inside.sort(compare))
        await log.destroyPrefix(prefix)
        const outside = docs.filter((doc) => !startsWith(doc, prefix))
        expect(await log.list(root, { limit: 100 })).toEqual(outside.sort(compare))
      }),
      { numRuns: 25 },
    )
  })

  it('[ENG-21] rejects keys that are not well-formed, because they would share bytes with other keys', async () => {
    const { log, kv, blobs } = bench().engine
    const broken = docKey('\ud800')
    await expect(log.append(broken, 'create', updates('x'))).rejects.toThrow(TypeError)
    await expect((async () => log.load(broken))()).rejects.toThrow(TypeError)
    await expect((async () => kv.get(['part'], [['\udfff']]))()).rejects.toThrow(TypeError)
    await expect(blobs.put(broken, bytesOf('x'))).rejects.toThrow(TypeError)
  })
}
