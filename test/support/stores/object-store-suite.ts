import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import type { ObjectStore, StoredObject } from '../../../src/capabilities/backups/object-store.ts'

/** Returns all objects whose names start with a prefix, sorted by name. */
export async function listed(store: ObjectStore, prefix: string): Promise<readonly StoredObject[]> {
  const found: StoredObject[] = []
  for await (const object of store.list(prefix)) found.push(object)
  return found.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

interface StoreTraits {
  /** Number of objects that the place lists at once. */
  readonly pageLength: number
  /** False if concurrent writes of one name can mix in the place itself. */
  readonly isAtomic: boolean
}

/**
 * Defines the tests that every object store must pass.
 * @param open returns a store without objects
 */
export function describeObjectStore(
  open: () => Promise<ObjectStore>,
  { pageLength, isAtomic }: StoreTraits,
): void {
  it('[BKP-1] returns what was put, also empty objects and several megabytes, and null for an absent object', async () => {
    const store = await open()
    const large = randomBytes(5_000_000)
    await store.put('chunks/ab/large', large)
    await store.put('empty', new Uint8Array())
    expect((await store.get('chunks/ab/large'))?.equals(large)).toBe(true)
    expect(await store.get('empty')).toEqual(Buffer.alloc(0))
    expect([await store.get('chunks/ab'), await store.get('absent'), await store.get('chunks/ab/l')]).toEqual(
      [null, null, null],
    )
  })

  it('[BKP-1] replaces an object as a whole', async () => {
    const store = await open()
    await store.put('a/one', Buffer.alloc(200_000, 'x'))
    await store.put('a/one', Buffer.from('short'))
    expect(String(await store.get('a/one'))).toBe('short')
    expect(await listed(store, '')).toEqual([{ name: 'a/one', size: 5 }])
  })

  if (isAtomic)
    it('[BKP-1] concurrent writes of one name leave one of them', async () => {
      const store = await open()
      const contents = Array.from({ length: 6 }, (_, index) => Buffer.alloc(200_000 + index, index))
      await Promise.all(contents.map((content) => store.put('a/one', content)))
      const kept = await store.get('a/one')
      expect(contents.some((content) => kept?.equals(content))).toBe(true)
    })

  it('[BKP-1] lists all objects below a prefix with their sizes, also more than one page', async () => {
    const store = await open()
    const names = Array.from({ length: pageLength + 50 }, (_, index) => `b/${index % 7}/x.${index}-Z`)
    for (let at = 0; at < names.length; at += 50)
      await Promise.all(names.slice(at, at + 50).map((name) => store.put(name, Buffer.from(name))))
    await store.put('bc', Buffer.from('not below'))
    expect(await listed(store, 'b/')).toEqual(names.toSorted().map((name) => ({ name, size: name.length })))
    expect((await listed(store, 'b/3/x.10')).map(({ name }) => name)).toEqual(
      names.filter((name) => name.startsWith('b/3/x.10')).toSorted(),
    )
    expect(await listed(store, 'none/')).toEqual([])
  })

  it('[BKP-1] deletes an object, and does nothing for an absent one', async () => {
    const store = await open()
    await store.put('d/one', Buffer.from('1'))
    await store.put('d/two', Buffer.from('2'))
    await store.delete('d/one')
    await store.delete('d/one')
    await store.delete('never')
    expect((await listed(store, '')).map(({ name }) => name)).toEqual(['d/two'])
    expect(await store.removeIncomplete()).toBe(0)
  })

  it('[BKP-1] rejects names that could leave the place of the store', async () => {
    const store = await open()
    for (const name of ['', '/a', 'a/', '../a', 'a/../../b', '.hidden', 'a//b', 'a\\b', 'a\0b', 'a?b']) {
      await expect(async () => store.put(name, Buffer.from('x'))).rejects.toThrow('is not the name of')
      await expect(async () => store.get(name)).rejects.toThrow('is not the name of')
      await expect(async () => store.delete(name)).rejects.toThrow('is not the name of')
    }
    expect(await listed(store, '')).toEqual([])
  })
}
