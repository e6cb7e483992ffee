import { publicUrlOf } from '../config/public-url.ts'
import { CorruptRecord, EngineOpenError, StoreUnavailable } from '../engine/engine.ts'
import { messageOf, OperatorError } from '../errors.ts'
import { configOf } from './options.ts'

/** What helps against an error, where its message does not say it; null where that is all there is to say. */
export function hintFor(error: unknown, argv: readonly string[]): string | null {
  if (error instanceof EngineOpenError && error.reason === 'locked') return whileServing(argv)
  if (error instanceof StoreUnavailable || (error instanceof EngineOpenError && error.reason === 'failed'))
    return 'weft doctor says what is missing'
  if (error instanceof CorruptRecord) return 'weft verify names all that is damaged: restore a backup'
  if (!(error instanceof OperatorError)) return null
  // An error may only say what was under way when another one came.
  return error.hint ?? anotherFormat(messageOf(error), argv) ?? hintFor(error.cause, argv)
}

/** What can be done beside a server that has the store open: that it may be stopped the message says. */
function whileServing([, , command]: readonly string[]): string | null {
  if (command === 'doc') return `or ask the server: --url ${publicUrlOf(configOf({}).config)}`
  if (command === 'backup')
    return 'or name the URL of the server instead of the directory, and its admin token: --token-file'
  return null
}

/** Content that is read as what it is not: the sentence names its type, at a server that serves the same. */
function anotherFormat(message: string, [, , command, doing]: readonly string[]): string | null {
  const [, type] = / is of type "(\w+)", not /.exec(message) ?? []
  if (type === undefined || command !== 'doc' || doing === 'put') return null
  return `say --format ${type === 'text' || type === 'xml' ? type : 'json'}`
}
