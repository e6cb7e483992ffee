import type { Command } from 'commander'
import { ListenError } from '../api/http-edge.ts'
import { ConfigError } from '../config/read.ts'
import { BootstrapError } from '../directory/bootstrap.ts'
import { CredentialsFileError } from '../directory/credentials-file.ts'
import { CorruptRecord, EngineOpenError, StoreUnavailable } from '../engine/engine.ts'
import { StorageError } from '../storage/problem.ts'
import { MirrorRefused } from '../transfer/live/weft.ts'

/** Exit codes: 0 done, 1 a fault of ours, 2 something for the operator to put right. */
export const exitCodes = { fault: 1, operator: 2 } as const

const operatorErrors = [
  ConfigError,
  EngineOpenError,
  ListenError,
  BootstrapError,
  CredentialsFileError,
  StorageError,
  StoreUnavailable,
  CorruptRecord,
  MirrorRefused,
]

/** Runs the command line. An error for the operator is one sentence, without a stack. */
export async function runCommand(program: Command, argv: readonly string[]): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', passOverUnread)
  try {
    await program.parseAsync(argv)
  } catch (error) {
    const forOperator = operatorErrors.find((type) => error instanceof type)
    if (forOperator === undefined) throw error
    process.stderr.write(`weft: ${(error as Error).message}\n`)
    process.exitCode = exitCodes.operator
  }
}

/** Who does not read on (`| head`) ends no command: an import that is under way comes to its end. */
function passOverUnread(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
}
