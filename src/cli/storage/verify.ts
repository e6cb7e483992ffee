import { Command } from 'commander'
import { type Verification, verify } from '../../storage/verify.ts'
import { printResult } from '../command-line/command-io.ts'
import { showProgress } from '../command-line/progress.ts'
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
      printResult(
        json ? JSON.stringify({ ok: found.damages.length === 0, ...found }) : asText(directory, found),
      )
      if (found.damages.length > 0) process.exitCode = exitCodes.fault
    })
}

function asText(directory: string, { damages, records, documents, bytes }: Verification): string {
  const read = `${records} records (${bytes} bytes), ${documents} documents`
  if (damages.length === 0) return `${directory} is sound: ${read}`
  const lines = damages.map(({ kind, what, problem, help }) => `${kind} ${what}: ${problem}\n  ${help}`)
  return `${lines.join('\n')}\n${directory} is damaged in ${damages.length} places; read: ${read}`
}
