import { expect, it } from 'vitest'
import type { Key } from '../../../src/core/store/engine.ts'
import { bytesOf, textOf } from './sample-data.ts'
import type { Bench } from './suite.ts'

export function blobContract(bench: () => Bench): void {
  const blobs = () => bench().engine.blobs

  it('[ENG-35] returns the last blob that was stored, and returns nothing after the blob is deleted', async () => {
    const big = Buffer.alloc(16 * 1024 * 1024, 'weft ')
    await blobs().put(['v', '1'], bytesOf('one'))
    await blobs().put(['v', '1'], bytesOf('two'))
    await blobs().put(['v', '2'], big)
    await blobs().put(['v', '3'], new Uint8Array(0))
    expect(textOf(await blobs().get(['v', '1']))).toBe('two')
    expect(Buffer.compare((await blobs().get(['v', '2'])) as Uint8Array, big)).toBe(0)
    expect(textOf(await blobs().get(['v', '3']))).toBe('')
    expect(await blobs().get(['v'])).toBeNull()
    await blobs().delete(['v', '1'])
    await blobs().delete(['never'])
    expect(await blobs().get(['v', '1'])).toBeNull()
  })

  it('[ENG-35] copies the passed bytes before the call returns', async () => {
    const bytes = Buffer.from('bytes')
    const put = blobs().put(['v'], bytes)
    bytes.fill(0)
    await put
    expect(textOf(await blobs().get(['v']))).toBe('bytes')
  })

  it('[ENG-36] lists the keys below a prefix of whole segments, in order and in pages', async () => {
    const keys: Key[] = [['a'], ['a', '1'], ['a', '2'], ['a\0'], ['ab'], ['b']]
    for (const key of [...keys].reverse()) await blobs().put(key, bytesOf('x'))
    expect(await blobs().list([], { limit: 100 })).toEqual(keys)
    expect(await blobs().list(['a'], { limit: 100 })).toEqual(keys.slice(0, 3))
    expect(await blobs().list(['a'], { after: ['a'], limit: 1 })).toEqual([['a', '1']])
    expect(await blobs().list(['a'], { limit: 0 })).toEqual([])
  })
}
