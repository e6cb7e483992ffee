import type { Command, CommanderError } from 'commander'
import { errorMessage, OperatorError } from '../../core/base/errors.ts'
import { didYouMean, withoutTrailing } from '../../core/base/text.ts'
import { CorruptRecordError, EngineOpenError, StoreUnavailableError } from '../../core/store/engine.ts'
import { commandNamesOf, withCommand } from './command-names.ts'
import { hintFor } from './hints.ts'

/**
 * Exit codes. 0: success; 1 (`fault`): a fault of Weft; 2 (`operator`): a problem that the operator must
 * correct.
 */
export const exitCodes = { fault: 1, operator: 2 } as const

class UsageError extends OperatorError {
  override readonly name = 'UsageError'
}

const operatorErrors = [OperatorError, EngineOpenError, StoreUnavailableError, CorruptRecordError]

/**
 * Runs the command line. Prints an error for the operator as one sentence to standard error, with a hint and
 * without a stack trace. With `--json`, also prints the error as the last line of standard output:
 * `{"error":{"message","hint"}}`.
 */
export async function runCommand(program: Command, argv: readonly string[]): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', passOverUnread)
  refuseAsErrors(program)
  try {
    await program.parseAsync(withCommand(argv))
  } catch (error) {
    if (error === shownHelp) return
    const forOperator = operatorErrors.some((type) => error instanceof type)
    const hint = forOperator ? hintFor(error, argv) : null
    const message = errorMessage(error)
    if (argv.includes('--json'))
      process.stdout.write(`${JSON.stringify({ error: { message, ...(hint !== null && { hint }) } })}\n`)
    if (!forOperator) throw error
    process.stderr.write(`weft: ${message}${hint === null ? '' : `; ${hint}`}\n`)
    process.exitCode = exitCodes.operator
  }
}

/** Thrown after help or the version was printed on request. */
const shownHelp = new Error('help')

/** Makes commander throw errors instead of exiting, for this command and all its subcommands. */
function refuseAsErrors(command: Command): void {
  command.configureOutput({ outputError: () => undefined })
  command.showSuggestionAfterError(false)
  command.exitOverride((error) => {
    if (error.exitCode === 0) throw shownHelp
    throw new UsageError(sentenceOf(error) + suggestion(error, command), { hint: helpOf(command) })
  })
  for (const each of command.commands) refuseAsErrors(each)
}

/** Returns the error of commander as one line. */
function sentenceOf({ code, message }: CommanderError): string {
  if (code === 'commander.help') return 'a command is missing'
  const lines = message.replace(/^error: /, '').split('\n')
  return withoutTrailing('.', lines.map((line) => line.trim()).join(' '))
}

/** Suggests the known option or command that an unknown name probably means. Returns '' if there is none. */
function suggestion({ code, message }: CommanderError, command: Command): string {
  const [, name] = /^error: unknown (?:option|command) '([^'=]*)/.exec(message) ?? []
  if (name === undefined) return ''
  const flags = command.createHelp().visibleOptions(command)
  const known =
    code === 'commander.unknownOption'
      ? flags.flatMap(({ long }) => long ?? [])
      : command.commands.map((each) => each.name())
  return didYouMean(name, known)
}

const helpOf = (command: Command): string => `see ${['weft', ...commandNamesOf(command)].join(' ')} --help`

/**
 * Ignores the error that occurs when the reader of the output has stopped (`| head`). The command does not
 * end: a running import, for example, continues to its end.
 */
function passOverUnread(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
}
