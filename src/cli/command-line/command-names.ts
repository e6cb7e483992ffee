import { basename } from 'node:path'
import type { Command } from 'commander'

/** The program as its users call it: `npx weft-server` is the one command that npm runs without an installation. */
export const programName = basename(process.argv[1] ?? '').startsWith('weft-server')
  ? 'npx weft-server'
  : 'weft'

/** Default command of `weft`, for a command line that is empty or has only options. */
const usual = 'serve'
/** Options of the program `weft` itself. */
const own: readonly string[] = ['-h', '--help', '-V', '--version']

/**
 * Inserts the default command if the command line is empty or starts with an option. Any other first word is
 * a command, so that a misspelled command is not treated as an argument of the default command.
 */
export function withCommand(argv: readonly string[]): readonly string[] {
  const [node = '', script = '', first, ...rest] = argv
  if (first === undefined) return [node, script, usual]
  return first.startsWith('-') && !own.includes(first) ? [node, script, usual, first, ...rest] : argv
}

/** Returns the names of a command and of its parent commands, without the name of the program. */
export function commandNamesOf(command: Command): readonly string[] {
  const { parent } = command
  return parent === null ? [] : [...commandNamesOf(parent), command.name()]
}
