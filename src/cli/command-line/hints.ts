import { errorMessage, OperatorError } from '../../core/base/errors.ts'
import { processOnPort } from '../../core/config/process-with.ts'
import { publicUrlOf } from '../../core/config/public-url.ts'
import { CorruptRecordError, EngineOpenError, StoreUnavailableError } from '../../core/store/engine.ts'
import { configOf } from './command-io.ts'
import { programName } from './program-name.ts'

/** Returns advice for an error whose message contains no advice; null if there is none. */
export function hintFor(error: unknown, argv: readonly string[]): string | null {
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
