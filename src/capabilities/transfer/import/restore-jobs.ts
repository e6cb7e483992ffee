import type { Engine, Key } from '../../../core/store/engine.ts'
import type { ExportReader } from '../export/export-reader.ts'
import { importPart } from '../export/export-selection.ts'
import { importedBytes, type JobLine, sha256Of } from '../export/manifest.ts'

/** Maximum number of jobs in one read and in one commit. */
const jobsAtOnce = 500

interface RestoredJobs {
  readonly added: number
  readonly there: number
}

/**
 * Enqueues the jobs of an export, each job only once. If the import is repeated, a job is not enqueued again,
 * even if it has already run. Dead letters are ignored.
 */
export async function restoreJobs(
  { kv }: Engine,
  files: ExportReader,
  run: 'real' | 'dry',
): Promise<RestoredJobs> {
  let [added, there] = [0, 0]
  for await (const lines of pagesOf(files)) {
    const keys = lines.map(keyOf)
    const found = await kv.get(importPart, keys)
    const absent = lines.filter((_, index) => found[index] === null)
    added += absent.length
    there += lines.length - absent.length
    if (run === 'dry' || absent.length === 0) continue
    // These entries record the jobs. They are part of the same commit as the jobs, so that an interruption
    // cannot separate a job from its entry.
    const puts = absent.map((line) => ({ key: keyOf(line), value: new Uint8Array() }))
    const jobs = absent.map((line) => ({
      queue: line.queue,
      id: line.id,
      at: line.at,
      payload: importedBytes(line),
    }))
    await kv.commit(importPart, { puts, jobs })
  }
  return { added, there }
}

const keyOf = (line: JobLine): Key => ['job', sha256Of(JSON.stringify(line))]

async function* pagesOf(files: ExportReader): AsyncGenerator<readonly JobLine[]> {
  let page: JobLine[] = []
  for await (const line of files.lines('jobs')) {
    if (line.is === 'buried') continue
    page.push(line)
    if (page.length < jobsAtOnce) continue
    yield page
    page = []
  }
  if (page.length > 0) yield page
}
