import { systemClock } from '../../../src/core/base/clock.ts'
import type { StoredPage } from '../../../src/core/store/engine.ts'
import { peakBytes } from '../../support/servers/process-memory.ts'
import { openFolder, openTestRepository, writePages } from '../../support/stores/backup-repository.ts'

/**
 * Writes one backup to a repository. Prints a line for each page of 1 MB, and the peak memory at the end.
 * Arguments: the folder, the number of pages, and a number that changes every tenth page.
 */
const [folder = '', count = '', variant = ''] = process.argv.slice(2)

function* pages(): Generator<StoredPage> {
  for (let index = 0; index < Number(count); index++) {
    const text = index % 10 === 0 ? `${variant}-${index}-` : `${index}-`
    const key = (part: number) => Buffer.from(`key-${String(index).padStart(6, '0')}-${part}`)
    yield Array.from(
      { length: 16 },
      (_, part) => [key(part), Buffer.alloc(65_536, `${text}${part}`)] as const,
    )
    process.stdout.write(`${index}\n`)
  }
}

const repository = await openTestRepository(openFolder(folder), systemClock)
await writePages(repository, pages(), systemClock.now())
process.stdout.write(`peak ${peakBytes(process.pid)}\n`)
