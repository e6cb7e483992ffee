import { Command } from 'commander'
import { type Compacted, compactAll } from '../../capabilities/backups/storage/compact.ts'
import { printResult, showProgress } from '../command-line/command-io.ts'
import { exitCodes } from '../command-line/run-command.ts'

/** Creates the command `weft compact`. It does not change damaged documents, and its exit code is then 1. */
export function compactCommand(): Command {
  return new Command('compact')
    .description(
      'Compact the store of a stopped server to its minimum size; removes older versions of documents.',
    )
    .argument('<directory>', 'Data directory.')
    .option('--json', 'Print JSON.')
    .action(async (directory: string, { json }: { json?: true }) => {
      const progress = showProgress('compact', json ? 'json' : 'text')
      const done = await compactAll(directory, progress.at).finally(progress.end)
      printResult(json ? JSON.stringify({ ok: done.damaged.length === 0, ...done }) : asText(done))
      if (done.damaged.length > 0) process.exitCode = exitCodes.fault
    })
}

function asText({ documents, damaged, bytesBefore, bytesAfter }: Compacted): string {
  const left = damaged.map((sentence) => `left as it is: ${sentence}`)
  return [...left, `${documents} documents compacted: ${bytesBefore} bytes before, ${bytesAfter} after`].join(
    '\n',
  )
}
