import { type DestinationStream, type Logger, pino } from 'pino'
import { traceFields } from './current-trace.ts'
import { escapeControls } from './text.ts'

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
    typeof output === 'object'
      ? output
      : new StandardOutput(output === 'text' ? formatLogLine : (line) => line),
  )
}

/** Returns the number of lines that standard output has not accepted, since the start. */
export function droppedLines(log: Log): number {
  const output = (log as Log & { readonly [pino.symbols.streamSym]: DestinationStream })[
    pino.symbols.streamSym
  ]
  return output instanceof StandardOutput ? output.dropped : 0
}

/** Limit of the lines that wait while standard output fails, in bytes. It also limits a single line. */
const waitingBytesMax = 256 * 1024

/**
 * Standard output that never ends the process. Lines wait while it fails, because of a full disk or a reader that has
 * ended, and each line tries again. Lines beyond the limit are dropped and counted.
 */
class StandardOutput implements DestinationStream {
  dropped = 0
  readonly #output = pino.destination({ dest: 1, maxLength: waitingBytesMax })
  readonly #format: (line: string) => string

  constructor(format: (line: string) => string) {
    this.#format = format
    // Without this, pino throws most errors, and drops all further lines after EPIPE.
    this.#output.removeAllListeners('error')
    this.#output.on('error', () => undefined)
    this.#output.on('drop', () => {
      this.dropped += 1
    })
  }

  write(line: string): void {
    this.#output.write(this.#format(line))
  }
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
