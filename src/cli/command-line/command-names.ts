import type { Command } from 'commander'

/** Default command of `weft`, alone or with options only. */
const usual = 'serve'
/** Options of the program itself. */
const own: readonly string[] = ['-h', '--help', '-V', '--version']

/** Inserts the default command if none is named, so that a misspelled command is not taken for its argument. */
export function withCommand(argv: readonly string[]): readonly string[] {
  const [node = '', script = '', first, ...rest] = argv
  if (first === undefined) return [node, script, usual]
  return first.startsWith('-') && !own.includes(first) ? [node, script, usual, first, ...rest] : argv
}

/** Returns the names that lead to a command, without the name of the program. */
export function commandNamesOf(command: Command): readonly string[] {
  const { parent } = command
  return parent === null ? [] : [...commandNamesOf(parent), command.name()]
}
