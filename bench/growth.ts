/**
 * How work grows with what there is: with the number of open rooms, the size of a document, and the length of its log.
 *
 *   node --import tsx bench/growth.ts [--smoke]
 */
import { documentRow, documentsHeader } from './growth/documents.ts'
import { logRow, logsHeader } from './growth/logs.ts'
import { roomsHeader, roomsRow } from './growth/rooms.ts'
import { fsyncMs } from './support/disk.ts'
import { progress, round, table } from './support/report.ts'

const smoke = process.argv.includes('--smoke')
const rooms = smoke ? [10] : [10, 100, 1_000, 10_000]
const megabytes = smoke ? [1] : [1, 2, 5, 10]
const edits = smoke ? 10 : 200
const entries = smoke ? [1, 1_000] : [1, 100, 10_000, 100_000, 1_000_000]

async function curve(
  title: string,
  header: readonly string[],
  sizes: readonly number[],
  rowOf: (size: number) => Promise<readonly string[]>,
): Promise<void> {
  const bar = progress(title)
  const rows: (readonly string[])[] = []
  for (const [index, size] of sizes.entries()) {
    bar.at(index / sizes.length)
    rows.push(await rowOf(size))
  }
  bar.end()
  console.log(`\n${title}`)
  table(header, rows)
}

await curve('rooms opened and closed', roomsHeader, rooms, roomsRow)
await curve('large documents', documentsHeader, megabytes, (size) => documentRow(size, edits))
await curve('long logs', logsHeader, entries, logRow)
console.log(`fsync on this machine: p50 ${round(fsyncMs().p50)} ms`)
process.exit(0)
