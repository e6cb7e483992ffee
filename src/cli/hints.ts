import { CorruptRecord, EngineOpenError, StoreUnavailable } from '../engine/engine.ts'
import { OperatorError } from '../errors.ts'

/** What helps against an error, where its message does not say it; null where that is all there is to say. */
export function hintFor(error: unknown, argv: readonly string[]): string | null {
  if (error instanceof OperatorError) return error.hint
  if (error instanceof EngineOpenError && error.reason === 'locked') return whileServing(argv)
  if (error instanceof StoreUnavailable || (error instanceof EngineOpenError && error.reason === 'failed'))
    return 'weft doctor says what is missing'
  if (error instanceof CorruptRecord) return 'weft verify names all that is damaged: restore a backup'
  return null
}

/** What can be done beside a server that has the store open: that it may be stopped the message says. */
function whileServing(argv: readonly string[]): string | null {
  if (argv.includes('doc')) return 'or ask the server: --url http://localhost:8787'
  if (argv.includes('backup')) return 'or name the URL of the server instead of the directory'
  return null
}
