import { createLog } from '../../../src/core/base/log.ts'

interface LogEntry {
  readonly event?: string
  readonly [field: string]: unknown
}

/** A log whose entries a test reads. */
export function readableLog(level = 'info') {
  const entries: LogEntry[] = []
  const write = (line: string): void => void entries.push(JSON.parse(line) as LogEntry)
  const of = (event: string) => entries.filter((entry) => entry.event === event)
  return { log: createLog(level, { write }), of, text: () => JSON.stringify(entries) }
}
