import type { Command, CommanderError } from 'commander'
import { errorMessage, OperatorError } from '../../core/base/errors.ts'
import { didYouMean, withoutTrailing } from '../../core/base/text.ts'
import { processOnPort } from '../../core/config/process-with.ts'
import { publicUrlOf } from '../../core/config/public-url.ts'
import { CorruptRecordError, EngineOpenError, StoreUnavailableError } from '../../core/store/engine.ts'
import { commandNamesOf, configOf, optionsShown, programName, withCommand } from './command-io.ts'

/** Returns advice for an error whose message contains no advice; null if there is none. */
function hintFor(error: unknown, argv: readonly string[]): string | null {
  if (error instanceof EngineOpenError && error.reason === 'locked')
    return whileServing(errorMessage(error), argv)
  if (
    error instanceof StoreUnavailableError ||
    (error instanceof EngineOpenError && error.reason === 'failed')
  )
    return `run ${programName} doctor to find the cause`
  if (error instanceof CorruptRecordError) return 'weft verify lists all damage; restore a backup'
  if (!(error instanceof OperatorError)) return null
  // If the error has no hint, uses the hint of its cause. The message of the error may only state which step
  // failed.
  return error.hint ?? anotherFormat(errorMessage(error), argv) ?? hintFor(error.cause, argv)
}

/** Returns alternatives if a running server uses the store. The error message already contains "stop it". */
function whileServing(message: string, [, , command]: readonly string[]): string | null {
  if (command === 'doc') return `or ask the server that has it open: --url ${urlOfHolder(message)}`
  if (command === 'backup')
    return 'or name the URL of the server instead of the directory, and its admin token: --token-file'
  return null
}

/**
 * Returns the configured URL if the process in the error message listens on the configured port; otherwise
 * the placeholder `URL`.
 */
function urlOfHolder(message: string): string {
  const { config } = configOf({})
  const [, id] = /\bprocess (\d+)\b/.exec(message) ?? []
  const isConfigured = id !== undefined && String(processOnPort(config.port)?.id) === id
  return isConfigured ? publicUrlOf(config) : 'URL'
}

/**
 * Returns advice after a read in a wrong format. The error message contains the type of the content, even if
 * a running server has sent the message.
 */
function anotherFormat(message: string, [, , command, doing]: readonly string[]): string | null {
  const [, type] = / is of type "(\w+)", not /.exec(message) ?? []
  if (type === undefined || command !== 'doc' || doing === 'put') return null
  return `use --format ${type === 'text' || type === 'xml' ? type : 'json'}`
}

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
    if (error.exitCode === 0 || error.code === optionsShown) throw shownHelp
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
  const known =
    code === 'commander.unknownOption'
      ? ['--help', ...command.options.flatMap(({ long }) => long ?? [])]
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
