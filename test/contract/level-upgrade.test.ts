import { spawnSync } from 'node:child_process'
import { cp, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { encodeKey } from '../../src/engine/keys.ts'
import { openLevelEngine } from '../../src/engine/level/engine.ts'
import { loadRoom } from '../../src/rooms/loading.ts'
import { upgradeStopped } from '../../src/storage/stopped.ts'
import { verify } from '../../src/storage/verify.ts'
import { runCli } from '../support/cli.ts'
import { itLong } from '../support/long.ts'
import {
  flipped,
  overwrite,
  storedKeys,
  storedPair,
  type TemporaryDirectory,
  temporaryDirectory,
} from './level-store.ts'
import { claimable, docKey, loadLive, textOf } from './samples.ts'

/** Made by the last version of format 1: the documents of format-2, and 300 that have a snapshot alone. */
const kept = join(import.meta.dirname, 'fixtures', 'format-1')
const many = 300
const ignore = () => undefined
let directory: TemporaryDirectory

beforeEach(async () => {
  directory = await temporaryDirectory()
  await cp(join(kept, 'store'), directory.store, { recursive: true })
})

afterEach(() => directory.remove())

const weft = (...args: string[]) => runCli(args, directory.path)

const keyText = (name: string): string => encodeKey(docKey(name)).toString()

async function expectAll(path: string): Promise<void> {
  expect(await verify(path, ignore)).toMatchObject({ damages: [], documents: 2 + many })
  const engine = await openLevelEngine({ directory: path })
  const { log, kv, blobs } = engine
  for (const name of ['tail', 'compacted', 'many 0', `many ${many - 1}`]) {
    const { state, loaded } = await loadRoom(log, docKey(name))
    expect(['by 1by 2', 'by 2by 1', 'by 1']).toContain(state.doc.getText('content').toString())
    expect(loaded).toMatchObject({ base: name === 'tail' ? 0 : 1, head: name.startsWith('many') ? 1 : 2 })
  }
  const { changed, basedAt } = await loadLive(log, docKey('many 7'))
  expect(changed).toEqual({ by: 'user 1', at: basedAt })
  expect(basedAt).toBeGreaterThan(Date.UTC(2026, 0))
  expect(await log.load(docKey('deleted'))).toEqual({ state: 'deleted', epoch: 1 })
  expect(textOf((await kv.get(['part'], [['key']]))[0] ?? null)).toBe('value')
  expect(textOf(await blobs.get(['blob']))).toBe('bytes')
  expect(await claimable(engine)).toEqual(['id'])
  await engine.close()
}

it('[STORE-13] a store of format 1 is upgraded when it is opened, with all that is in it', async () => {
  await (await openLevelEngine({ directory: directory.path })).close()
  await expectAll(directory.path)
})

itLong(
  '[STORE-13] an upgrade that is killed after any of its commits goes on at the next opening',
  async () => {
    const child = join(import.meta.dirname, 'upgrade-child.ts')
    const kills: (string | null)[] = []
    for (let commits = 0; kills.at(-1) !== null; commits++) {
      await directory.remove()
      await cp(join(kept, 'store'), directory.store, { recursive: true })
      const { signal } = spawnSync(process.execPath, [
        '--import',
        'tsx',
        child,
        directory.path,
        String(commits),
      ])
      kills.push(signal)
      if (signal !== null) await expect(verify(directory.path, ignore)).rejects.toThrow(/format 1/)
      await upgradeStopped(directory.path, ignore)
      await expectAll(directory.path)
    }
    // The mark of an upgrade under way, a hundred documents a commit, and the mark of its end.
    expect(kills).toEqual([...Array.from({ length: 2 + Math.ceil((many + 3) / 100) }, () => 'SIGKILL'), null])
  },
  120_000,
)

itLong(
  '[STORE-13] weft upgrade says how far it is and what it did; before, others refuse and say what helps',
  async () => {
    expect(await weft('verify', directory.path)).toMatchObject({
      code: 2,
      err: expect.stringMatching(/format 1, this one knows 2\): back it up, then run weft upgrade/),
    })
    expect(await weft('upgrade', directory.path)).toMatchObject({
      code: 0,
      err: expect.stringMatching(/upgrade: format 1 to 2 0 %\n.*upgrade: format 1 to 2 100 %/s),
      out: expect.stringContaining('has format 2 now'),
    })
    expect((await weft('upgrade', directory.path, '--json')).out).toBe('{"ok":true,"from":2,"to":2}\n')
    expect(await readdir(directory.path)).toEqual(['store'])
  },
  60_000,
)

itLong(
  '[STORE-13] a backup of a store of format 1 leaves it as it is, and is upgraded once restored',
  async () => {
    const [backup, restored] = [join(directory.path, 'backup'), join(directory.path, 'restored')]
    expect((await weft('backup', directory.path, backup)).code).toBe(0)
    expect(await weft('verify', directory.path)).toMatchObject({ code: 2 })
    expect((await weft('restore', backup, restored)).code).toBe(0)
    expect((await weft('upgrade', restored)).code).toBe(0)
    await expectAll(restored)
  },
  60_000,
)

itLong(
  '[STORE-13] what is damaged in a store of format 1 stays damaged, and nothing else waits for it',
  async () => {
    for (const place of [`h${keyText('many 5')}`, `s${keyText('many 6')}`]) {
      const [key, value] = await storedPair(directory.store, place)
      await overwrite(directory.store, key, flipped(value, value.length - 1))
    }
    expect((await weft('upgrade', directory.path)).code).toBe(0)
    const { damages, documents } = await verify(directory.path, ignore)
    expect(damages.map(({ kind, what }) => [kind, what])).toEqual([
      ['document', expect.stringContaining('"many 5"')],
      ['document', expect.stringContaining('"many 6"')],
    ])
    expect(documents).toBe(many)
    const engine = await openLevelEngine({ directory: directory.path })
    await engine.log.destroy(docKey('many 5'))
    await engine.close()
    expect(await storedKeys(directory.store, 'many 5\0')).toHaveLength(1)
  },
  60_000,
)
