import { runCommand } from './command-line/run-command.ts'
import { createProgram } from './program.ts'

/** Runs the command line with the arguments of this process. */
export const runCommandLine = (): Promise<void> => runCommand(createProgram(), process.argv)
