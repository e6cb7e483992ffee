import { type Logger, pino } from 'pino'

export type Log = Logger

/** Names of fields that are never written, wherever they appear. */
const secretFields = ['token', 'authToken', 'secret', 'authorization', 'password', 'x-service-auth-token']

/** Structured log on standard output. Messages and fields never carry tokens or query strings. */
export function createLog(level: string): Log {
  return pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: secretFields.flatMap((field) => [`["${field}"]`, `*["${field}"]`]), censor: '[secret]' },
  })
}
