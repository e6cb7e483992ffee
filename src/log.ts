import { type DestinationStream, type Logger, pino } from 'pino'
import { escapeControls } from './text.ts'
import { traceFields } from './tracing/current-trace.ts'

export type Log = Logger

/** Names of fields whose values are never written to the log. */
const secretFields = ['token', 'authToken', 'secret', 'authorization', 'password', 'x-service-auth-token']

/**
 * Creates the structured log on standard output. Messages and fields must never contain tokens or query
 * strings.
 * @param output `json`: one line of JSON for each message; `text`: readable lines; a stream gets lines of JSON
 */
export function createLog(level: string, output: 'json' | 'text' | DestinationStream = 'json'): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      mixin: traceFields,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: secretFields.flatMap((field) => [`["${field}"]`, `*["${field}"]`]),
        censor: '[secret]',
      },
    },
    output === 'json' ? pino.destination(1) : output === 'text' ? textOutput() : output,
  )
}

function textOutput(): DestinationStream {
  const output = pino.destination(1)
  return { write: (line) => void output.write(formatLogLine(line)) }
}

interface LogLine {
  readonly time: string
  readonly level: string
  readonly msg?: string
  readonly err?: { readonly stack?: string }
}

/** Matches values that are printed without quotes. */
const word = /^[\w./:@%+-]+$/

/**
 * Formats a log entry as text for people: time of day, level, message and the other fields. A stack trace
 * follows in separate lines. Characters that control a terminal are printed as their codes.
 * @param json one line of JSON, as pino writes it
 */
function formatLogLine(json: string): string {
  const { time, level, msg = '', err, ...fields } = JSON.parse(json) as LogLine
  const members = Object.entries(fields).map(([name, value]) => `${name}=${shown(value)}`)
  const head = [time.slice(11, 23), level.padEnd(5), msg, ...members].filter((part) => part !== '').join('  ')
  const stack = err?.stack ?? (err === undefined ? undefined : shown(err))
  const lines = [head, ...(stack?.split('\n').map((line) => `    ${line.trim()}`) ?? [])]
  return `${lines.map(escapeControls).join('\n')}\n`
}

const shown = (value: unknown): string =>
  typeof value === 'string' && word.test(value) ? value : JSON.stringify(value)
