import { afterEach, expect, it } from 'vitest'
import type { ObjectStore } from '../../../src/capabilities/backups/object-store.ts'
import { SealedObjects } from '../../../src/capabilities/backups/objects/sealed-objects.ts'
import { newFolder, openFolder, removeFolders, testKey } from '../../support/stores/backup-repository.ts'

afterEach(removeFolders)

const content = Buffer.alloc(10_000, 'x')

/** Opens a folder with one object, whose first reads fail. */
async function openFailing(failures: number) {
  const folder = openFolder(await newFolder())
  let reads = 0
  const store: ObjectStore = {
    name: folder.name,
    put: (name, bytes) => folder.put(name, bytes),
    get: (name) => (++reads <= failures ? Promise.reject(new Error('the disk is away')) : folder.get(name)),
    list: (prefix) => folder.list(prefix),
    delete: (name) => folder.delete(name),
    removeIncomplete: () => folder.removeIncomplete(),
  }
  const objects = new SealedObjects({ store, key: testKey })
  const reference = { name: objects.newName(), bytes: content.length }
  await objects.put(reference.name, content)
  return { objects, reference, reads: () => reads }
}

it('[VER-26] a backup repeats a failed read, which other calls do not', async () => {
  const { objects, reference, reads } = await openFailing(2)
  await expect(objects.get(reference)).rejects.toThrow('the disk is away')
  expect(Buffer.from(await objects.getForBackup(reference)).equals(content)).toBe(true)
  expect(reads()).toBe(3)
})

it('[VER-26] a shutdown ends the pause before a backup repeats a read', async () => {
  const { objects, reference, reads } = await openFailing(1_000)
  const read = objects.getForBackup(reference)
  const failed = expect(read).rejects.toThrow('the server is stopping')
  await expect.poll(reads).toBe(1)
  await new Promise((resolve) => setTimeout(resolve, 100))
  objects.interrupt()
  await failed
  expect(reads()).toBe(1)
})
