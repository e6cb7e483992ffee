import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { newFolder, openFolder, removeFolders } from '../../support/stores/backup-repository.ts'
import { describeObjectStore, listed } from '../../support/stores/object-store-suite.ts'

afterEach(removeFolders)

describeObjectStore(async () => openFolder(join(await newFolder(), 'not', 'yet')), {
  pageLength: 32,
  isAtomic: true,
})

it('[BKP-1] writes files and folders that only their owner can read', async () => {
  const folder = join(await newFolder(), 'new')
  await openFolder(folder).put('a/b/c', Buffer.from('x'))
  const modes = ['', 'a', 'a/b', 'a/b/c'].map((name) => statSync(join(folder, name)).mode & 0o777)
  expect(modes).toEqual([0o700, 0o700, 0o700, 0o600])
})

it('[BKP-1] follows no link, and lists no link', async () => {
  const [folder, outside] = [await newFolder(), await newFolder()]
  writeFileSync(join(outside, 'secret'), 'outside')
  symlinkSync(join(outside, 'secret'), join(folder, 'link'))
  symlinkSync(outside, join(folder, 'folder'))
  const store = openFolder(folder)
  await expect(store.get('link')).rejects.toThrow('cannot be used')
  expect(await listed(store, '')).toEqual([])
})

it('[BKP-1] ignores files of interrupted writes, and removes them after an hour', async () => {
  const folder = await newFolder()
  const partial = join(folder, '.partial')
  mkdirSync(partial)
  for (const name of ['old', 'new']) writeFileSync(join(partial, name), 'half')
  const before = (Date.now() - 3_700_000) / 1000
  utimesSync(join(partial, 'old'), before, before)
  const store = openFolder(folder)
  await store.put('a', Buffer.from('whole'))
  expect(await listed(store, '')).toEqual([{ name: 'a', size: 5 }])
  expect([await store.removeIncomplete(), readdirSync(partial)]).toEqual([1, ['new']])
})

it('[BKP-1] names the folder when it cannot be used', async () => {
  const file = join(await newFolder(), 'file')
  writeFileSync(file, '')
  await expect(openFolder(file).put('a', Buffer.from('x'))).rejects.toThrow(`${file} cannot be used: `)
})

it('[BKP-144] reads and writes at most two files at a time, and does not wait for a pipe', async () => {
  const folder = await newFolder()
  const store = openFolder(folder)
  const puts = Promise.all(
    Array.from({ length: 12 }, (_, index) => store.put(`a/${index}`, Buffer.alloc(3_000_000))),
  )
  const progress = { goesOn: true }
  puts.finally(() => (progress.goesOn = false)).catch(() => undefined)
  let most = 0
  while (progress.goesOn) {
    if (existsSync(join(folder, '.partial')))
      most = Math.max(most, readdirSync(join(folder, '.partial')).length)
    await nextTurn()
  }
  await puts
  expect([most > 0, most <= 2]).toEqual([true, true])
  execFileSync('mkfifo', [join(folder, 'pipe')])
  expect(await store.get('pipe')).toBeNull()
})
