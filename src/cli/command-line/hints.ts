import { processOnPort } from '../../config/process-with.ts'
import { publicUrlOf } from '../../config/public-url.ts'
import { CorruptRecordError, EngineOpenError, StoreUnavailableError } from '../../engine/engine.ts'
import { errorMessage, OperatorError } from '../../errors.ts'
import { configOf } from './command-io.ts'

/** Returns advice against an error whose message has none; null if there is no advice. */
export function hintFor(error: unknown, argv: readonly string[]): string | null {
  if (error instanceof EngineOpenError && error.reason === 'locked')
    return whileServing(errorMessage(error), argv)
  if (
    error instanceof StoreUnavailableError ||
    (error instanceof EngineOpenError && error.reason === 'failed')
  )
    return 'run weft doctor to find the cause'
  if (error instanceof CorruptRecordError) return 'weft verify lists all damage; restore a backup'
  if (!(error instanceof OperatorError)) return null
  // An error can name only the step that failed; its cause may have a hint.
  return error.hint ?? anotherFormat(errorMessage(error), argv) ?? hintFor(error.cause, argv)
}

/** Returns the alternatives while a running server has the store open; the message already contains "stop it". */
function whileServing(message: string, [, , command]: readonly string[]): string | null {
  if (command === 'doc') return `or ask the server that has it open: --url ${urlOfHolder(message)}`
  if (command === 'backup')
    return 'or name the URL of the server instead of the directory, and its admin token: --token-file'
  return null
}

/**
 * Returns the configured URL if the process named in the message listens on the configured port; otherwise the
 * placeholder `URL`.
 */
function urlOfHolder(message: string): string {
  const { config } = configOf({})
  const [, id] = /\bprocess (\d+)\b/.exec(message) ?? []
  const isConfigured = id !== undefined && String(processOnPort(config.port)?.id) === id
  return isConfigured ? publicUrlOf(config) : 'URL'
}

/**
 * Advice for a read in a wrong format: the error message names the type of the content, also from a running server.
 */
function anotherFormat(message: string, [, , command, doing]: readonly string[]): string | null {
  const [, type] = / is of type "(\w+)", not /.exec(message) ?? []
  if (type === undefined || command !== 'doc' || doing === 'put') return null
  return `use --format ${type === 'text' || type === 'xml' ? type : 'json'}`
}
