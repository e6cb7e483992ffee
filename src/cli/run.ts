import { createProgram } from './program.ts'
import { runCommand } from './run-command.ts'

/** Runs the command line of this process. */
export const runCommandLine = (): Promise<void> => runCommand(createProgram(), process.argv)
