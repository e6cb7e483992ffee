import type { Engine, Key } from '../../engine/engine.ts'
import type { ExportReader } from '../export/export-reader.ts'
import { importedBytes, type JobLine, sha256Of } from '../export/manifest.ts'

/** What imports leave in a store of their own: which jobs they have enqueued. No export has it. */
export const importPart = ['import']

/** Jobs that are looked at, and enqueued, together. */
const jobsAtOnce = 500

export interface RestoredJobs {
  readonly added: number
  readonly there: number
}

/**
 * Enqueues the jobs of an export, each once: one that has been carried out since is not carried out again, however often
 * the import is repeated. Jobs that were put aside for good stay in the export.
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
    // In one commit with the jobs: an end in between enqueues none without its note.
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
