import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { pruneRepository } from '../../../src/capabilities/backups/prune.ts'
import { verifyRepository } from '../../../src/capabilities/backups/verify-repository.ts'
import { seed } from '../../support/data/seed.ts'
import {
  newFolder,
  openFolder,
  openTestRepository,
  removeFolders,
} from '../../support/stores/backup-repository.ts'
import { listed } from '../../support/stores/object-store-suite.ts'
import { times } from '../../support/time/full-run.ts'

afterEach(removeFolders)

const quiet = () => undefined
const pageCount = 40

interface ChildRun {
  readonly signal: NodeJS.Signals | null
  readonly peakBytes: number
}

/**
 * Runs a process that writes a backup.
 * @param killAfter number of pages after which it is killed; null: it ends by itself
 */
async function runBackup(
  folder: string,
  pages: number,
  variant: number,
  killAfter: number | null,
): Promise<ChildRun> {
  const script = join(import.meta.dirname, 'backup-child.ts')
  const args = ['--import', 'tsx', script, folder, String(pages), String(variant)]
  const child = spawn(process.execPath, args)
  let [said, errors] = ['', '']
  child.stderr.on('data', (chunk) => {
    errors += chunk
  })
  child.stdout.on('data', (chunk) => {
    said += chunk
    if (killAfter !== null && said.split('\n').length > killAfter) child.kill('SIGKILL')
  })
  const [, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  expect(errors).toBe('')
  return { signal, peakBytes: Number(/peak (\d+)/.exec(said)?.[1] ?? 0) }
}

it(`[BKP-8] after SIGKILL at any moment, the earlier backups are sound, the next one works at once, and a prune removes the remains (seed ${seed})`, async () => {
  const folder = await newFolder()
  const store = openFolder(folder)
  expect((await runBackup(folder, pageCount, 0, null)).signal).toBe(null)
  for (let round = 1; round <= times(2, 6); round++) {
    const killAfter = 1 + ((seed * round * 7) % (pageCount - 1))
    expect((await runBackup(folder, pageCount, round, killAfter)).signal).toBe('SIGKILL')
    const repository = await openTestRepository(store)
    expect({ round, killAfter, ...(await verifyRepository(repository, quiet)) }).toMatchObject({
      backups: 1,
      damages: [],
    })
  }
  const repository = await openTestRepository(store)
  await pruneRepository(repository, { keep: null, dropDamaged: false })
  expect([(await verifyRepository(repository, quiet)).unusedChunks, await listed(store, 'locks/')]).toEqual([
    0,
    [],
  ])
  expect((await runBackup(folder, pageCount, 99, null)).signal).toBe(null)
  expect(await verifyRepository(repository, quiet)).toMatchObject({
    backups: 2,
    damages: [],
    unusedChunks: 0,
  })
})

it('[BKP-11] needs no more memory for four times as much data', async () => {
  const peaks = []
  for (const pages of [40, 160]) {
    const { peakBytes } = await runBackup(await newFolder(), pages, 0, null)
    peaks.push(peakBytes)
  }
  const [small = 0, large = 0] = peaks
  console.log(`peak memory of a backup of 40 MB: ${small} bytes; of 160 MB: ${large} bytes`)
  expect(small).toBeGreaterThan(0)
  expect(large - small).toBeLessThan(50 * 2 ** 20)
})
