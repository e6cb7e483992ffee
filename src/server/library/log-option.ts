import { createLog, type Log } from '../../core/base/log.ts'
import type { Config } from '../../core/config/config.ts'

/** Methods of a logger, such as those of pino. */
export type LogMethod = (fields: Readonly<Record<string, unknown>>, message: string) => unknown

/** A logger of the application. It gets fields and a message, as pino does. */
export interface WeftLog {
  readonly debug: LogMethod
  readonly info: LogMethod
  readonly warn: LogMethod
  readonly error: LogMethod
}

interface LogEntry {
  readonly level: string
  readonly time: string
  readonly msg?: string
}

const methods: Readonly<Record<string, keyof WeftLog>> = {
  trace: 'debug',
  debug: 'debug',
  info: 'info',
  warn: 'warn',
}

/**
 * Creates the log of a server. The log of the application gets the entries in the process, false is off, and
 * undefined writes to standard output.
 */
export function logOf(given: WeftLog | false | undefined, { logLevel }: Config): Log {
  if (given === false) return createLog('silent')
  if (given === undefined) return createLog(logLevel, 'json')
  return createLog(logLevel, {
    write: (line) => {
      const { level, time: _, msg = '', ...fields } = JSON.parse(line) as LogEntry
      given[methods[level] ?? 'error'](fields, msg)
    },
  })
}
