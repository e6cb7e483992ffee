import { Command } from 'commander'
import { type Verification, verify } from '../../capabilities/backups/storage/verify.ts'
import { printResult, showProgress } from '../command-line/command-io.ts'
import { exitCodes } from '../command-line/run-command.ts'

/** Creates the command `weft verify`. Exit code 0: no damage; 1: damage; 2: the store cannot be read. */
export function verifyCommand(): Command {
  return new Command('verify')
    .description('Check the store of a stopped server: all records, and the content of all documents.')
    .argument('<directory>', 'Data directory.')
    .option('--json', 'Print JSON.')
    .action(async (directory: string, { json }: { json?: true }) => {
      const progress = showProgress('verify', json ? 'json' : 'text')
      const found = await verify(directory, progress.at).finally(progress.end)
      const ok = found.damages.length === 0
      printResult(json ? JSON.stringify({ ok, ...found }) : asText(directory, found))
      if (!ok) process.exitCode = exitCodes.fault
    })
}

function asText(directory: string, { damages, records, documents, bytes }: Verification): string {
  const read = `${records} records (${bytes} bytes), ${documents} documents`
  const lines = damages.map(({ kind, what, problem, help }) => `${kind} ${what}: ${problem}\n  ${help}`)
  const result =
    damages.length === 0
      ? `${directory} is sound: ${read}`
      : `${directory} is damaged in ${damages.length} places; read: ${read}`
  return [...lines, result].join('\n')
}
